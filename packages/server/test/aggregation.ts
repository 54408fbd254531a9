/**
 * The expected result of an aggregation, computed naively over records in memory. It shares no code with the service,
 * so that the two can differ.
 */
export type Key = string | number | boolean | null

interface Rules<Record> {
  /** A record without a key has the key null. */
  keysOf(record: Record): Key[]
  /** Records without a key are in no bucket. */
  hidesMissing: boolean
  isTime: boolean
}

interface Asked<Record> {
  metric: string
  /** The record's numbers, as they are written. */
  numbersOf(record: Record): string[]
  /** Whom `unique_…` counts; null counts nobody. */
  whoOf?(record: Record, metric: string): string | null
  limit: number
}

export function expectedResult<Record>(records: Record[], rules: Rules<Record>, asked: Asked<Record>) {
  const groups = new Map<Key, Record[]>()
  for (const record of records) {
    for (const key of new Set(rules.keysOf(record))) groups.set(key, [...(groups.get(key) ?? []), record])
  }
  const all = [...groups]
    .filter(([key]) => key !== null || !rules.hidesMissing)
    .map(([key, members]) => ({ key, value: figure(members, asked) }))
  const sorted = all.sort(rules.isTime ? newestFirst : highestFirst).slice(0, asked.limit)
  return {
    buckets: rules.isTime ? sorted.reverse() : sorted,
    total: records.length,
    distinct_groups: [...groups.keys()].filter((key) => key !== null).length,
  }
}

interface Bucket {
  key: Key
  value: number | null
}

function figure<Record>(members: Record[], { metric, numbersOf, whoOf }: Asked<Record>): number | null {
  if (metric === 'count') return members.length
  if (metric.startsWith('unique_')) {
    return new Set(members.map((member) => whoOf?.(member, metric) ?? null).filter((who) => who !== null)).size
  }
  const texts = members.flatMap(numbersOf)
  const numbers = texts.map(Number)
  if (numbers.length === 0) return null
  switch (metric) {
    case 'min':
      return Math.min(...numbers)
    case 'max':
      return Math.max(...numbers)
    case 'median':
      return percentile(numbers, 50)
    case 'p90':
      return percentile(numbers, 90)
    case 'sum':
      return asNumber(exactSum(texts))
    default:
      return asNumber(exactSum(texts) / BigInt(numbers.length))
  }
}

/** PERCENTILE.INC of a spreadsheet. */
function percentile(numbers: number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  // In whole hundredths, which are exact.
  const place = (sorted.length - 1) * percent
  const over = place % 100
  const [below = 0, above = 0] = [sorted[Math.floor(place / 100)], sorted[Math.ceil(place / 100)]]
  // What is after the 15th digit are errors of doubles.
  return Number(((below * (100 - over) + above * over) / 100).toPrecision(15))
}

const DIGITS = 400

/** Adds decimals as whole numbers of 10^-400. */
function exactSum(texts: string[]): bigint {
  return texts.reduce((before, text) => {
    const [mantissa = '', exponent = '0'] = text.trim().toLowerCase().split('e')
    const [whole = '', fraction = ''] = mantissa.split('.')
    return before + BigInt(`${whole}${fraction}`) * 10n ** BigInt(DIGITS + Number(exponent) - fraction.length)
  }, 0n)
}

function asNumber(decimal: bigint): number {
  return Number(`${decimal}e-${DIGITS}`)
}

/** In the order of time: of two hours with the same name, the one with the larger offset comes first. */
function newestFirst(a: Bucket, b: Bucket): number {
  const [hourA, hourB] = [String(a.key), String(b.key)].map((key) => (key.includes('T') ? Date.parse(key) : key))
  return (hourA ?? 0) < (hourB ?? 0) ? 1 : -1
}

function highestFirst(a: Bucket, b: Bucket): number {
  if (a.value !== b.value) {
    if (a.value === null) return 1
    if (b.value === null) return -1
    return b.value - a.value
  }
  if (a.key === null) return 1
  if (b.key === null) return -1
  return Buffer.compare(Buffer.from(jsonOf(a.key)), Buffer.from(jsonOf(b.key)))
}

/** The key of an object is its JSON. */
function jsonOf(key: Key): string {
  return typeof key === 'string' && key.startsWith('{') ? key : JSON.stringify(key)
}

/** A JSON value as a number, if it is one or a text of one. */
export function numberIn(value: unknown): number | null {
  const text = numberTextIn(value)
  return text === null ? null : Number(text)
}

export function numberTextIn(value: unknown): string | null {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(value)) return null
  return value.trim().replace(/^\+/, '')
}

/** The items of a list, or a value that is none; of a missing value and of null, nothing. */
export function itemsOf(value: unknown): unknown[] {
  return [value].flat().filter((item) => item !== null && item !== undefined)
}

/** The wall-clock time of a moment, with its offset: `2026-10-25T02:30+01:00`. */
export function localTime(moment: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    ...{
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      timeZoneName: 'longOffset',
    },
  })
  const parts = Object.fromEntries(format.formatToParts(moment).map(({ type, value }) => [type, value]))
  const offset = (parts.timeZoneName ?? '').slice('GMT'.length) || '+00:00'
  return `${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}${offset}`
}

export function localHour(moment: number, timeZone: string): string {
  const time = localTime(moment, timeZone)
  return `${time.slice(0, 13)}:00${time.slice(16)}`
}

export function localDay(moment: number, timeZone: string): string {
  return localTime(moment, timeZone).slice(0, 10)
}

/** The ISO week of a day `YYYY-MM-DD`. */
export function isoWeek(day: string): string {
  const thursday = new Date(`${day}T00:00Z`)
  thursday.setUTCDate(thursday.getUTCDate() + 3 - ((thursday.getUTCDay() + 6) % 7))
  const yearStart = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = Math.floor((thursday.getTime() - yearStart) / 86_400_000 / 7) + 1
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}
