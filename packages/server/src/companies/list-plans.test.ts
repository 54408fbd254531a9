import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { explainPages } from '../../test/page-plans.ts'
import { createTestTenant, sharedService } from '../../test/service.ts'
import { listCompanies } from './list.ts'

const COMPANIES = 3_000
const LIMIT = 20
/** The first page, and one of companies without a name, which come last. */
const WITH_NAMES = 1
const WITHOUT_NAMES = (COMPANIES * 2) / 3 / LIMIT + 5

let explain: ReturnType<typeof explainPages>

beforeAll(async () => {
  const service = await sharedService()
  const { id } = await createTestTenant(service)
  await sql`INSERT INTO companies (tenant_id, company_id, domain, name, created_at, updated_at)
    SELECT ${id}::uuid, gen_random_uuid(), 'd' || n || '.example', CASE WHEN n % 3 > 0 THEN 'N' || n % 70 END,
      now() - n * interval '1 second', now()
    FROM generate_series(1, ${COMPANIES}::int) AS n`.execute(service.stores.database)
  await sql`ANALYZE companies`.execute(service.stores.database)
  explain = explainPages(service, id)
})

test.each([
  ['createdate', 'asc', WITH_NAMES, 'companies_newest'],
  ['createdate', 'desc', WITH_NAMES, 'companies_newest'],
  ['name', 'asc', WITH_NAMES, 'companies_name'],
  ['name', 'desc', WITH_NAMES, 'companies_name'],
  ['name', 'asc', WITHOUT_NAMES, 'companies_name'],
  ['name', 'desc', WITHOUT_NAMES, 'companies_name'],
] as const)(
  'a list sorted by %s, %s, page %i, is read from %s without sorting',
  async (sortBy, direction, page, index) => {
    const plan = await explain((tenant) => listCompanies(tenant, {}, { sortBy, direction }, { page, limit: LIMIT }))
    expect(plan).toEqual({ steps: ['Limit', 'Index Scan'], index })
  },
)
