import { beforeEach, describe, expect, test } from 'vitest'
import { insertConnection, pausesBetween } from '../../test/connected-system.ts'
import {
  connect,
  inState,
  person,
  pulled,
  readConnection,
  TOKEN,
  useScriptedSystem,
  WITHIN,
} from '../../test/scripted-connector.ts'
import { createTestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { retryAfter } from './client.ts'
import { notePage, startRun } from './runs.ts'

const bench = useScriptedSystem()

const read = (path: string) => readConnection(bench.tenant, path)
const post = (path: string, body?: object) => bench.tenant.call('POST', path, body)
const countContacts = async () => (await bench.tenant.call('GET', '/v1/contacts?count_only=1')).body.count
/** Refuses requests for pages, but not the one for the account. */
const refuse = (status: number, headers: Record<string, string> = {}, times = Number.POSITIVE_INFINITY) => {
  let left = times
  bench.system.intercept = ({ path }) =>
    path === '/people' && left-- > 0 ? { status, headers, body: { message: `no, says ${TOKEN}` } } : undefined
}

describe('a pull', () => {
  test('waits for a short rate limit', async () => {
    bench.system.pages = [{ contacts: [person(1)] }]
    refuse(429, { 'retry-after': '0' }, 3)
    const run = await pulled(bench.tenant, await connect(bench.tenant))
    expect(run.counts).toEqual({ people: { created: 1 } })
    expect(bench.system.asked()).toHaveLength(4)
  })

  test('ends at a long rate limit, and continues the same run after it', async () => {
    bench.system.pages = [{ contacts: [person(1)] }, { contacts: [person(2)] }]
    let limited = true
    bench.system.intercept = ({ query }) =>
      query.get('cursor') === '1' && limited ? { status: 429, headers: { 'retry-after': '3600' }, body: {} } : undefined
    const path = await connect(bench.tenant)
    await expect
      .poll(async () => Date.parse((await read(path)).next_pull_at) - Date.now() > 3_000_000, WITHIN)
      .toBe(true)
    const before = await read(path)
    expect(before).toMatchObject({ state: 'waiting', error: null, last_run: { finished_at: null } })
    limited = false
    bench.system.requests = []
    await post(`${path}/pull`)
    const run = await pulled(bench.tenant, path)
    expect(run).toMatchObject({ run_id: before.last_run.run_id, counts: { people: { created: 2 } } })
    expect(bench.system.asked()).toEqual(['1'])
  })

  test.for([
    ['31536000', 86_400],
    ['1e16', 10],
    ['-5', 0],
    ['soon', 10],
  ] as const)('waits at most a day for a rate limit: a Retry-After of %s', async ([sent, seconds]) => {
    bench.system.pages = [{ contacts: [person(1)] }]
    refuse(429, { 'retry-after': sent }, 1)
    const path = await connect(bench.tenant)
    if (seconds < 60) {
      await pulled(bench.tenant, path)
      const people = bench.system.requests.filter(({ path: asked }) => asked === '/people')
      // The clock and the timer are read one after another.
      expect(pausesBetween(people)[0]).toBeGreaterThan(seconds * 1_000 - 10)
      return
    }
    await expect.poll(async () => (await read(path)).error, WITHIN).toContain('The rate limit of Scripted is exceeded.')
    const { state, next_pull_at } = await read(path)
    expect(state).toBe('waiting')
    const waitMs = Date.parse(next_pull_at) - Date.now()
    expect([waitMs > seconds * 1_000 - 60_000, waitMs <= seconds * 1_000]).toEqual([true, true])
    await post(`${path}/pull`)
    await pulled(bench.tenant, path)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
  })

  test('treats a time in the past as now', () => {
    const now = new Date('2026-01-01T12:00:00Z')
    for (const sent of ['-5', '0']) {
      expect([sent, retryAfter({ status: 429, headers: { 'retry-after': sent }, body: {} }, now)]).toEqual([sent, now])
    }
  })

  test('shows a server error, backs off, and recovers', async () => {
    bench.system.pages = [{ contacts: [person(1)] }]
    refuse(503)
    const path = await connect(bench.tenant)
    const failed = await inState(bench.tenant, path, 'failed')
    expect(failed.error).toBe('Scripted responded with status 503: no, says [secret]')
    // Tried three times.
    expect(bench.system.asked()).toHaveLength(3)
    await post(`${path}/pull`)
    // The second wait is longer than the first, which is 30 seconds.
    await expect.poll(async () => Date.parse((await read(path)).next_pull_at) - Date.now() > 35_000, WITHIN).toBe(true)
    bench.system.intercept = () => undefined
    await post(`${path}/pull`)
    await pulled(bench.tenant, path)
    expect(await read(path)).toMatchObject({ state: 'waiting', error: null })
    expect(await countContacts()).toBe(1)
  })

  test('stops when the sign-in is refused, until a person signs in again, and then continues', async () => {
    bench.system.pages = [{ contacts: [person(1)] }, { contacts: [person(2)] }]
    bench.system.intercept = ({ query }) =>
      query.get('cursor') === '1' ? { status: 401, body: { message: 'token expired' } } : undefined
    const path = await connect(bench.tenant)
    const { error, next_pull_at, last_run } = await inState(bench.tenant, path, 'signed_out')
    expect([error, next_pull_at]).toEqual(['Scripted responded with status 401: token expired', null])
    for (const order of ['pull', 'reread']) {
      expect((await post(`${path}/${order}`, {})).body.error.code).toBe('connection_signed_out')
    }
    const wrong = await bench.tenant.call('PATCH', path, { credentials: { token: 'wrong' } })
    expect(wrong.body.error.code).toBe('connection_refused')
    expect((await read(path)).state).toBe('signed_out')
    Object.assign(bench.system, { token: 'a-new-token', requests: [], intercept: () => undefined })
    expect((await bench.tenant.call('PATCH', path, { credentials: { token: 'a-new-token' } })).status).toBe(200)
    expect((await pulled(bench.tenant, path)).run_id).toBe(last_run.run_id)
    expect(bench.system.asked()).toEqual(['1'])
    expect(await countContacts()).toBe(2)
  })

  test('another account under the same source is refused, even after the connection is deleted', async () => {
    bench.system.pages = [{ contacts: [person(1)] }]
    const path = await connect(bench.tenant)
    const { run_id } = await pulled(bench.tenant, path)
    Object.assign(bench.system, { account: 'Another', token: 'token-of-another' })
    const credentials = { token: 'token-of-another' }
    const refused = await bench.tenant.call('PATCH', path, { credentials })
    expect([refused.status, refused.body.error.code]).toEqual([409, 'source_of_another_account'])
    expect(await read(path)).toMatchObject({ account: 'Engines', last_run: { run_id } })
    await bench.tenant.call('DELETE', path)
    const again = await post('/v1/connections', { connector: 'scripted', credentials })
    expect([again.status, again.body.error.code]).toEqual([409, 'source_of_another_account'])
    expect(again.body.error.message).toContain('another source name')
    expect((await bench.tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
    const other = { connector: 'scripted', credentials, source: 'another' }
    expect((await post('/v1/connections', other)).status).toBe(201)
    // The first account can still continue under that name.
    Object.assign(bench.system, { account: 'Engines', token: TOKEN })
    await connect(bench.tenant)
  })

  test('lists a bad record and writes the others; reading everything again creates no duplicates', async () => {
    const bad = person(2, { firstname: 'x'.repeat(70_000) })
    bench.system.pages = [{ contacts: [person(1), bad, { ...person(3), email: 'no address' }] }]
    const path = await connect(bench.tenant)
    const run = await pulled(bench.tenant, path)
    expect(run.counts).toEqual({ people: { created: 1, failed: 2 } })
    const { errors, pagination } = (await bench.tenant.call('GET', `${path}/errors`)).body
    const failed = { object: 'people', run_id: run.run_id }
    expect(errors.toSorted(byExternalId)).toMatchObject([
      { ...failed, external_id: '2', code: 'validation_error' },
      { ...failed, external_id: '3', code: 'invalid_email', message: expect.stringContaining('no address') },
    ])
    expect(pagination.total_items).toBe(2)
    await post(`${path}/reread`, { since: '2026-01-01' })
    const again = await pulled(bench.tenant, path, run.run_id)
    expect(again.counts).toEqual({ people: { unchanged: 1, failed: 2 } })
    expect(bench.system.requests.at(-1)?.query.get('since')).toBe('2026-01-01T00:00:00.000Z')
    expect(await countContacts()).toBe(1)
  })
})

function byExternalId(one: { external_id: string }, other: { external_id: string }): number {
  return one.external_id < other.external_id ? -1 : 1
}

describe('what a person does during a pull wins', () => {
  beforeEach(() => {
    bench.system.pages = [1, 2, 3].map((id) => ({ contacts: [person(id)] }))
  })

  test('a pause: the pull stores nothing more, and continues at that page when it is resumed', async () => {
    const { reached, release } = bench.system.hold('1')
    const path = await connect(bench.tenant)
    await reached
    expect((await post(`${path}/pause`)).body.changed).toBe(true)
    release()
    expect((await post(`${path}/pull`)).body.error.code).toBe('connection_paused')
    expect((await post(`${path}/pause`)).body.changed).toBe(false)
    expect(await read(path)).toMatchObject({ state: 'paused', next_pull_at: null, last_run: { finished_at: null } })
    await expect.poll(() => bench.system.asked()).toEqual([null, '1'])
    expect((await post(`${path}/resume`)).body.changed).toBe(true)
    await pulled(bench.tenant, path)
    expect(bench.system.asked()).toEqual([null, '1', '1', '2'])
    expect(await countContacts()).toBe(3)
  })

  test('a reread: it starts from the beginning', async () => {
    const { reached, release } = bench.system.hold('1')
    const path = await connect(bench.tenant)
    await reached
    expect((await post(`${path}/reread`, {})).status).toBe(202)
    release()
    await pulled(bench.tenant, path)
    expect(bench.system.asked()).toEqual([null, '1', null, '1', '2'])
    expect(await countContacts()).toBe(3)
  })

  test('a deletion: nothing of the connection comes back', async () => {
    const { reached, release } = bench.system.hold('1')
    const path = await connect(bench.tenant)
    await reached
    expect((await bench.tenant.call('DELETE', path)).status).toBe(200)
    release()
    // The next connection is pulled after that job has ended, or at the same time.
    await pulled(bench.tenant, await connect(bench.tenant, { source: 'another' }))
    expect((await bench.tenant.call('GET', path)).status).toBe(404)
    for (const table of ['connections', 'connection_runs'] as const) {
      expect(await bench.tenant.handle.db.selectFrom(table).select('connection_id').execute()).toHaveLength(1)
    }
    expect(bench.service.logged.filter((line) => line.includes('a pull failed'))).toEqual([])
  })
})

test('other tenants find nothing', async () => {
  const path = await connect(bench.tenant)
  await pulled(bench.tenant, path)
  const stranger = await createTestTenant(bench.service)
  for (const [method, suffix, body] of [
    ['GET', '', undefined],
    ['PATCH', '', { credentials: { token: TOKEN } }],
    ['POST', '/pause', undefined],
    ['POST', '/resume', undefined],
    ['POST', '/pull', undefined],
    ['POST', '/reread', {}],
    ['GET', '/runs', undefined],
    ['GET', '/errors', undefined],
    ['DELETE', '', undefined],
  ] as const) {
    expect([method, suffix, (await stranger.call(method, path + suffix, body)).status]).toEqual([method, suffix, 404])
  }
  expect((await stranger.call('GET', '/v1/connections')).body.connections).toEqual([])
  expect(await read(path)).toMatchObject({ state: 'waiting' })
})

test('the latest 50 runs and 1,000 failed records are kept', async () => {
  const connectionId = await insertConnection(bench.tenant)
  const path = `/v1/connections/${connectionId}`
  const at = (index: number) => new Date(Date.UTC(2026, 0, 1, 0, index))
  let runId = ''
  for (let index = 0; index < 55; index++) {
    runId = await bench.tenant.handle.transaction((tx) => startRun(tx, connectionId, at(index)))
  }
  const runs = (await bench.tenant.call('GET', `${path}/runs?limit=50`)).body
  expect([runs.pagination.total_items, runs.runs[0].run_id]).toEqual([50, runId])
  for (const part of [1, 2]) {
    const errors = Array.from({ length: 600 }, (_, n) => ({ externalId: `${part}-${n}`, code: 'x', message: newId() }))
    const place = { connectionId, runId, object: 'people' }
    await bench.tenant.handle.transaction((tx) =>
      notePage(tx, place, { counts: { failed: 600 }, errors }, at(60 + part)),
    )
  }
  const { errors, pagination } = (await bench.tenant.call('GET', `${path}/errors?limit=100`)).body
  expect([pagination.total_items, errors[0].external_id]).toEqual([1_000, '2-599'])
  expect((await read(path)).last_run.counts).toEqual({ people: { failed: 1_200 } })
})

test('the credentials appear in no response, row, audit entry or log line', async () => {
  refuse(500)
  const path = await connect(bench.tenant)
  await inState(bench.tenant, path, 'failed')
  const responses = await Promise.all(
    [path, '/v1/connections', `${path}/runs`, `${path}/errors`, '/v1/audit-log', '/v1/sources'].map((each) =>
      bench.tenant.call('GET', each),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
  const rows = await bench.tenant.handle.db.selectFrom('connections').selectAll().execute()
  expect(JSON.stringify([responses.map(({ body }) => body), rows]) + bench.service.logged.join()).not.toContain(TOKEN)
})
