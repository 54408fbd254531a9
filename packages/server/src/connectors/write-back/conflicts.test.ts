import { describe, expect, test } from 'vitest'
import { useWriteBack } from '../../../test/write-back.ts'
import { MINUTE_MS } from '../../platform/time.ts'

const bench = useWriteBack()
const AGO = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)
/** The batches of one kind that were sent. */
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

describe('the rule of a property is applied to what HubSpot has at the time of writing', () => {
  test('of a contact that was never read, because it changed there before the first read started', async () => {
    const ada = bench.records.create('contacts', { email: 'ada@example.com', ...THEIRS }, AGO(60))
    await bench.workspace.connect({ read_since: AGO(30).toISOString() })
    expect(await bench.workspace.contact('ada@example.com')).toBeUndefined()
    await bench.workspace.writeBack(RULES, true)
    await bench.workspace.tenant.contact('ada@example.com', OURS)
    await bench.workspace.written()
    expect(bench.there(ada)).toMatchObject({ ...OURS, jobtitle: 'Countess' })
    expect(bench.records.of('contacts')).toHaveLength(1)
  })

  test('of a contact that was created there since the last read', async () => {
    await bench.workspace.connect()
    await bench.workspace.writeBack(RULES, true)
    await bench.hold()
    await bench.workspace.tenant.contact('ada@example.com', OURS)
    const ada = bench.records.create('contacts', { email: 'ada@example.com', ...THEIRS })
    await bench.release()
    await bench.workspace.written()
    expect(bench.there(ada)).toMatchObject({ ...THEIRS, phone: '+1 555 0100', company: 'Looms' })
  })

  test('of a contact that changed there since the last read', async () => {
    const ada = bench.records.create('contacts', { email: 'ada@example.com', phone: '+44 20 0000' })
    await bench.workspace.connect()
    await bench.workspace.writeBack(RULES)
    await bench.hold()
    await bench.workspace.change('ada@example.com', { jobtitle: 'Programmer', city: 'Paris', company: 'Looms' })
    bench.records.change('contacts', ada, THEIRS)
    await bench.workspace.change('ada@example.com', { country: 'FR' })
    bench.hubspot.requests = []
    await bench.release()
    await bench.workspace.written()
    expect(bench.there(ada)).toMatchObject({ ...THEIRS, country: 'FR', company: 'Looms' })
    expect(sent('read')).toHaveLength(1)
    expect(await bench.here()).toMatchObject({ jobtitle: 'Programmer', city: 'Paris' })
  })
})

test('what HubSpot stores in another form is written once, until either side changes', async () => {
  const ada = bench.records.create('contacts', { email: 'ada@example.com' })
  await bench.workspace.connect()
  await bench.workspace.writeBack([
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
  bench.records.stored = (name, value) => stored[name]?.(value) ?? value
  bench.hubspot.requests = []
  await bench.workspace.change('ada@example.com', {
    jobtitle: 'Countess',
    score: 7,
    renewal: '2026-01-01T01:00:00+01:00',
  })
  await bench.workspace.written()
  const asStored = { jobtitle: 'COUNTESS', score: '7.0', plan: '2026-01-01T00:00:00.000Z' }
  expect(bench.there(ada)).toMatchObject(asStored)
  for (let round = 0; round < 2; round++) {
    await bench.workspace.pull()
    await bench.workspace.written()
  }
  expect(sent('update')).toHaveLength(1)
  expect(await bench.here()).toMatchObject({ jobtitle: 'Countess', score: 7 })

  await bench.workspace.change('ada@example.com', { city: 'London' })
  await bench.workspace.written()
  expect(sent('update').map(({ body }) => Object.keys(JSON.parse(body).inputs[0].properties))).toEqual([
    ['jobtitle', 'score', 'plan'],
    ['city'],
  ])
  bench.records.change('contacts', ada, { jobtitle: 'Theirs' })
  await bench.workspace.pull()
  await bench.workspace.written()
  expect(bench.there(ada)).toMatchObject({ ...asStored, city: 'London' })
})

test('a stage that only the HubSpot account has is replaced and removed only by `ours`', async () => {
  const stage = { lifecyclestage: '123456' }
  const ada = bench.records.create('contacts', { email: 'ada@example.com', ...stage })
  await bench.workspace.connect()
  for (const [rule, lifecyclestage] of [
    ['theirs', 'customer'],
    ['newest', 'evangelist'],
  ] as const) {
    await bench.workspace.writeBack([
      ['lifecyclestage', rule],
      ['city', 'ours'],
    ])
    await bench.workspace.change('ada@example.com', { lifecyclestage, city: rule })
    await bench.workspace.written()
    expect(bench.there(ada)).toMatchObject({ ...stage, city: rule })
  }
  await bench.workspace.writeBack([['lifecyclestage', 'ours']])
  await bench.workspace.change('ada@example.com', { lifecyclestage: 'opportunity' })
  await bench.workspace.written()
  expect(bench.there(ada).lifecyclestage).toBe('opportunity')
  bench.records.change('contacts', ada, stage)
  await bench.workspace.change('ada@example.com', { lifecyclestage: null })
  await bench.workspace.written()
  expect(bench.there(ada).lifecyclestage).toBeNull()
})
