import { cpus } from 'node:os'
import { SIZE, SMALL_SIZE } from './options.ts'
import type { Load } from './repeat.ts'

/** A row of the table. */
export interface Row {
  what: string
  measured: string
  limit: string
  ratio: number | null
  aim: string
  /** The cost of one request or row, in any unit: growth compares it with the small tenant's. */
  cost?: number
}

let rows: Row[] = []
/** Each row's cost on the small tenant. */
const costsOfSmall = new Map<string, number>()

export function report(row: Row): void {
  rows.push(row)
  // Printed at once, so that an interrupted run shows its results.
  progress(`${row.what}: ${row.measured}; ${row.limit} = ${row.ratio?.toFixed(2) ?? ''}`)
}

/** Adds a row that compares two rates. */
export function reportRate(
  what: string,
  measured: Load,
  limit: Load & { of: string },
  aim: string,
  { unit = '', each = 1, note = '' } = {},
): void {
  const per = unit === '' ? '/s' : ` ${unit}/s`
  report({
    what,
    measured: `${rate(measured.perSecond * each)}${per}, ${latency(measured)}${note}`,
    limit: `${rate(limit.perSecond)}/s ${limit.of}`,
    ratio: (measured.perSecond * each) / limit.perSecond,
    aim,
    cost: 1 / measured.perSecond,
  })
}

/** Moves the results of the small tenant out of the table, to compare the large one with them. */
export function keepAsSmall(): void {
  for (const { what, cost } of rows) if (cost !== undefined) costsOfSmall.set(what, cost)
  rows = rows.filter(({ cost }) => cost === undefined)
}

/** Prints the table. */
export function print(): void {
  const { contacts, events } = SIZE
  console.log(
    `\n${number(contacts)} contacts, ${number(events)} events, ${cpus().length} cores, Node ${process.version}`,
  )
  if (SMALL_SIZE) {
    const { contacts, events } = SMALL_SIZE
    console.log(
      `Growth: how many times longer it takes than with ${number(contacts)} contacts and ${number(events)} events`,
    )
  }
  console.log('\n| what | measured | limit in the same run | ratio | aim | growth |\n|---|---|---|---|---|---|')
  for (const { what, measured, limit, ratio, aim, cost } of rows) {
    const small = costsOfSmall.get(what)
    const growth = small === undefined || cost === undefined ? '' : (cost / small).toFixed(2)
    console.log(`| ${what} | ${measured} | ${limit} | ${ratio?.toFixed(2) ?? ''} | ${aim} | ${growth} |`)
  }
}

export function latency({ p50Ms, p95Ms, p99Ms }: Load): string {
  return `p50 ${milliseconds(p50Ms)}, p95 ${milliseconds(p95Ms)}, p99 ${milliseconds(p99Ms)}`
}

export function milliseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : number(value)} ms`
}

export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A rate, with decimals if it is low. */
export function rate(value: number): string {
  return value < 100 ? value.toFixed(1) : number(value)
}

/** Prints what is being measured. */
export function progress(message: string): void {
  console.error(`· ${message}`)
}
