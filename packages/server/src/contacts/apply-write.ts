import { isDeepStrictEqual } from 'node:util'
import type { ContactRow } from './contact-row.ts'
import { FIRST_TOUCH_KEYS } from './first-touch-keys.ts'
import { mergeProperties, type Properties, type PropertyChanges, requireFewKeys } from './properties.ts'
import { type SourceKind, type SourceRecord, SYNCED_KINDS } from './record-source.ts'
import { requireRoomInContact } from './size.ts'
import type { SourceFields } from './unified-profile.ts'

/** What one source says of a contact. */
export interface SourceWrite {
  source: string
  kind: SourceKind
  /** The id by which the source itself knows the contact. */
  externalId?: string
  /** The source's record as it came. */
  raw?: unknown
  email?: string
  properties: PropertyChanges
  /** undefined: stays as it is. */
  companyId?: string | null
  /** When this became true in the source, not later than now. undefined: just now, so that it is the latest write. */
  at?: Date
}

/** What a write makes of a contact. */
export interface AppliedWrite {
  row: ContactRow
  /** What the source says now; null when it has said something newer before, so that this write says nothing. */
  record: SourceRecord | null
  /** Keys whose value is another than before, removed ones included. */
  changed: string[]
  /** Whether the contact itself is another than before. */
  isNews: boolean
  /** Whether the contact's row differs from the stored one, be it in its provenance only. */
  isRowDirty: boolean
  /** Whether the source says something else than before. */
  isNewsOfSource: boolean
}

type Provenance = Record<string, { source: string; updated_at: string }>
type Winner = { value: Properties[string]; source: string; updated_at: string }

/** Whether a write would give the contact the e-mail that it says, if nobody else has it. */
export function wantsEmail(before: ContactRow, write: SourceWrite): write is SourceWrite & { email: string } {
  const isOther = write.email !== undefined && write.email !== before.email
  // Only a person (or a program in a person's name) may change the key by which everybody finds the contact.
  return isOther && (write.kind === 'manual' || before.email === null)
}

/**
 * Works out what a write makes of a contact, without touching the database. The latest write wins; an enrichment source
 * fills blanks, and gives way to every other source; first-touch values once written are changed by hand only. A null
 * withdraws what the source said, and the newest value of another source takes its place; by hand it removes the key.
 * @param records what the sources say so far.
 * @param email the contact's e-mail after this write.
 * @throws ServiceError 400 when there would be too many properties, 413 `contact_too_large`.
 */
export function applyWrite(
  before: ContactRow,
  records: readonly SourceRecord[],
  write: SourceWrite,
  email: string | null,
  now: Date,
): AppliedWrite {
  const own = records.find(({ source }) => source === write.source)
  if (own && write.at && own.updated_at > write.at) {
    return { row: before, record: null, changed: [], isNews: false, isRowDirty: false, isNewsOfSource: false }
  }
  const entry = { source: write.source, updated_at: (write.at ?? now).toISOString() }
  const winners = winnersOf(before, records, write, entry)
  const values = Object.entries(winners).map(([key, winner]) => [key, winner === null ? null : winner.value] as const)
  const { properties, changed } = mergeProperties(before.properties as Properties, Object.fromEntries(values))
  if (email !== before.email) changed.push('email')

  const provenance: Provenance = { ...(before.properties_provenance as Provenance) }
  const isChanged = new Set(changed)
  let isProvenanceNew = false
  for (const [key, winner] of Object.entries(winners)) {
    if (winner === null) {
      delete provenance[key]
      continue
    }
    // A value that another source has said before stays that source's, unless that one gives way to all.
    const isTakenOver = write.kind !== 'enrichment' && isEnrichment(provenance[key]?.source, records)
    if (!isChanged.has(key) && winner.source === write.source && !isTakenOver) continue
    provenance[key] = { source: winner.source, updated_at: winner.updated_at }
    isProvenanceNew = true
  }
  if (email !== before.email) provenance.email = entry

  const companyId = write.companyId === undefined ? before.company_id : write.companyId
  const isNews = changed.length > 0 || companyId !== before.company_id
  const row: ContactRow = {
    ...before,
    email,
    properties,
    properties_provenance: provenance,
    company_id: companyId,
    ...(isNews ? { updated_at: now } : {}),
    ...(write.kind === 'enrichment' ? { enriched_at: now } : {}),
  }
  const said = recordAfter(own, write, entry.updated_at, now)
  const recordsAfter = [...records.filter((record) => record !== own), said.record]
  const held = { properties: before.properties as Properties, records }
  requireRoomInContact(held, { properties, records: recordsAfter }, write.kind)
  return {
    row,
    ...said,
    changed,
    isNews,
    isRowDirty: isNews || isProvenanceNew || write.kind === 'enrichment',
  }
}

