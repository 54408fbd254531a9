import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { eventsOf } from '../../../test/connections.ts'
import { HubSpotRecords } from '../../../test/hubspot-records.ts'
import { type HubSpotBench, HubSpotWorkspace, startHubSpotBench } from '../../../test/hubspot-workspace.ts'
import { HOUR_MS } from '../../platform/time.ts'

const AGO = (hours: number) => new Date(Date.now() - hours * HOUR_MS)

let bench: HubSpotBench
let records: HubSpotRecords
let workspace: HubSpotWorkspace

beforeAll(async () => {
  bench = await startHubSpotBench({ CDS_PULL_MINUTES: '1440' })
  bench.hubspot.limits.searchesSecondly++
})
afterAll(() => bench?.close())
beforeEach(async () => {
  records = new HubSpotRecords()
  bench.hubspot.records = records
  workspace = await HubSpotWorkspace.create(bench.service)
})

const OPEN = { dealname: 'Engine', dealstage: 'appointmentscheduled', amount: '120.5', hs_is_closed: 'false' }
const WON = { dealstage: 'closedwon', hs_is_closed: 'true', hs_is_closed_won: 'true' }

async function dealEventsOf(email: string) {
  const { contact_id } = await workspace.contact(email)
  return eventsOf(workspace.tenant, contact_id)
}

/** The won amounts, as an insight adds them up. */
async function revenue(): Promise<number> {
  const series = [{ event: 'deal_won', metric: 'sum', property: 'data.amount' }]
  const question = { last: { value: 30, unit: 'day' }, series, interval: 'day' }
  const { body } = await workspace.tenant.call('POST', '/v1/insights/trend', question)
  return body.series[0].total
}

describe('deals of HubSpot', () => {
  test('are events of the contact that was created first: created, moved, won', async () => {
    const [ada, bob] = ['ada', 'bob'].map((name) => records.create('contacts', { email: `${name}@example.com` }))
    const times = [72, 48, 24].map(AGO)
    const [createdAt, movedAt, wonAt] = times
    const deal = records.create('deals', OPEN, createdAt)
    records.change('deals', deal, { dealstage: 'contractsent' }, movedAt)
    records.change('deals', deal, WON, wonAt)
    // A change of something else moves nothing.
    records.change('deals', deal, { dealname: 'Big engine' }, AGO(1))
    for (const contact of [bob, ada]) records.associate(['deals', deal], ['contacts', contact ?? ''])
    const lost = records.create('deals', { ...OPEN, deal_currency_code: 'EUR' }, createdAt)
    records.change('deals', lost, { dealstage: 'closedlost', hs_is_closed: 'true' }, movedAt)
    records.associate(['deals', lost], ['contacts', bob ?? ''])
    records.create('deals', OPEN)
    expect((await workspace.connect()).deals).toMatchObject({ accepted: 5 })

    const common = {
      deal_id: deal,
      deal_name: 'Big engine',
      pipeline: 'Sales pipeline',
      amount: 120.5,
      currency: 'USD',
    }
    const [scheduled, sent] = ['Appointment scheduled', 'Contract sent']
    expect(await dealEventsOf('ada@example.com')).toMatchObject([
      { event: 'deal_created', timestamp: createdAt?.toISOString(), data: { ...common, stage: scheduled } },
      {
        event: 'deal_stage_changed',
        timestamp: movedAt?.toISOString(),
        data: { ...common, stage: sent, previous_stage: scheduled },
      },
      {
        event: 'deal_won',
        timestamp: wonAt?.toISOString(),
        data: { ...common, stage: 'Closed won', previous_stage: sent },
      },
    ])
    expect(await dealEventsOf('bob@example.com')).toMatchObject([
      { event: 'deal_created', data: { deal_id: lost, currency: 'EUR' } },
      { event: 'deal_lost', timestamp: movedAt?.toISOString(), data: { previous_stage: scheduled } },
    ])
  })

  test('are won once, although the deal is reopened, won again, and has another main contact by then', async () => {
    const [ada, bob] = ['ada', 'bob'].map((name) => records.create('contacts', { email: `${name}@example.com` }))
    const deal = records.create('deals', OPEN, AGO(72))
    records.change('deals', deal, WON, AGO(48))
    for (const contact of [ada, bob]) records.associate(['deals', deal], ['contacts', contact ?? ''])
    await workspace.connect()
    expect(await revenue()).toBe(120.5)

    records.change('deals', deal, { ...OPEN, hs_is_closed_won: 'false' })
    records.change('deals', deal, { ...WON, amount: '150' })
    records.archive('contacts', ada ?? '')
    // It was created and won before; only its move back into an open stage is new.
    expect((await workspace.pull()).deals).toMatchObject({ accepted: 1, unchanged: 3 })
    expect(await revenue()).toBe(120.5)
    expect(await dealEventsOf('bob@example.com')).toMatchObject([
      { event: 'deal_stage_changed', data: { stage: 'Appointment scheduled', previous_stage: 'Closed won' } },
    ])
  })
})
