import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { CONTACT_PROPERTIES, HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'

const WITHIN = { timeout: 120_000, interval: 100 }

let bench: HubSpotBench
let records: HubSpotRecords
let workspace: HubSpotWorkspace
let ada: string

beforeAll(async () => {
  bench = await startHubSpotBench()
})
afterAll(() => bench?.close())
beforeEach(async () => {
  records = new HubSpotRecords()
  Object.assign(bench.hubspot, { records, requests: [], intercept: () => undefined })
  workspace = await HubSpotWorkspace.create(bench.service)
  ada = records.create('contacts', { email: 'ada@example.com' })
  await workspace.connect()
})

const pair = (target: string) => ({ property: target, target, conflict: 'ours' })
const set = (...targets: string[]) =>
  workspace.tenant.call('PUT', `${workspace.path}/write-back`, { properties: targets.map(pair) })

test('a field that HubSpot lacks is refused by name, and turning off asks nobody', async () => {
  const refused = await set('jobtitle', 'job_titel', 'Score')
  expect(refused.status).toBe(400)
  expect(refused.body.error.details).toEqual([
    { path: 'properties.1.target', message: 'is not a field of contacts in HubSpot' },
    { path: 'properties.2.target', message: 'is not a field of contacts in HubSpot' },
  ])
  expect((await workspace.read()).write_back).toBeNull()
  expect((await set('jobtitle')).body.changed).toBe(true)

  bench.hubspot.intercept = () => ({ status: 502, body: {} })
  expect((await set('jobtitle', 'score')).body.error).toMatchObject({
    code: 'connection_refused',
    message: 'HubSpot responded with status 502.',
  })
  expect((await set()).body.changed).toBe(true)
})

test('a field that is removed there later stops writing, and nothing that waits is lost', async () => {
  expect((await set('jobtitle', 'score')).status).toBe(200)
  bench.hubspot.intercept = ({ path }) => {
    if (path !== '/crm/v3/properties/contacts') return undefined
    const left = [...CONTACT_PROPERTIES].filter(([name]) => name !== 'score')
    return { body: { results: left.map(([name, definition]) => ({ name, ...definition })) } }
  }
  bench.hubspot.requests = []
  await workspace.change('ada@example.com', { jobtitle: 'Countess', score: 7 })
  await expect
    .poll(async () => (await workspace.read()).write_back.error, WITHIN)
    .toBe('HubSpot has no field score of contacts. Nothing is written until it exists or another one is chosen.')
  expect((await workspace.read()).write_back.waiting).toBe(1)
  expect(bench.hubspot.requests.filter(({ path }) => path.includes('/batch/'))).toEqual([])
  expect(await workspace.errors()).toEqual([])

  bench.hubspot.intercept = () => undefined
  await bench.service.stores.database.updateTable('connections').set({ write_back_at: sql`now()` }).execute()
  await workspace.written()
  expect(records.find('contacts', ada)?.properties).toMatchObject({ jobtitle: 'Countess', score: '7' })
  expect((await workspace.read()).write_back.error).toBeNull()
})
