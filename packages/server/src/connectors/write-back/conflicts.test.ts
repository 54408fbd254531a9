import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'

let bench: HubSpotBench
let records: HubSpotRecords
let workspace: HubSpotWorkspace

beforeAll(async () => {
  bench = await startHubSpotBench()
})
afterAll(() => bench?.close())
beforeEach(async () => {
  records = new HubSpotRecords()
  Object.assign(bench.hubspot, { records, requests: [], isMultiStatus: true, intercept: () => undefined })
  workspace = await HubSpotWorkspace.create(bench.service)
})

const AGO = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const there = (id: string) => records.find('contacts', id)?.properties ?? {}
const here = async () => (await workspace.contact('ada@example.com')).properties
const writeAfter = (interval: string) =>
  bench.service.stores.database
    .updateTable('connections')
    .set({ write_back_at: sql`now() + ${interval}::interval` })
    .execute()
/** Keeps what waits from being written until `release`. */
const hold = () => writeAfter('1 hour')
const release = () => writeAfter('0')
const sent = (verb: string) => bench.hubspot.requests.filter(({ path }) => path.endsWith(`/batch/${verb}`))

const RULES: [string, string][] = [
  ['jobtitle', 'theirs'],
  ['phone', 'theirs'],
  ['city', 'newest'],
  ['country', 'newest'],
  ['company', 'ours'],
]
const THEIRS = { jobtitle: 'Countess', city: 'London', country: 'GB', company: 'Engines' }
const OURS = { jobtitle: 'Programmer', phone: '+1 555 0100', city: 'Paris', country: 'FR', company: 'Looms' }

describe('the rule of a property decides on what HubSpot has when it is written', () => {
  test('of a contact that was never read, because it changed there before the first read began', async () => {
    const ada = records.create('contacts', { email: 'ada@example.com', ...THEIRS }, AGO(60))
    await workspace.connect({ read_since: AGO(30).toISOString() })
    expect(await workspace.contact('ada@example.com')).toBeUndefined()
    await workspace.writeBack(RULES, true)
    await workspace.tenant.contact('ada@example.com', OURS)
    await workspace.written()
    expect(there(ada)).toMatchObject({ ...OURS, jobtitle: 'Countess' })
    expect(records.of('contacts')).toHaveLength(1)
  })

  test('of a contact that was created there since the last read', async () => {
    await workspace.connect()
    await workspace.writeBack(RULES, true)
    await hold()
    await workspace.tenant.contact('ada@example.com', OURS)
    const ada = records.create('contacts', { email: 'ada@example.com', ...THEIRS })
    await release()
    await workspace.written()
    expect(there(ada)).toMatchObject({ ...THEIRS, phone: '+1 555 0100', company: 'Looms' })
  })

  test('of a contact that changed there since the last read', async () => {
    const ada = records.create('contacts', { email: 'ada@example.com', phone: '+44 20 0000' })
    await workspace.connect()
    await workspace.writeBack(RULES)
    await hold()
    await workspace.change('ada@example.com', { jobtitle: 'Programmer', city: 'Paris', company: 'Looms' })
    records.change('contacts', ada, THEIRS)
    await workspace.change('ada@example.com', { country: 'FR' })
    bench.hubspot.requests = []
    await release()
    await workspace.written()
    expect(there(ada)).toMatchObject({ ...THEIRS, country: 'FR', company: 'Looms' })
    expect(sent('read')).toHaveLength(1)
    expect(await here()).toMatchObject({ jobtitle: 'Programmer', city: 'Paris' })
  })
})

test('what HubSpot stores in another form is written once, until either side changes', async () => {
  const ada = records.create('contacts', { email: 'ada@example.com' })
  await workspace.connect()
  await workspace.writeBack([
    ['jobtitle', 'ours'],
    ['score', 'ours'],
    ['renewal', 'ours', 'plan'],
    ['city', 'ours'],
  ])
  const stored: Record<string, (value: string) => string> = {
    jobtitle: (value) => value.toUpperCase(),
    score: (value) => `${value}.0`,
    plan: (value) => new Date(value).toISOString(),
  }
  records.stored = (name, value) => stored[name]?.(value) ?? value
  bench.hubspot.requests = []
  await workspace.change('ada@example.com', { jobtitle: 'Countess', score: 7, renewal: '2026-01-01T01:00:00+01:00' })
  await workspace.written()
  const asStored = { jobtitle: 'COUNTESS', score: '7.0', plan: '2026-01-01T00:00:00.000Z' }
  expect(there(ada)).toMatchObject(asStored)
  for (let round = 0; round < 2; round++) {
    await workspace.pull()
    await workspace.written()
  }
  expect(sent('update')).toHaveLength(1)
  expect(await here()).toMatchObject({ jobtitle: 'Countess', score: 7 })

  await workspace.change('ada@example.com', { city: 'London' })
  await workspace.written()
  expect(sent('update').map(({ body }) => Object.keys(JSON.parse(body).inputs[0].properties))).toEqual([
    ['jobtitle', 'score', 'plan'],
    ['city'],
  ])
  records.change('contacts', ada, { jobtitle: 'Theirs' })
  await workspace.pull()
  await workspace.written()
  expect(there(ada)).toMatchObject({ ...asStored, city: 'London' })
})

test('a stage that only the account in HubSpot has is replaced and removed by `ours` only', async () => {
  const stage = { lifecyclestage: '123456' }
  const ada = records.create('contacts', { email: 'ada@example.com', ...stage })
  await workspace.connect()
  for (const [rule, lifecyclestage] of [
    ['theirs', 'customer'],
    ['newest', 'evangelist'],
  ] as const) {
    await workspace.writeBack([
      ['lifecyclestage', rule],
      ['city', 'ours'],
    ])
    await workspace.change('ada@example.com', { lifecyclestage, city: rule })
    await workspace.written()
    expect(there(ada)).toMatchObject({ ...stage, city: rule })
  }
  await workspace.writeBack([['lifecyclestage', 'ours']])
  await workspace.change('ada@example.com', { lifecyclestage: 'opportunity' })
  await workspace.written()
  expect(there(ada).lifecyclestage).toBe('opportunity')
  records.change('contacts', ada, stage)
  await workspace.change('ada@example.com', { lifecyclestage: null })
  await workspace.written()
  expect(there(ada).lifecyclestage).toBeNull()
})
