/** Which number comes first where a date has only numbers. Dates that begin with the year, or name the month, are clear. */
export type DateOrder = 'day_first' | 'month_first'

const MONTHS: readonly (readonly string[])[] = [
  ['jan', 'ene', 'gen', 'sty'],
  ['feb', 'fev', 'lut'],
  ['mar', 'mär', 'mrz', 'maa'],
  ['apr', 'avr', 'abr', 'kwi'],
  ['may', 'mai', 'mag', 'mei', 'maj'],
  ['jun', 'juin', 'giu', 'cze'],
  ['jul', 'juil', 'lug', 'lip'],
  ['aug', 'aou', 'ago', 'sie'],
  ['sep', 'set', 'wrz'],
  ['oct', 'okt', 'ott', 'out', 'paz'],
  ['nov', 'lis'],
  ['dec', 'dez', 'dic', 'gru'],
]
const TIME =
  /[T,\s]+(\d{1,2})(?::|\.(?=\d\d\s*$)|h)(\d{2})(?::(\d{2})(?:[.,]\d{1,9})?)?\s*([ap]\.?m\.?|uhr)?\s*(z|utc|gmt|[+-]\d{2}:?\d{2})?$/i
const WEEKDAY = /^\p{L}{2,}\.?,?\s+(?=\d|\p{L}+\.?\s+\d)/u
const YEAR_FIRST = /^(\d{4})\s?[-/.年]\s?(\d{1,2})\s?[-/.月]\s?(\d{1,2})日?$/
const NUMBERS = /^(\d{1,2})\s?([-/.\s])\s?(\d{1,2})\s?\2\s?(\d{4}|\d{2})\.?$/
const NAMED = /^(\d{1,2})(?:\.|st|nd|rd|th|er|º)?[\s-]+(?:de |of )?(\p{L}{3,})\.?,?[\s-]+(?:de |del )?(\d{4}|\d{2})$/iu
const NAMED_FIRST = /^(\p{L}{3,})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})$/iu
/** Longer cells are no dates, and are not searched for one. */
const LENGTH_MAX = 60
/** What a two-digit year means, as in Excel: 30 is 1930. */
const FIRST_OF_1900S = 30

interface Parts {
  year: number
  /** Month and day; of a date in which the order is open, the first and the second number. */
  month: number
  day: number
  isOpen: boolean
}

/** The numbers of a date, if a text is written like one; the day may not exist. */
function partsOf(text: string): Parts | null {
  const yearFirst = YEAR_FIRST.exec(text)
  if (yearFirst) return parts(yearFirst[1], yearFirst[2], yearFirst[3])
  const numbers = NUMBERS.exec(text)
  if (numbers) return { ...parts(numbers[4], numbers[1], numbers[3]), isOpen: true }
  const named = NAMED.exec(text)
  if (named) return withMonth(named[2], named[1], named[3])
  const namedFirst = NAMED_FIRST.exec(text)
  return namedFirst ? withMonth(namedFirst[1], namedFirst[2], namedFirst[3]) : null
}

function withMonth(name = '', day = '', year = ''): Parts | null {
  const plain = name.toLowerCase().normalize('NFC')
  const plainer = plain.normalize('NFKD').replace(/\p{M}/gu, '')
  const month = MONTHS.findIndex((starts) =>
    starts.some((start) => plain.startsWith(start) || plainer.startsWith(start)),
  )
  // "juin" begins like "jui" of both summer months; "mars" and "mai" are in the list.
  return month < 0 ? null : parts(year, String(month + 1), day)
}

function parts(year = '', month = '', day = ''): Parts {
  const short = year.length === 2 ? (Number(year) < FIRST_OF_1900S ? 2000 : 1900) : 0
  return { year: short + Number(year), month: Number(month), day: Number(day), isOpen: false }
}

/** A text without its time and weekday, and its time as in ISO 8601; null without one, or at midnight. */
function withoutTime(cell: string): { date: string; time: string | null } | null {
  if (cell.length > LENGTH_MAX) return null
  const text = cell.trim()
  const match = TIME.exec(text)
  const date = (match ? text.slice(0, match.index) : text).replace(/^\p{L}{2,}\.?,\s*/u, '')
  if (!match) return { date: date.replace(WEEKDAY, (word) => (isMonth(word) ? word : '')), time: null }
  const [, hour = '', minute = '', second = '00', half = '', zone = ''] = match
  const isPm = /^p/i.test(half)
  const isAm = /^a/i.test(half)
  const hours = (isPm || isAm ? Number(hour) % 12 : Number(hour)) + (isPm ? 12 : 0)
  if (hours > 23 || Number(minute) > 59 || Number(second) > 59) return null
  const offset = /^[+-]/.test(zone) ? zone : 'Z'
  const time = `${String(hours).padStart(2, '0')}:${minute}:${second}`
  return { date, time: time === '00:00:00' && zone === '' ? null : `T${time}${offset}` }
}

const isMonth = (word: string) => withMonth(word.trim(), '1', '2000') !== null

/** Whether a cell is written like a date, even of a day that does not exist. */
export function looksLikeDate(cell: string): boolean {
  const split = withoutTime(cell)
  return split !== null && partsOf(split.date) !== null
}

/** A date as in ISO 8601, with its time if it has one: without an offset, it is in UTC. null if it is no date. */
export function dateOf(cell: string, order: DateOrder): string | null {
  const split = withoutTime(cell)
  const found = split && partsOf(split.date)
  if (!split || !found) return null
  const { year, isOpen } = found
  const [month, day] = isOpen && order === 'day_first' ? [found.day, found.month] : [found.month, found.day]
  const at = new Date(Date.UTC(year, month - 1, day))
  if (year < 1000 || at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day) return null
  return `${at.toISOString().slice(0, 10)}${split.time ?? ''}`
}

/** The order that a cell shows: by a number above 12, or by dots, which no country writes after the month. */
export function orderShownBy(cell: string): DateOrder | null {
  const split = withoutTime(cell)
  const found = split && partsOf(split.date)
  if (!split || !found?.isOpen) return null
  if (found.month > 12) return 'day_first'
  if (found.day > 12) return 'month_first'
  return split.date.includes('.') ? 'day_first' : null
}

/** Whether the order of a cell's numbers is open. */
export function isOpenDate(cell: string): boolean {
  const split = withoutTime(cell)
  const found = split && partsOf(split.date)
  return found?.isOpen === true && orderShownBy(cell) === null
}

/** Whether a cell has a time as Americans write it, who put the month first. */
export function hasHalfDay(cell: string): boolean {
  return /\d\s*[ap]\.?m\.?\s*$/i.test(cell)
}
