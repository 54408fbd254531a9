import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { beforeEach, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { until } from '../../server/test/webhooks.ts'
import { type CustomerDataError, Tracker, type TrackerOptions } from '../src/index.ts'
import { type FailingFront, startFailingFront } from './failing-front.ts'

const LIMITED = { status: 429, headers: { 'retry-after': '1' }, body: '{"error":{"code":"rate_limited"}}' }
const BUSY = { status: 503, body: '{"error":{"code":"store_unavailable"}}' }

let service: TestService
let tenant: TestTenant
let front: FailingFront
let lost: { code: string; calls: unknown[] }[]
beforeEach(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  front = await startFailingFront(service)
  lost = []
})

function open(options: Partial<TrackerOptions> = {}): Tracker {
  const onError = ({ code }: CustomerDataError, calls: unknown[]) => void lost.push({ code, calls })
  return new Tracker({ url: front.url, apiKey: tenant.key, onError, ...options })
}

/** The names of the tenant's events, sorted. */
async function recorded(): Promise<string[]> {
  const { body } = await tenant.call('GET', '/v1/events?limit=100')
  return body.events.map(({ event }: { event: string }) => event).toSorted()
}

const sentEvents = () => front.requests.map(({ body }) => JSON.parse(body).events ?? [])

test('events are sent together, in order, with their time and their person', async () => {
  const tracker = open()
  tracker.identify({ user_id: 'u-1', email: 'ada@example.com', properties: { firstname: 'Ada' } })
  const timestamp = new Date(Date.now() - 3_600_000)
  for (const event of ['a', 'b', 'c']) tracker.track({ event, user_id: 'u-1', timestamp, data: { of: event } })
  expect(await tracker.flush()).toBe(0)
  expect(front.requests.map(({ path }) => path)).toEqual(['/v1/identify', '/v1/events'])
  expect(sentEvents()[1].map(({ event }: { event: string }) => event)).toEqual(['a', 'b', 'c'])
  const { body } = await tenant.call('GET', '/v1/events?limit=10')
  expect(body.events[0]).toMatchObject({ timestamp: timestamp.toISOString(), contact: { email: 'ada@example.com' } })
  expect(lost).toEqual([])
  await tracker.close()
})

test('an idle tracker sends by itself', async () => {
  const tracker = open({ flushEveryMs: 10 })
  tracker.track({ event: 'alone', email: 'ada@example.com' })
  await until(() => expect(front.requests).toHaveLength(1))
  await tracker.close()
  expect(await recorded()).toEqual(['alone'])
})

test.each([
  ['429 with Retry-After', LIMITED],
  ['503', BUSY],
  ['a cut connection', 'lost request' as const],
  ['a response that is lost', 'lost response' as const],
])('after %s, the same events are sent again and recorded once', async (_, failure) => {
  front.failures = [failure, failure]
  const tracker = open()
  tracker.track({ event: 'once', user_id: 'u-2' })
  tracker.track({ event: 'twice', user_id: 'u-2' })
  tracker.track({ event: 'twice', user_id: 'u-2' })
  const startedAt = performance.now()
  await tracker.close()
  if (failure === LIMITED) expect(performance.now() - startedAt).toBeGreaterThanOrEqual(2_000)
  const [first, second, third] = sentEvents()
  expect([second, third]).toEqual([first, first])
  expect(await recorded()).toEqual(['once', 'twice', 'twice'])
  expect(lost).toEqual([])
})

test('one invalid event is lost alone, whichever way the service refuses it', async () => {
  const tracker = open()
  tracker.track({ event: 'good', user_id: 'u-3' })
  tracker.track({ event: 'nobody' })
  tracker.track({ event: 'odd', user_id: 'u-3', colour: 'red' } as never)
  tracker.track({ event: 7, user_id: 'u-3' } as never)
  tracker.track({ event: 'fine', user_id: 'u-3' })
  await tracker.close()
  expect(await recorded()).toEqual(['fine', 'good'])
  expect(lost.flatMap(({ calls }) => calls.map((call) => (call as { event: unknown }).event))).toEqual([
    'nobody',
    'odd',
    7,
  ])
})

