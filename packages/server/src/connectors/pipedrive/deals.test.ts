import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../../test/connected-system.ts'
import { connectWith, eventsOf } from '../../../test/connections.ts'
import { API_TOKEN, deal, justNow, PipedriveAccount, person } from '../../../test/pipedrive.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService } from '../../../test/service.ts'

const account = new PipedriveAccount()
let system: ConnectedSystem
let service: TestService

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => account.respond(request))
  service = await startTestService({}, connectedTo(system, 'pipedrive'))
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

test('deals of Pipedrive are events of their person, at the times that the deals have', async () => {
  const tenant = await createTestTenant(service)
  account.persons = [person(1), person(2)]
  const won = {
    status: 'won',
    stage_id: 2,
    stage_change_time: '2026-01-02T00:00:00Z',
    won_time: '2026-01-03T00:00:00Z',
  }
  account.deals = [
    deal(1, 1, { ...won, value: 900.5 }),
    deal(2, 2, { status: 'lost', lost_time: '2026-01-04T00:00:00Z' }),
    deal(3, 99),
    deal(4, 2, { is_deleted: true }),
  ]
  const connection = await connectWith(tenant, { connector: 'pipedrive', credentials: { api_token: API_TOKEN } })
  expect((await connection.pulled()).deals).toMatchObject({ accepted: 5, failed: 1 })
  expect(await connection.errors()).toMatchObject([{ object: 'deals', external_id: '3', code: 'unknown_contact' }])

  const [first, second] = await Promise.all([1, 2].map((at) => tenant.contactOf(`person${at}@example.com`)))
  const data = { deal_id: '1', deal_name: 'Deal 1', pipeline: 'Engines', amount: 900.5, currency: 'EUR' }
  expect(await eventsOf(tenant, first?.contact_id)).toMatchObject([
    { event: 'deal_created', timestamp: '2026-01-01T00:00:00.000Z', data },
    { event: 'deal_stage_changed', timestamp: '2026-01-02T00:00:00.000Z', data: { ...data, stage: 'Offer' } },
    { event: 'deal_won', timestamp: '2026-01-03T00:00:00.000Z', data: { ...data, stage: 'Offer' } },
  ])
  expect(await eventsOf(tenant, second?.contact_id)).toMatchObject([
    { event: 'deal_created', data: { stage: 'Qualified' } },
    { event: 'deal_lost', timestamp: '2026-01-04T00:00:00.000Z', data: { stage: 'Qualified' } },
  ])

  // Somebody corrects when and by whom it was won. That is no second sale.
  account.deals[0] = deal(1, 2, { ...won, won_time: '2026-02-20T00:00:00Z', update_time: justNow() })
  expect((await connection.pull()).deals).toEqual({ updated: 1, unchanged: 3 })
})
