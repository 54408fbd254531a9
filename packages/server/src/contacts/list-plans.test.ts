import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { explainPages } from '../../test/page-plans.ts'
import { createTestTenant, sharedService } from '../../test/service.ts'
import { type ContactOrder, listContacts } from './list.ts'

const CONTACTS = 3_000
const LIMIT = 20
/** The first page, and one of contacts without a value, which come last. */
const WITH_VALUES = 1
const WITHOUT_VALUES = (CONTACTS * 2) / 3 / LIMIT + 5
const DIRECTIONS = ['asc', 'desc'] as const

let explain: ReturnType<typeof explainPages>

beforeAll(async () => {
  const service = await sharedService()
  const { id } = await createTestTenant(service)
  // Every third one has neither an email nor another value.
  await sql`INSERT INTO contacts (tenant_id, contact_id, email, properties, creation_source, first_seen_at, created_at, updated_at)
    SELECT ${id}::uuid, gen_random_uuid(), CASE WHEN n % 3 > 0 THEN 'c' || n || '@example.com' END,
      CASE WHEN n % 3 > 0 THEN jsonb_build_object('firstname', 'F' || n % 70, 'lastname', 'L' || n, 'company', 'C' || n % 7) ELSE '{}' END,
      'import', now(), now() - n * interval '1 second', now()
    FROM generate_series(1, ${CONTACTS}::int) AS n`.execute(service.stores.database)
  await sql`ANALYZE contacts`.execute(service.stores.database)
  explain = explainPages(service, id)
})

const planOf = (order: ContactOrder, page: number) =>
  explain((tenant) =>
    listContacts(
      tenant,
      {},
      { page: { page, limit: LIMIT }, order, projection: { kind: 'full' }, withProvenance: false },
    ),
  )

describe.each(DIRECTIONS)('in the order %s', (direction) => {
  test.each([
    ['createdate', WITH_VALUES, 'contacts_newest'],
    ['firstname', WITH_VALUES, 'contacts_by_firstname'],
    ['firstname', WITHOUT_VALUES, 'contacts_by_firstname'],
    ['lastname', WITH_VALUES, 'contacts_by_lastname'],
    ['lastname', WITHOUT_VALUES, 'contacts_by_lastname'],
    ['company', WITH_VALUES, 'contacts_by_company'],
    ['company', WITHOUT_VALUES, 'contacts_by_company'],
  ] as const)('a list sorted by %s, page %i, is read from %s without sorting', async (sortBy, page, index) => {
    expect(await planOf({ sortBy, direction }, page)).toEqual({ steps: ['Limit', 'Index Scan'], index })
  })

  test('a list sorted by email is read from the unique index, and only equal emails are sorted', async () => {
    // The planner does not conclude that there are none.
    const steps = ['Limit', 'Result', 'Incremental Sort', 'Index Scan']
    const index = 'contacts_tenant_id_email_key'
    expect(await planOf({ sortBy: 'email', direction }, WITH_VALUES)).toEqual({ steps, index })
  })
})
