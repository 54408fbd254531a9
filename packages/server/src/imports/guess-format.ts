import { isConsent } from '../contacts/consent.ts'
import { CONTACT_PROPERTIES, type KnownProperty } from '../contacts/property-catalogue.ts'
import { isAddressColumn } from './column-names.ts'
import { type DateOrder, dateOf, hasHalfDay, isOpenDate, looksLikeDate, orderShownBy } from './dates.ts'
import { listFormatOf } from './lists.ts'
import { type Decimal, decimalShownBy, numberOf } from './numbers.ts'
import { isPhoneColumn, looksLikePhone } from './phones.ts'
import { type CellFormat, saysYesOrNo, type ValueType } from './values.ts'

/** How the cells of a column are probably meant. */
export interface Guess {
  type: ValueType
  format?: CellFormat
  /** The values fit another format too. */
  isAmbiguous?: true
}

/** What the columns of a file show together: a program writes all of them in one way. */
export interface FileHabits {
  dates: DateOrder
  decimal: Decimal
}

interface Values {
  samples: readonly string[]
}

/** What the file as a whole shows. @param delimiter files with semicolons come from where the comma is the decimal separator. */
export function habitsOf(columns: readonly Values[], delimiter: string): FileHabits {
  const dates = columns.filter(({ samples }) => samples.length > 0 && samples.every(looksLikeDate))
  const orders = new Set(dates.flatMap(({ samples }) => samples.flatMap((sample) => orderShownBy(sample) ?? [])))
  const decimals = new Set(columns.flatMap(({ samples }) => decimalOfColumn(samples) ?? []))
  const decimal = only(decimals) ?? (delimiter === ';' ? ',' : '.')
  const isAmerican = dates.some(({ samples }) => samples.some(hasHalfDay)) || delimiter !== ';'
  return { dates: only(orders) ?? (isAmerican ? 'month_first' : 'day_first'), decimal }
}

function only<T>(all: ReadonlySet<T>): T | undefined {
  return all.size === 1 ? [...all][0] : undefined
}

/** The separator that some number of a column shows, if none shows the other. */
function decimalOfColumn(samples: readonly string[]): Decimal | null {
  const shown = new Set(samples.map(decimalShownBy))
  const [point, comma] = [shown.has('.'), shown.has(',')]
  if (point === comma || !samples.every((sample) => typeof numberOf(sample, point ? '.' : ',') === 'number'))
    return null
  return point ? '.' : ','
}

/** Ids and postal codes may consist of digits, but are not quantities. */
const CODES =
  /phone|mobile|fax|zip|postal|postcode|plz|code$|#$|(^|[\s_-])(ids?|nos?\.?|numbers?)$|(^|[\s_]|\p{L})(nr\.?|nummer)$/iu

/** Properties of whole numbers: a separator in them is one of thousands. */
const WHOLE: ReadonlySet<string> = new Set(['numberofemployees', 'annualrevenue'])
const separatorsIn = (sample: string) => sample.match(/[.,]/g) ?? []

/** The type and format that fit all values of a column. */
export function guessOf({ header, samples }: Values & { header: string }, property: string, habits: FileHabits): Guess {
  const { type }: Partial<KnownProperty> = (CONTACT_PROPERTIES as Record<string, KnownProperty>)[property] ?? {}
  if (property === 'lifecyclestage' || type === 'text' || isAddressColumn(header)) return { type: 'text' }
  if (isPhoneColumn(property) && samples.some(looksLikePhone)) return { type: 'phone' }
  if (samples.length === 0) return { type: 'text' }
  if (samples.every(saysYesOrNo)) return { type: 'boolean' }
  // Other words of consent may follow: no row may fail that says not to write to a person.
  if (isConsent(property)) return { type: 'text' }
  const format = listFormatOf(header, samples)
  return dateGuess(samples, habits) ?? (format && { type: 'list', format }) ?? numberGuess(property, samples, habits)
}

function dateGuess(samples: readonly string[], habits: FileHabits): Guess | null {
  if (!samples.every(looksLikeDate)) return null
  const orders = new Set(samples.flatMap((sample) => orderShownBy(sample) ?? []))
  if (orders.size > 1) return null
  const format = only(orders) ?? habits.dates
  if (!samples.some((sample) => dateOf(sample, format) !== null)) return null
  const isAmbiguous = orders.size === 0 && samples.some(isOpenDate)
  // The year comes first, or the month has a name.
  if (orders.size === 0 && !isAmbiguous) return { type: 'date' }
  return { type: 'date', format, ...(isAmbiguous ? { isAmbiguous } : {}) }
}

function numberGuess(property: string, samples: readonly string[], habits: FileHabits): Guess {
  const shown = new Set(samples.map(decimalShownBy))
  const decimal = decimalOfColumn(samples) ?? habits.decimal
  const areNumbers = samples.every((sample) => typeof numberOf(sample, decimal) === 'number')
  if (CODES.test(property) || !areNumbers || (shown.has('.') && shown.has(','))) return { type: 'text' }
  const isAmbiguous = shown.has('either') && !shown.has('.') && !shown.has(',')
  const thousands = isAmbiguous && WHOLE.has(property) ? only(new Set(samples.flatMap(separatorsIn))) : undefined
  if (thousands !== undefined) {
    return { type: 'number', format: thousands === ',' ? 'decimal_point' : 'decimal_comma' }
  }
  const format = decimal === ',' ? 'decimal_comma' : 'decimal_point'
  return { type: 'number', format, ...(isAmbiguous ? { isAmbiguous } : {}) }
}

/** Whether a value decides between the formats of a column that is ambiguous so far. */
export function isDecisive(cell: string, type: ValueType): boolean {
  if (type === 'date') return orderShownBy(cell) !== null
  const shown = decimalShownBy(cell)
  return shown === '.' || shown === ','
}
