import type { Request } from './connection.ts'
import { load } from './load.ts'
import { type Load, repeat } from './repeat.ts'
import { latency, milliseconds, progress, report, reportRate } from './report.ts'

/** The row is the middle one, because the speed of the disk changes within seconds. */
const ROUNDS = 3
/** In each round, first the bare side's and then the service's. */
export const TURNS = 2 * ROUNDS

/** A write of the service, and the same rows written to PostgreSQL alone. */
export interface Write {
  headers: Record<string, string>
  request: () => Request
  bare: () => Promise<unknown>
  /** What the bare side is; default: bare transactions. */
  of?: string
  /** The records of a write; default: writes are counted. */
  records?: number
}

interface InTurns {
  what: string
  write: Write
  seconds: number
  /** How often each turn writes at most; default: as often as the time allows. */
  timesMax?: number
}

interface Round {
  bare: Load
  measured: Load
}

/** A row with the rates of both sides, over as many connections each. */
export async function compareRates(row: InTurns & { connections: number; aim: string }): Promise<void> {
  const { what, aim, write, connections } = row
  const { records = 1, of = 'bare transactions' } = write
  const ratioOf = ({ bare, measured }: Round) => measured.perSecond / bare.perSecond
  const { bare, measured, note } = await middleRound(row, connections, ratioOf)
  const limit = { ...bare, perSecond: bare.perSecond * records, of }
  reportRate(what, measured, limit, aim, { note, each: records, unit: write.records ? 'records' : '' })
}

/** A row with the p50 of both sides, one write at a time. */
export async function compareSingle(row: InTurns): Promise<void> {
  const { what, write } = row
  const ratioOf = ({ bare, measured }: Round) => measured.p50Ms / bare.p50Ms
  const middle = await middleRound(row, 1, ratioOf)
  report({
    what,
    measured: latency(middle.measured) + middle.note,
    limit: `p50 ${milliseconds(middle.bare.p50Ms)} ${write.of ?? 'bare transactions'}`,
    ratio: ratioOf(middle),
    aim: '',
    cost: middle.measured.p50Ms,
  })
}

async function middleRound(
  { what, write, seconds, timesMax }: InTurns,
  connections: number,
  ratioOf: (round: Round) => number,
): Promise<Round & { note: string }> {
  const { headers, request: next, bare: work } = write
  const rounds: Round[] = []
  while (rounds.length < ROUNDS) {
    progress(`${what}, round ${rounds.length + 1}`)
    const bare = await repeat(connections, seconds, work, timesMax)
    rounds.push({ bare, measured: await load({ connections, seconds, headers, next, timesMax }) })
  }
  const sorted = rounds.toSorted((a, b) => ratioOf(a) - ratioOf(b))
  const middle = sorted[Math.floor(ROUNDS / 2)]
  if (!middle) throw new Error('Nothing was measured.')
  return { ...middle, note: `; ratios ${sorted.map((round) => ratioOf(round).toFixed(2)).join(', ')}` }
}
