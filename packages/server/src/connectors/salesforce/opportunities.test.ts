import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ConnectedSystem, connectedTo, startConnectedSystem } from '../../../test/connected-system.ts'
import { connectBySignIn, eventsOf } from '../../../test/connections.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import { contact, idOf, record, SalesforceOrganization } from '../../../test/salesforce.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

let organization: SalesforceOrganization
let system: ConnectedSystem
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  system = await startConnectedSystem(makeCertificate(), (request) => organization.respond(request))
  const providerUrls = { salesforce: system.url }
  service = await startTestService({}, { ...connectedTo(system, 'salesforce'), providerUrls })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  organization = new SalesforceOrganization()
})
afterAll(async () => {
  await service?.close()
  await system?.close()
})

const of = (sobject: string) => organization.records[sobject] ?? []
const DAY = (day: number) => `2026-01-0${day}T09:00:00.000Z`
let numbers = 0

function addOpportunity(number: number, more: Record<string, string | number | boolean>): string {
  const id = idOf('006', number)
  const usual = { Name: `Engine ${number}`, Amount: 900.5, CurrencyIsoCode: 'EUR', IsClosed: false, IsWon: false }
  of('Opportunity').push(record(id, { ...usual, CreatedDate: DAY(1), LastModifiedDate: DAY(5), ...more }))
  return id
}

function addRole(OpportunityId: string, person: number, IsPrimary: boolean): void {
  const role = { OpportunityId, ContactId: idOf('003', person), IsPrimary, CreatedDate: DAY(1) }
  of('OpportunityContactRole').push(record(idOf('00K', ++numbers), role))
}

function addHistory(OpportunityId: string, ...stages: [day: number, StageName: string][]): void {
  for (const [day, StageName] of stages) {
    of('OpportunityHistory').push(record(idOf('008', ++numbers), { OpportunityId, StageName, CreatedDate: DAY(day) }))
  }
}

describe('opportunities of Salesforce', () => {
  test('are events of their primary contact, from the history of their stages', async () => {
    organization.pageSize = 2
    of('Contact').push(contact(1), contact(2))
    const won = addOpportunity(1, { StageName: 'Closed Won', IsClosed: true, IsWon: true })
    addRole(won, 1, false)
    addRole(won, 2, true)
    // The second entry is a change of the amount.
    addHistory(won, [1, 'Prospecting'], [2, 'Prospecting'], [3, 'Proposal'], [4, 'Closed Won'])
    addOpportunity(2, { StageName: 'Prospecting' })
    const connection = await connectBySignIn(tenant, 'salesforce')
    expect((await connection.pulled()).opportunities).toEqual({ accepted: 3 })
    const { contact_id } = await tenant.contactOf('person2@example.com')
    const data = { deal_id: won, deal_name: 'Engine 1', amount: 900.5, currency: 'EUR' }
    const offer = 'Proposal/Price Quote'
    expect(await eventsOf(tenant, contact_id)).toMatchObject([
      { event: 'deal_created', timestamp: DAY(1), data: { ...data, stage: 'Prospecting' } },
      {
        event: 'deal_stage_changed',
        timestamp: DAY(3),
        data: { ...data, stage: offer, previous_stage: 'Prospecting' },
      },
      { event: 'deal_won', timestamp: DAY(4), data: { ...data, stage: 'Closed Won', previous_stage: offer } },
    ])
    expect((await connection.reread()).opportunities).toEqual({ unchanged: 3 })
  })

  test('are read without the history of stages, and not without the roles of contacts', async () => {
    organization.hidden = ['OpportunityHistory']
    of('Contact').push(contact(1))
    const lost = addOpportunity(1, { StageName: 'Closed Lost', IsClosed: true, LastStageChangeDate: DAY(4) })
    addRole(lost, 1, false)
    const connection = await connectBySignIn(tenant, 'salesforce')
    expect((await connection.pulled()).opportunities).toEqual({ accepted: 2 })
    const { contact_id } = await tenant.contactOf('person1@example.com')
    expect(await eventsOf(tenant, contact_id)).toMatchObject([
      { event: 'deal_created', timestamp: DAY(1) },
      { event: 'deal_lost', timestamp: DAY(4), data: { stage: 'Closed Lost' } },
    ])
    organization.hidden = ['OpportunityContactRole']
    expect((await connection.reread()).opportunities).toEqual({ failed: 1 })
    const hidden = { object: 'opportunities', external_id: 'OpportunityContactRole', code: 'object_not_visible' }
    expect(await connection.errors()).toMatchObject([hidden])
  })
})