test('an identification that the service refuses is lost, and what follows is sent', async () => {
  const tracker = open()
  tracker.identify({ email: 'no address' })
  tracker.track({ event: 'after', user_id: 'u-4' })
  await tracker.close()
  expect(lost).toEqual([{ code: 'validation_error', calls: [{ email: 'no address' }] }])
  expect(await recorded()).toEqual(['after'])
})

test('a wrong key loses the calls and says so', async () => {
  const tracker = open({ apiKey: 'cds_wrong' })
  tracker.track({ event: 'x', user_id: 'u' })
  await tracker.close()
  expect(lost).toMatchObject([{ code: 'invalid_api_key' }])
})

test('the queue is bounded, and close gives up after its time', async () => {
  front.failures = Array(50).fill(BUSY)
  const tracker = open({ queueMax: 3, flushTimeoutMs: 100 })
  for (let index = 0; index < 5; index++) tracker.track({ event: `e${index}`, user_id: 'u' })
  expect(lost.map(({ code, calls }) => [code, calls.length])).toEqual([
    ['queue_full', 1],
    ['queue_full', 1],
  ])
  expect(await tracker.flush()).toBe(3)
  await tracker.close()
  tracker.track({ event: 'late', user_id: 'u' })
  expect(lost.slice(2)).toMatchObject([{ code: 'tracker_closed', calls: [{}, {}, {}] }, { code: 'tracker_closed' }])
})

test('calls never throw, whatever they get', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const onError = () => {
    throw new Error('the program of the caller')
  }
  const [tracker, careless] = [open(), open({ onError })]
  tracker.track({ event: 'x', user_id: 'u', data: circular })
  tracker.track({ event: 'x', user_id: 'u', data: { big: 1n } })
  tracker.track(null as never)
  careless.track(undefined as never)
  expect(lost.map(({ code }) => code)).toEqual(['invalid_call', 'invalid_call', 'invalid_call'])
  await tracker.close()
  await careless.close()
})

test('many events are sent in few requests, none lost and none twice', async () => {
  front.failures = ['lost response', LIMITED]
  const tracker = open({ flushTimeoutMs: 30_000 })
  for (let index = 0; index < 2_000; index++) tracker.track({ event: 'many', user_id: `u-${index % 10}` })
  await tracker.close()
  expect(front.requests.length).toBeLessThan(20)
  expect((await tenant.call('GET', '/v1/events?count_only=true&event_type=many')).body.count).toBe(2_000)
})

/** Runs a program that uses the tracker. @returns its exit code and what it printed */
async function run(code: string) {
  const source = fileURLToPath(new URL('../src/index.ts', import.meta.url))
  const program = `import { Tracker } from ${JSON.stringify(source)}
    const tracker = new Tracker({ url: process.env.URL_OF_SERVICE, apiKey: process.env.KEY, flushTimeoutMs: 3000 })
    ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, URL_OF_SERVICE: front.url, KEY: tenant.key },
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk))
  const [exitCode] = await once(child, 'close')
  return { exitCode, printed }
}

test('a process that ends right after its calls sends them first', async () => {
  front.failures = [BUSY]
  expect(await run("tracker.track({ event: 'last', user_id: 'u' })")).toEqual({ exitCode: 0, printed: '' })
  expect(await recorded()).toEqual(['last'])
})

test('a process ends, and reports what is lost, while the service is away', async () => {
  front.failures = Array(50).fill('lost request')
  const { exitCode, printed } = await run("tracker.track({ event: 'last', user_id: 'u' })")
  expect([exitCode, printed]).toEqual([0, expect.stringContaining('calls lost: 1 (tracker_closed)')])
})
