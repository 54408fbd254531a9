import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  connect,
  inState,
  person,
  pulled,
  readConnection,
  type ScriptedSystem,
  startScriptedSystem,
  WITHIN,
} from '../../test/scripted-connector.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'
import { CONNECTORS } from './all-connectors.ts'
import type { ConnectorObject, RecordsPage } from './connector.ts'

const PULL_MINUTES = 30

/** Activities refer to people, and comments to activities. Tickets refer to nothing. */
const objectOf = (name: string, needs: readonly string[]): ConnectorObject => ({
  name,
  overlapSeconds: 0,
  needs,
  read: async (client, { since, until }) => {
    const query = { since: since?.toISOString(), until: until.toISOString() }
    return (await client.call({ path: `/${name}`, query })) as unknown as RecordsPage
  },
})

let system: ScriptedSystem
let service: TestService
let tenant: TestTenant
/** The first page of people that is refused; null: none. */
let refusedCursor: string | null | undefined
/** Resolves once the system may return tickets. */
let ticketsReleased: Promise<void>
let refusal: string
let activities: { id: string; contact: string; at: Date }[]

const callOf = ({ id, contact, at }: (typeof activities)[number]) => {
  const event = { event: 'met', timestamp: at.toISOString(), data: {}, sentId: null, sessionId: null, context: {} }
  return { id, contact, call: { ...EMPTY_CALL, event: { ...event, clockCorrection: 0 } } }
}

beforeAll(async () => {
  system = await startScriptedSystem([
    objectOf('activities', ['people']),
    objectOf('comments', ['activities']),
    objectOf('tickets', []),
  ])
  service = await startTestService({ CDS_PULL_MINUTES: String(PULL_MINUTES) }, system.options)
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  system.reset()
  Object.assign(system, { pages: [{ contacts: [person(1)] }, { contacts: [person(2)] }] })
  refusedCursor = null
  refusal = 'no permission'
  ticketsReleased = Promise.resolve()
  activities = [{ id: 'a1', contact: '1', at: new Date() }]
  system.intercept = async ({ path, query }) => {
    if (path === '/people') {
      return refusedCursor !== undefined && query.get('cursor') === refusedCursor
        ? { status: 403, body: { message: refusal } }
        : undefined
    }
    if (path === '/me') return undefined
    if (path === '/tickets') await ticketsReleased
    const [since, until] = [Date.parse(query.get('since') ?? '1970'), Date.parse(query.get('until') ?? '')]
    const changed = activities.filter(({ at }) => at.getTime() >= since && at.getTime() <= until)
    return { body: { calls: path === '/activities' ? changed.map(callOf) : [], next: null } }
  }
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

const pull = (path: string) => tenant.call('POST', `${path}/pull`)
const events = async () => (await tenant.call('GET', '/v1/events?count_only=true&event_type=met')).body.count
const errors = async (path: string) => (await tenant.call('GET', `${path}/errors`)).body.errors
const asked = (path: string) => system.requests.filter((request) => request.path === path)

test('records that refer to refused ones wait, and nothing is missing once those are allowed', async () => {
  const path = await connect(tenant)
  const failed = await inState(tenant, path, 'failed')
  expect(failed.objects).toMatchObject([
    {
      name: 'people',
      read_until: null,
      is_reading: false,
      error: 'Scripted responded with status 403: no permission',
    },
    {
      name: 'activities',
      read_until: null,
      is_reading: false,
      error: 'Waits for people, which its records refer to.',
    },
    {
      name: 'comments',
      read_until: null,
      is_reading: false,
      error: 'Waits for activities, which its records refer to.',
    },
    { name: 'tickets', read_until: expect.any(String), is_reading: false, error: null },
  ])
  expect(failed.error).toContain('people: Scripted responded with status 403')
  expect([...asked('/activities'), ...asked('/comments')]).toEqual([])
  refusedCursor = undefined
  await pull(path)
  expect(await inState(tenant, path, 'waiting')).toMatchObject({
    error: null,
    last_run: { counts: { activities: { accepted: 1 } } },
  })
  expect([await events(), await errors(path), asked('/comments').length]).toEqual([1, [], 1])

  // The same for changes: a refusal of one run leaves no gap.
  refusedCursor = null
  activities.push({ id: 'a2', contact: '2', at: new Date() })
  await pull(path)
  await inState(tenant, path, 'failed')
  refusedCursor = undefined
  await pull(path)
  await inState(tenant, path, 'waiting')
  expect([await events(), await errors(path)]).toEqual([2, []])
})

test('after a refusal in the middle of reading people, activities are read up to the same time as people', async () => {
  refusedCursor = '1'
  const path = await connect(tenant)
  await inState(tenant, path, 'failed')
  refusedCursor = undefined
  // The people who were added since are read by the run after the next one.
  activities.push({ id: 'a3', contact: '3', at: new Date() })
  await pull(path)
  const { objects, last_run } = await inState(tenant, path, 'waiting')
  expect(asked('/activities').map(({ query }) => query.get('until'))).toEqual([objects[0].read_until])
  expect([await events(), await errors(path)]).toEqual([1, []])
  system.pages = [{ contacts: [person(3)] }]
  await pull(path)
  await pulled(tenant, path, last_run.run_id)
  expect([await events(), await errors(path)]).toEqual([2, []])
})

test('a refusal does not delay other objects: the next pull is on schedule, however often the system refused', async () => {
  const path = await connect(tenant)
  let before: string | undefined
  for (let run = 0; run < 3; run++) {
    before = (await pulled(tenant, path, before)).run_id
    const { state, error, next_pull_at } = await inState(tenant, path, 'failed')
    expect([state, error]).toEqual(['failed', expect.stringContaining('people: Scripted responded with status 403')])
    const waitMs = Date.parse(next_pull_at) - Date.now()
    expect([waitMs > (PULL_MINUTES - 5) * MINUTE_MS, waitMs <= PULL_MINUTES * MINUTE_MS]).toEqual([true, true])
    if (run < 2) await pull(path)
  }
})

test('erasing a person during a pull: a refusal that names them does not come back', async () => {
  const { email } = person(1)
  const { body } = await tenant.call('POST', '/v1/contacts', { email })
  const { promise, resolve } = Promise.withResolvers<void>()
  Object.assign(system, { pages: [{ contacts: [person(2)] }] })
  refusal = `${email} has too many records`
  ticketsReleased = promise
  const path = await connect(tenant)
  await expect.poll(() => asked('/tickets'), WITHIN).toHaveLength(1)
  expect((await readConnection(tenant, path)).objects[0].error).toContain(email)
  const erasure = await tenant.call('POST', '/v1/erasures', { contact_id: body.contact.contact_id })
  const receipt = `/v1/erasures/${erasure.body.receipt.erasure_id}`
  await expect.poll(async () => (await tenant.call('GET', receipt)).body.receipt.status, WITHIN).not.toBe('running')
  resolve()
  const failed = await inState(tenant, path, 'failed')
  expect(failed.objects[0].error).toBe('It was not read. The reason named a person who was erased.')
  expect(failed.error).toContain('people: It was not read.')
  expect(JSON.stringify(failed)).not.toContain(email)
  expect(failed.last_run).toMatchObject({ finished_at: expect.any(String) })
})

test('every connector reads what an object needs before the object', () => {
  for (const { name, objects } of CONNECTORS) {
    for (const [index, { name: object, needs = [] }] of objects.entries()) {
      const earlier = objects.slice(0, index).map((each) => each.name)
      expect([name, object, needs.filter((need) => !earlier.includes(need))]).toEqual([name, object, []])
    }
  }
})
