import { type RawBuilder, sql } from 'kysely'

/** The size limit for the notes of one response, as JSON. */
export const NOTES_BYTES_MAX = 8 * 1024 * 1024
/** The most bytes of a UTF-16 code unit in JSON: an escaped control character has six. */
const JSON_BYTES_PER_CODE_UNIT = 6

export const NEWEST_FIRST = sql`created_at DESC, note_id DESC`
export const SIZED_COLUMNS = ['note_id', 'contact_id', 'created_at', 'updated_at'] as const

/**
 * A column `bytes_so_far`: the running total of content sizes, which PostgreSQL computes without reading the contents.
 */
export function bytesSoFar(order: RawBuilder<unknown>) {
  return sql<number>`sum(octet_length(content)) OVER (ORDER BY ${order})`.as('bytes_so_far')
}

/** A column `content` next to `bytes_so_far`: null beyond the limit, so that contents that do not fit are not read. */
export function contentWithin(bytesMax: number) {
  return sql<string | null>`CASE WHEN bytes_so_far <= ${Math.trunc(bytesMax)} THEN content END`.as('content')
}

/** A note from a query with these columns. */
export interface SizedNote {
  note_id: string
  contact_id: string
  created_at: string | Date
  updated_at: string | Date
  content: string | null
}

type WholeNote = SizedNote & { content: string }

/**
 * The first notes of each contact, within the size limit of a response. Every contact gets an equal share of it; unused
 * shares go to the first contacts that need more.
 * @param read the contents that are missing in the rows, by note id.
 */
export function notesThatFit(
  columns: readonly (readonly SizedNote[])[],
  read: ReadonlyMap<string, string>,
): WholeNote[][] {
  const whole = columns.map((column) => readPrefix(column, read))
  const codeUnits = whole.flat().reduce((sum, { content }) => sum + content.length, 0)
  if (codeUnits * JSON_BYTES_PER_CODE_UNIT <= NOTES_BYTES_MAX) return whole
  const kept = whole.map(() => 0)
  let bytesLeft = NOTES_BYTES_MAX
  const keepWithin = (share: number) =>
    whole.forEach((notes, index) => {
      let left = Math.min(share, bytesLeft)
      for (const { content } of notes.slice(kept[index])) {
        const bytes = Buffer.byteLength(JSON.stringify(content))
        left -= bytes
        if (left < 0) return
        bytesLeft -= bytes
        kept[index] = (kept[index] ?? 0) + 1
      }
    })
  keepWithin(NOTES_BYTES_MAX / columns.length)
  keepWithin(NOTES_BYTES_MAX)
  return whole.map((notes, index) => notes.slice(0, kept[index]))
}

/** The notes up to the first one without content. */
function readPrefix(column: readonly SizedNote[], read: ReadonlyMap<string, string>): WholeNote[] {
  const notes: WholeNote[] = []
  for (const note of column) {
    const content = note.content ?? read.get(note.note_id)
    if (content === undefined) break
    notes.push({ ...note, content })
  }
  return notes
}
