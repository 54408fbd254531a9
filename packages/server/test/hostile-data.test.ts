import { beforeAll, describe, expect, test } from 'vitest'
import { createSegment } from '../src/segments/segments.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

/** Regression tests for bugs found by a hostile review of the data API. */
let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const SPACES = ['\u00a0', '\u2009', '\u3000', '\ufeff']

async function segment(of: TestTenant, filter: unknown): Promise<string> {
  const { segmentId } = await createSegment(of.handle, { name: 'S', description: null, filter }, new Date())
  return segmentId
}

const segmentsOf = async (of: TestTenant, id: string) =>
  (await of.call('GET', `/v1/contacts/${id}`)).body.contact.segment_ids as string[]

describe('a number with Unicode spaces that PostgreSQL does not trim', () => {
  test('is not a number, and no error, wherever numbers are compared', async () => {
    const gt = await segment(tenant, {
      match: 'all',
      conditions: [{ property: 'score', operator: 'gt', value: 1 }],
    })
    for (const [index, space] of SPACES.entries()) {
      const response = await call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
        headers: { origin: `https://${tenant.site}` },
        body: JSON.stringify({
          contact_data: { email: `s${index}@example.com`, score: `5${space}` },
          company_data: { domain: `s${index}.example`, numberOfEmployees: `${space}50` },
        }),
      })
      expect(response.status).toBe(200)
      expect(await segmentsOf(tenant, response.body.contact_id)).not.toContain(gt)
    }
    expect((await tenant.call('GET', '/v1/companies?min_employees=1&count_only=1')).body.count).toBe(0)
    const sizes = await tenant.call('POST', '/v1/aggregate', { entity: 'companies', group_by: 'size_bucket' })
    expect(sizes.body.buckets).toEqual([{ key: null, value: SPACES.length }])
    const sum = await tenant.call('POST', '/v1/aggregate', {
      entity: 'contacts',
      group_by: 'city',
      metric: 'sum',
      metric_field: 'score',
    })
    expect(sum.body.buckets).toEqual([{ key: null, value: null }])
    const plain = await tenant.contact('plain@example.com', { score: ' \t5\n' })
    await expect.poll(() => segmentsOf(tenant, plain)).toContain(gt)
  })
})

describe('deleting a company', () => {
  test('removes its contacts at once from segments that depend on a company', async () => {
    const own = await createTestTenant(service)
    const withCompany = await segment(own, {
      match: 'all',
      conditions: [{ property: 'company_id', operator: 'is_set' }],
    })
    const { body } = await own.call('POST', '/v1/companies', { domain: 'gone.example' })
    const id = await own.contact('ada@gone.example', {}, { company_id: body.company.company_id })
    await expect.poll(() => segmentsOf(own, id)).toEqual([withCompany])
    await own.call('DELETE', `/v1/companies/${body.company.company_id}`)
    expect(await segmentsOf(own, id)).toEqual([])
    const counted = async () => (await own.call('GET', `/v1/segments/${withCompany}`)).body.segment.contact_count
    await expect.poll(counted).toBe(0)
  })

  test('during pushes that use it returns no 500', async () => {
    const records = Array.from({ length: 40 }, (_, n) => ({
      external_id: `w${n}`,
      properties: { company_domain: 'race.example', n },
    }))
    for (let round = 0; round < 4; round++) {
      const pushes = [0, 1, 2].map((n) => tenant.call('POST', `/v1/sources/s${n}/contacts`, { records }))
      const { body } = await tenant.call('GET', '/v1/companies?domain=race.example')
      const deletions = body.companies.map(({ company_id }: { company_id: string }) =>
        tenant.call('DELETE', `/v1/companies/${company_id}`),
      )
      const responses = await Promise.all([...pushes, ...deletions])
      for (const { status } of responses) expect([200, 404]).toContain(status)
    }
  })
})

test('a value removed by hand is not restored by an older push', async () => {
  const record = (city: string, updated_at: string) => ({
    records: [{ external_id: 'r1', email: 'r@example.com', properties: { city }, updated_at }],
  })
  const first = await tenant.call('POST', '/v1/sources/hubspot/contacts', record('London', '2020-01-01T00:00:00Z'))
  const id = first.body.results[0].contact_id
  await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { city: null } })
  await tenant.call('POST', '/v1/sources/hubspot/contacts', record('London', '2020-01-01T00:00:00Z'))
  await tenant.call('POST', '/v1/sources/hubspot/contacts', record('Paris', '2020-02-01T00:00:00Z'))
  const older = await tenant.call('GET', `/v1/contacts/${id}`)
  expect(older.body.contact.properties).not.toHaveProperty('city')
  // The removal is not a value in the profile.
  expect(older.body.unified_profile.profile.city).toMatchObject({ has_conflict: false, all_sources: ['hubspot'] })
  await tenant.call('POST', '/v1/sources/hubspot/contacts', record('Rome', '2100-01-01T00:00:00Z'))
  expect((await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.properties.city).toBe('Rome')
})

test('a record with values of wrong types fails alone; null counts as absent', async () => {
  const wrong = [{ email: 5 }, { properties: [] }, { properties: 7 }, { updated_at: 5 }]
  const blank = [{ email: null }, { properties: null }, { updated_at: null }]
  const records = [...wrong, ...blank].map((record, n) => ({ external_id: `t${n}`, ...record }))
  const { status, body } = await tenant.call('POST', '/v1/sources/types/contacts', { records })
  expect(status).toBe(200)
  const statuses = body.results.map((result: { status: string }) => result.status)
  expect(statuses).toEqual(['failed', 'failed', 'failed', 'failed', 'created', 'created', 'created'])
})

test('raw keeps the order of its keys', async () => {
  const raw = { Id: 7, b: 1, a: { z: 1, y: [2] } }
  const { body } = await tenant.call('POST', '/v1/sources/verbatim/contacts', { records: [{ external_id: 'v', raw }] })
  const read = await tenant.call('GET', `/v1/contacts/${body.results[0].contact_id}?include=raw`)
  expect(JSON.stringify(read.body.unified_profile.raw_data.verbatim)).toBe(JSON.stringify(raw))
})
