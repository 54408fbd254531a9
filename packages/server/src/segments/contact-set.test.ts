import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { belongs, filters, loadCompanies, loadPeople, NOW, type Person, people } from '../../test/conditions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { INSIGHT_SERVICES } from './events.ts'

let service: TestService
let tenant: TestTenant
let persons: Person[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  persons = fc.sample(people, { numRuns: 150, seed: 47 })
  await loadCompanies(tenant)
  await loadPeople(service, tenant, persons)
})

async function contactsInSetOf(filter: unknown): Promise<string[]> {
  const context = { now: NOW, visibleOnly: false, requireScope: () => {} }
  const setId = await INSIGHT_SERVICES.copyPeople(tenant.handle, filter, context)
  const rows = await service.stores.clickhouse.query<{ contact_id: string }>(
    'SELECT contact_id FROM contact_sets WHERE tenant_id = {tenant: UUID} AND set_id = {set: UUID}',
    { tenant: tenant.id, set: setId },
  )
  return rows.map(({ contact_id }) => contact_id).sort()
}

test('the set of a random filter has the same contacts as the simple implementation', async () => {
  await fc.assert(
    fc.asyncProperty(filters, async (sent) => {
      const filter = JSON.parse(JSON.stringify(sent))
      const expected = persons.filter((person) => belongs(filter, person)).map(({ contactId }) => contactId)
      expect(await contactsInSetOf(filter), JSON.stringify(filter)).toEqual(expected.sort())
    }),
    { numRuns: 100, seed: 47 },
  )
})

test('the set of a segment has its members', async () => {
  const filter = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }
  const { body } = await tenant.call('POST', '/v1/segments', { name: 'With an address', filter })
  await expect
    .poll(async () => (await tenant.call('GET', `/v1/segments/${body.segment.segment_id}`)).body.segment.counting)
    .toBe(false)
  const inSegment = (operator: string) => ({
    match: 'all',
    conditions: [{ property: 'segment', operator, value: [body.segment.segment_id] }],
  })
  const [members, others] = [await contactsInSetOf(inSegment('in')), await contactsInSetOf(inSegment('not_in'))]
  const withAddress = persons.filter(({ email }) => email !== null).map(({ contactId }) => contactId)
  expect(members).toEqual(withAddress.sort())
  expect([...members, ...others].sort()).toEqual(persons.map(({ contactId }) => contactId).sort())
})

test('the set of contacts that nobody meets is empty', async () => {
  const filter = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: newId() }] }
  expect(await contactsInSetOf(filter)).toEqual([])
})