/** The contact that a write begins with. */
export function blankContact(contactId: string, externalId: string | null, source: string, now: Date): ContactRow {
  return {
    contact_id: contactId,
    email: null,
    external_id: externalId,
    properties: {},
    properties_provenance: {},
    company_id: null,
    creation_source: source,
    first_seen_at: now,
    created_at: now,
    updated_at: now,
    enriched_at: null,
  }
}

/** For every key on which the write decides something: whose value the contact has from now on, null for none. */
function winnersOf(
  before: ContactRow,
  records: readonly SourceRecord[],
  write: SourceWrite,
  entry: { source: string; updated_at: string },
): Record<string, Winner | null> {
  const properties = before.properties as Properties
  const provenance = before.properties_provenance as Provenance
  const others = records.filter(({ source }) => source !== write.source)
  const winners: [string, Winner | null][] = []
  for (const [key, value] of Object.entries(write.properties)) {
    const isKnown = Object.hasOwn(properties, key)
    const holder = Object.hasOwn(provenance, key) ? provenance[key] : undefined
    const isByHand = write.kind === 'manual'
    if (isKnown && !isByHand && FIRST_TOUCH_KEYS.includes(key)) continue
    if (value !== null) {
      const isBlank = !isKnown || properties[key] === ''
      if (write.kind === 'enrichment' && !isBlank && holder?.source !== write.source) continue
      if (write.at && isOutdated(key, holder, others, write.at)) continue
      winners.push([key, { value, ...entry }])
    } else if (isByHand) {
      winners.push([key, null])
    } else if (isKnown && holder?.source === write.source) {
      winners.push([key, newestOf(key, others)])
    }
  }
  return Object.fromEntries(winners)
}

/** Whether another source has said something of a key since. Enrichment gives way, however new it is. */
function isOutdated(
  key: string,
  holder: Provenance[string] | undefined,
  others: readonly SourceRecord[],
  at: Date,
): boolean {
  const isSince = (moment: string) => new Date(moment) > at
  if (holder && !isEnrichment(holder.source, others) && isSince(holder.updated_at)) return true
  return others.some(({ kind, fields }) => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    return field !== undefined && kind !== 'enrichment' && isSince(field.updated_at)
  })
}

function isEnrichment(source: string | undefined, records: readonly SourceRecord[]): boolean {
  return records.some((record) => record.source === source && record.kind === 'enrichment')
}

/** The newest value that other sources have for a key; enrichment only where there is nothing else. */
function newestOf(key: string, others: readonly SourceRecord[]): Winner | null {
  const said = others.flatMap(({ source, kind, fields }) => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    if (!field || field.value === null) return []
    const { value, updated_at } = field
    return [{ winner: { value, updated_at, source }, givesWay: Number(kind === 'enrichment') }]
  })
  said.sort((a, b) => a.givesWay - b.givesWay || (a.winner.updated_at < b.winner.updated_at ? 1 : -1))
  return said[0]?.winner ?? null
}

function recordAfter(own: SourceRecord | undefined, write: SourceWrite, at: string, now: Date) {
  const sent = write.email === undefined ? write.properties : { ...write.properties, email: write.email }
  const fields = new Map(Object.entries(own?.fields ?? {}))
  let isNews = own === undefined
  for (const [key, value] of Object.entries(sent)) {
    const before = fields.get(key)
    if (!isDeepStrictEqual(before?.value ?? null, value)) isNews = true
    // A removal by hand is remembered: a source that says something older must not bring it back.
    if (value === null && write.kind !== 'manual') fields.delete(key)
    else fields.set(key, { value, updated_at: at })
  }
  const after: SourceFields = Object.fromEntries(fields)
  // The e-mail does not count, here as in the contact.
  const said = Object.entries(after).flatMap(([key, { value }]) =>
    key === 'email' || value === null ? [] : [[key, value] as const],
  )
  requireFewKeys(Object.fromEntries(said), 'contact')
  const externalId = write.externalId ?? own?.external_id ?? null
  const { raw, raw_bytes } = write.raw === undefined ? (own ?? NO_RAW) : asStored(write.raw)
  const record: SourceRecord = {
    source: write.source,
    kind: write.kind,
    external_id: externalId,
    fields: after,
    raw,
    raw_bytes,
    first_seen_at: own?.first_seen_at ?? now,
    updated_at: write.at ?? now,
    synced_at: SYNCED_KINDS.includes(write.kind) ? now : (own?.synced_at ?? null),
    enriched_at: write.kind === 'enrichment' ? now : (own?.enriched_at ?? null),
  }
  const isNewsOfSource =
    isNews || externalId !== (own?.external_id ?? null) || !isDeepStrictEqual(raw, own?.raw ?? null)
  return { record, isNewsOfSource }
}

const NO_RAW = { raw: null, raw_bytes: 0 }

/** A raw record as it will be read again: JSON has no -0 and no Infinity. */
function asStored(raw: unknown): { raw: unknown; raw_bytes: number } {
  if (raw === null) return NO_RAW
  const text = JSON.stringify(raw)
  return { raw: JSON.parse(text), raw_bytes: Buffer.byteLength(text) }
}
