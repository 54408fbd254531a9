import { beforeAll, describe, expect, test } from 'vitest'
import { EVENT_DIMENSIONS } from '../../src/aggregate/event-dimensions.ts'
import { COMPANY_DIMENSIONS } from '../../src/companies/dimensions.ts'
import { CONTACT_DIMENSIONS } from '../../src/contacts/dimensions.ts'
import { createTestTenant, sharedService, type TestTenant } from '../service.ts'
import { changesAreKnown } from '../webhooks.ts'

/**
 * Chapter 4: a dimension, something that `POST /v1/aggregate` groups by.
 *
 * It is one entry: an expression in the SQL of the database that has the records, a kind, a description, and what its values say about
 * people.
 *
 * - events, in ClickHouse: `aggregate/event-dimensions.ts`
 * - contacts and companies, in PostgreSQL: `contacts/dimensions.ts`, `companies/dimensions.ts`
 *
 * The kind decides what a group without a value means: with `id` it is left out, with any other it is the group `null`; periods such as
 * `day` are sorted by time. The documentation and what AI agents see follow from the entry. Any other name is a property's, which needs
 * no entry.
 */
const DIMENSIONS = {
  contacts: CONTACT_DIMENSIONS,
  companies: COMPANY_DIMENSIONS,
  events: EVENT_DIMENSIONS,
} satisfies Record<string, Readonly<Record<string, { description: string }>>>

let tenant: TestTenant
beforeAll(async () => {
  const service = await sharedService()
  tenant = await createTestTenant(service)
  const { company } = (await tenant.call('POST', '/v1/companies', { name: 'Engines', domain: 'engines.example' })).body
  await tenant.contact(
    'ada@engines.example',
    { jobtitle: 'Analyst' },
    { visitor_id: 'v', company_id: company.company_id },
  )
  const url = `https://${tenant.site}/pricing?utm_source=mail`
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url, title: 'Pricing' }, { event: 'ordered' }] })
  await changesAreKnown(service)
})

describe.each(Object.entries(DIMENSIONS))('%s', (entity, dimensions) => {
  test('each dimension groups the records, and its groups add up to them', async () => {
    for (const group_by of Object.keys(dimensions)) {
      const { status, body } = await tenant.call('POST', '/v1/aggregate', { entity, group_by })
      expect([group_by, status]).toEqual([group_by, 200])
      const counted = body.buckets.reduce((sum: number, { value }: { value: number }) => sum + value, 0)
      // Records without an id are in no group.
      if (group_by.endsWith('_id')) expect(counted, group_by).toBeLessThanOrEqual(body.total)
      else expect(counted, group_by).toBe(body.total)
      expect(body.total, group_by).toBeGreaterThan(0)
    }
  })

  test('each is described, and what is no dimension is a property', async () => {
    for (const [name, { description }] of Object.entries(dimensions)) expect(description, name).toMatch(/\.$/)
    const { status, body } = await tenant.call('POST', '/v1/aggregate', { entity, group_by: 'shoe_size' })
    expect([status, body.buckets.map(({ key }: { key: unknown }) => key)]).toEqual([200, [null]])
    expect(body.warnings).toEqual([expect.stringContaining('has the property shoe_size')])
  })
})

/*
 * What it owes, and the test that says so:
 *
 * - a simple implementation in `aggregate/events.test.ts` or `records.test.ts`, which compare every dimension with it over random
 *   records; a dimension without one fails;
 * - what its values say about people: its `mark`, without which it does not compile; `mcp/redaction/tools.test.ts` shows every dimension
 *   to an AI agent;
 * - a filter, if users can ask for the records of a group: `events/filters.ts`, `contacts/list.ts`, `companies/list.ts`;
 * - a look at `EXPLAIN indexes = 1` (events) or `EXPLAIN (ANALYZE, BUFFERS)` at a large tenant: `plans.test.ts` and
 *   `list-plans.test.ts` have the queries that must stay fast;
 * - `npm run generate`, because openapi.json lists the names.
 */
