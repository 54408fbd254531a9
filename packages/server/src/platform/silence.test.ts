import { afterEach, expect, test } from 'vitest'
import { createLog } from './log.ts'
import { CONNECT_WITHIN_MS } from './postgres/connect.ts'
import { SILENT_AFTER_MS, watchForSilence } from './silence.ts'

/** How long a request may wait for a database that does not respond, as documented. */
const RESPONSE_WITHIN_MS = 10_000
/** Instead of SILENT_AFTER_MS. A tick is a twelfth of it, which is half a second by default. */
const SHORT_MS = 240
const TICK_MS = SHORT_MS / 12

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0)) await undo()
})

/** Watches a database that responds to pings at once until it is frozen, and counts ticks of the same clock. */
function watch() {
  const database = { isFrozen: false, pings: 0, dropped: 0 }
  const logged: string[] = []
  const ping = async (signal: AbortSignal) => {
    database.pings++
    if (!database.isFrozen) return true
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    database.dropped++
    throw new Error('the ping was dropped')
  }
  const log = createLog('info', { destination: { write: (line) => logged.push(JSON.parse(line).msg) } })
  const silence = watchForSilence('PostgreSQL', ping, log, SHORT_MS)
  const clock = { ticks: 0 }
  const ticking = setInterval(() => clock.ticks++, TICK_MS)
  cleanup.push(silence.stop, () => clearInterval(ticking))
  return { silence, database, logged, clock }
}

const until = (check: () => boolean) => expect.poll(check, { interval: TICK_MS }).toBe(true)

test('a database that stops responding counts as down after six seconds, in time for the response to a request', async () => {
  expect(SILENT_AFTER_MS).toBe(6_000)
  // A request may also wait for a new connection to a server that responds on others.
  for (const wait of [SILENT_AFTER_MS + 1_000, CONNECT_WITHIN_MS]) expect(wait).toBeLessThan(RESPONSE_WITHIN_MS)
  const { silence, database, logged, clock } = watch()
  await until(() => clock.ticks > 30)
  const { signal } = silence
  expect(signal.aborted).toBe(false)
  const { pings } = database
  await until(() => database.pings > pings)
  database.isFrozen = true
  const { ticks } = clock
  const aborted = new Promise<number>((resolve) => signal.addEventListener('abort', () => resolve(clock.ticks - ticks)))
  // The last response came up to two ticks before, or its ping is still to come.
  expect([10, 11, 12, 13]).toContain(await aborted)
  expect(logged).toEqual(['PostgreSQL has not responded for 0.24 seconds; pending work fails'])
})

test('while it is down, it is pinged again and again, and the first response ends the silence', async () => {
  const { silence, database, logged } = watch()
  database.isFrozen = true
  await until(() => database.dropped > 2)
  const { signal } = silence
  expect(signal.aborted).toBe(true)
  database.isFrozen = false
  await until(() => !silence.signal.aborted)
  expect(silence.signal).not.toBe(signal)
  expect(logged.at(-1)).toBe('PostgreSQL responds again')
})
