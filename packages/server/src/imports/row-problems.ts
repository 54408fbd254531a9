import { TEXT_LENGTH_MAX } from '../contacts/properties.ts'
import { LIFECYCLE_STAGES } from '../contacts/property-catalogue.ts'
import { firstCharacters } from '../platform/characters.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { dateOf } from './dates.ts'
import type { CellFormat, ValueType } from './values.ts'

const CELL_LENGTH_SHOWN = 60

/** What is wrong in a row, in a sentence that names the cell and says what to do. */
export interface CellProblem {
  sentence: string
  /** Whether the cell identifies the contact, and whether it is the address. */
  isOfKey?: boolean
  isOfEmail?: boolean
}

type Kind = ValueType | 'unstorable' | 'email' | 'blank' | 'nobody' | 'long_id' | 'long' | 'stage' | 'domain'

/** The column of a cell, as errors name it. */
interface Named {
  name: string
  target?: string
  format?: CellFormat | null
}

/** What is wrong with a cell. */
export function cellProblem({ name, target, format = null }: Named, cell: string, kind: Kind): CellProblem {
  return {
    sentence: SENTENCES[kind](quoted(cell), name, { cell, format }),
    isOfKey: target === 'email' || target === 'external_id',
    isOfEmail: target === 'email',
  }
}

/** What is wrong with the value of a property, which may come from a part of a cell. */
export function propertyProblem(
  columns: readonly (Named & { property?: string })[],
  property: string,
  value: unknown,
  kind: Kind,
): CellProblem {
  const column = columns.find((each) => each.property === property)
  return cellProblem({ name: column?.name ?? property }, Array.isArray(value) ? value.join('; ') : String(value), kind)
}

/** What is wrong with a row as a whole, which the code that writes contacts says to whoever sends requests. */
export function rowSentence(message: string): string {
  return message.replace(
    /^properties: would give the contact more than (\d+) keys.*$/s,
    'The contact would have more than $1 properties. Import fewer columns.',
  )
}

function quoted(cell: string): string {
  const short = firstCharacters(cell.replace(/\s+/g, ' ').toWellFormed().replaceAll('\0', ''), CELL_LENGTH_SHOWN)
  return `“${short}${short.length < cell.length ? '…' : ''}”`
}

const AS_TEXT = 'Correct it, or store the column as text.'

const SENTENCES: Record<Kind, (cell: string, name: string, of: { cell: string; format: CellFormat | null }) => string> =
  {
    date: (cell, name, of) => `${cell} in ${name} is not a date${otherOrder(of)}. ${AS_TEXT}`,
    number: (cell, name, { format }) =>
      `${cell} in ${name} is not a number such as ${format === 'decimal_comma' ? '1.250,50' : '1,250.50'}. ${AS_TEXT}`,
    boolean: (cell, name) => `${cell} in ${name} is neither yes nor no. ${AS_TEXT}`,
    text: unusable,
    list: unusable,
    phone: unusable,
    unstorable: (_, name) =>
      `${name} has a NUL character, or bytes that are not text in the encoding of the file. Correct the cell, or choose another encoding.`,
    email: (cell, name) => `${cell} in ${name} is not an email address. Write it like ada@example.com.`,
    blank: (_, name) => `${name} is blank, so the contact cannot be found. Enter it.`,
    nobody: (cell, name) => `${name} is blank, and the ID ${cell} names nobody. Enter an address.`,
    long_id: (_, name) => `The ID in ${name} is longer than ${ID_LENGTH_MAX} characters. Shorten it.`,
    long: (_, name) => `The text in ${name} is longer than ${TEXT_LENGTH_MAX} characters. Shorten it.`,
    stage: (cell, name) => `${cell} in ${name} is not a lifecycle stage. Use one of ${LIFECYCLE_STAGES.join(', ')}.`,
    domain: (cell, name) => `${cell} in ${name} is not a domain. Write it like example.com.`,
  }

function unusable(cell: string, name: string): string {
  return `${cell} in ${name} cannot be stored. Correct it.`
}

/** Why a date with the other order is none: the format of the column may be wrong, rather than the cell. */
function otherOrder({ cell, format }: { cell: string; format: CellFormat | null }): string {
  const other = format === 'month_first' ? 'day_first' : 'month_first'
  if (dateOf(cell, other) === null) return ''
  return other === 'day_first' ? ' with the month first' : ' with the day first'
}
