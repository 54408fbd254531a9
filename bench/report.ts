import { cpus } from 'node:os'
import type { Load } from './load.ts'

const quick = process.argv.includes('--quick')

/** How much is loaded, and how long each row is measured. */
export const SIZE = quick
  ? { contacts: 20_000, events: 500_000, seconds: 2 }
  : { contacts: 1_000_000, events: 10_000_000, seconds: 8 }
/** What growth is measured against; a quick run has no time for it. */
export const SMALL_SIZE = quick ? null : { contacts: 10_000, events: 100_000, seconds: 3 }

/** A verified domain belongs to one tenant, and each size has its own. */
export const siteOf = (contacts: number) => `bench-${contacts}.example`
export const SITE = siteOf(SIZE.contacts)
export const PORT = '18099'
export const URL_OF_SERVICE = `http://127.0.0.1:${PORT}`

/** A row of the table. */
export interface Row {
  what: string
  measured: string
  limit: string
  ratio: number | null
  aim: string
}

export const rows: Row[] = []

/** Prints the table. */
export function print(): void {
  console.log(
    `\n${number(SIZE.contacts)} contacts, ${number(SIZE.events)} events, ${cpus().length} cores, Node ${process.version}\n`,
  )
  console.log('| what | measured | limit in the same run | ratio | aim |\n|---|---|---|---|---|')
  for (const { what, measured, limit, ratio, aim } of rows) {
    console.log(`| ${what} | ${measured} | ${limit} | ${ratio === null ? '' : ratio.toFixed(2)} | ${aim} |`)
  }
}

/** A rate with its latencies. */
export function perSecond({ requestsPerSecond, p50Ms, p99Ms }: Load): string {
  return `${rate(requestsPerSecond)}/s, p50 ${p50Ms} ms, p99 ${p99Ms} ms`
}

export function number(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

/** A rate that may be a few a second. */
export function rate(value: number): string {
  return value < 100 ? value.toFixed(1) : number(value)
}

/** Says what is being measured. */
export function progress(message: string): void {
  console.error(`· ${message}`)
}
