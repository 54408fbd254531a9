import { DAY_MS } from '../src/platform/time.ts'

/**
 * The expected result of an aggregation, computed naively over records in memory. It shares no code with the service,
 * so that the two can differ.
 */
export type Key = string | boolean | null

interface Rules<Record> {
  keyOf(record: Record): Key
  /** Records without a key are in no bucket. */
  hidesMissing: boolean
  isTime: boolean
}

interface Asked<Record> {
  metric: string
  numberOf(record: Record): number | null
  limit: number
}

export function expectedResult<Record>(records: Record[], rules: Rules<Record>, asked: Asked<Record>) {
  const groups = new Map<Key, Record[]>()
  for (const record of records) {
    const key = rules.keyOf(record)
    groups.set(key, [...(groups.get(key) ?? []), record])
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

function figure<Record>(members: Record[], { metric, numberOf }: Asked<Record>): number | null {
  if (metric === 'count') return members.length
  const numbers = members.map(numberOf).filter((number) => number !== null)
  if (numbers.length === 0) return null
  if (metric === 'min') return Math.min(...numbers)
  if (metric === 'max') return Math.max(...numbers)
  const sum = numbers.reduce((before, number) => before + number, 0)
  return metric === 'sum' ? sum : sum / numbers.length
}

function newestFirst(a: Bucket, b: Bucket): number {
  return String(a.key) < String(b.key) ? 1 : -1
}

function highestFirst(a: Bucket, b: Bucket): number {
  if (a.value !== b.value) {
    if (a.value === null) return 1
    if (b.value === null) return -1
    return b.value - a.value
  }
  if (a.key === null) return 1
  if (b.key === null) return -1
  return Buffer.compare(Buffer.from(String(a.key)), Buffer.from(String(b.key)))
}

/** A JSON value as a number, if it is one or a text of one. */
export function numberIn(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string' || !/^\s*[+-]?(\d+\.?\d*|\.\d+)\s*$/.test(value)) return null
  return Number(value)
}

export function isoWeek(moment: number): string {
  const thursday = new Date(Math.floor(moment / DAY_MS) * DAY_MS)
  thursday.setUTCDate(thursday.getUTCDate() + 3 - ((thursday.getUTCDay() + 6) % 7))
  const yearStart = Date.UTC(thursday.getUTCFullYear(), 0, 1)
  const week = Math.floor((thursday.getTime() - yearStart) / DAY_MS / 7) + 1
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`
}

/** Ignores rounding differences of the last digits: the two add up in different orders. */
export function rounded<Result extends { buckets: Bucket[] }>(result: Result): Result {
  const buckets = result.buckets.map(({ key, value }) => ({
    key,
    value: value === null ? null : Number(value.toPrecision(12)),
  }))
  return { ...result, buckets }
}
