import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { COMPANY_FACETS, CONTACT_FACETS } from './facets.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty } from './property-catalogue.ts'

let service: TestService
let tenant: TestTenant

interface Listed {
  contact_id: string
  properties: Record<string, unknown>
}

const PEOPLE: [email: string, properties: Record<string, unknown>][] = [
  [
    'ana@acme.example',
    {
      firstname: 'Ana',
      lastname: 'Zimmer',
      company: 'Acme',
      jobtitle: 'Head of Growth',
      country: 'DE',
      lifecyclestage: 'lead',
    },
  ],
  [
    'bob@acme.example',
    {
      firstname: 'bob',
      lastname: 'Young',
      company: 'acme',
      jobtitle: 'CTO',
      country: 'DE',
      city: 'Berlin',
      lifecyclestage: 'customer',
    },
  ],
  [
    'cy@other.example',
    { firstname: 'Cy', lastname: 'Xu', country: 'US', lead_status: 'open', industry: 'Software', state: 'CA' },
  ],
  [
    'dee@other.example',
    { lastname: 'Öz', jobtitle: '100%_growth\\hacker', linkedin_url: 'https://social.example/dee' },
  ],
  ['eve@other.example', { firstname: 'ÉVE', social_profile_url: '', company: 'x'.repeat(5_000) }],
]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  for (const [email, properties] of PEOPLE) await tenant.contact(email, properties)
  const other = await createTestTenant(service)
  await other.contact('ana@acme.example', { country: 'DE' })
})

async function namesOf(query: string): Promise<string[]> {
  const { status, body } = await tenant.call('GET', `/v1/contacts?${query}`)
  expect(status, JSON.stringify(body)).toBe(200)
  const names = body.contacts.map(({ properties }: Listed) => String(properties.email).split('@')[0])
  expect(body.pagination.total_items).toBeGreaterThanOrEqual(names.length)
  return names
}

test.each([
  ['', ['eve', 'dee', 'cy', 'bob', 'ana']],
  ['sort_dir=asc', ['ana', 'bob', 'cy', 'dee', 'eve']],
  ['country=DE', ['bob', 'ana']],
  ['country=de', []],
  ['country=DE&lifecycle_stage=lead', ['ana']],
  ['city=Berlin', ['bob']],
  ['state=CA&industry=Software&lead_status=open', ['cy']],
  ['job_title=growth', ['dee', 'ana']],
  ['job_title=%25_', ['dee']],
  ['job_title=%5C', ['dee']],
  ['has_linkedin=true', ['dee']],
  ['has_social_profile=1', ['dee']],
  ['has_linkedin=false', ['eve', 'cy', 'bob', 'ana']],
  ['status=enriched', []],
  ['status=not_enriched&country=US', ['cy']],
  ['search=ACME', ['bob', 'ana']],
  ['search=acme%20head', ['ana']],
  ['search=%20%20', ['eve', 'dee', 'cy', 'bob', 'ana']],
  ['search=%C3%A9ve', ['eve']],
  ['search=%C3%96Z', ['dee']],
  ['search=%25', ['dee']],
  ['search=_', ['dee']],
  ["search=';DROP TABLE contacts;--", []],
  ['search=zimmer acme cto', []],
  ['sort_by=firstname&sort_dir=asc', ['ana', 'bob', 'cy', 'eve', 'dee']],
  ['sort_by=firstname&sort_dir=desc', ['eve', 'cy', 'bob', 'ana', 'dee']],
  ['sort_by=lastname&sort_dir=asc', ['cy', 'bob', 'ana', 'dee', 'eve']],
  ['sort_by=company&sort_dir=desc', ['eve', 'bob', 'ana', 'dee', 'cy']],
  ['sort_by=email&sort_dir=desc', ['eve', 'dee', 'cy', 'bob', 'ana']],
  ['company_id=nope', []],
  ['created_before=2020-01-01', []],
  ['created_after=2020-01-01T00:00:00%2B02:00&limit=1', ['eve']],
  ['page=3&limit=2', ['ana']],
  ['page=4&limit=2', []],
  ['page=2147483647', []],
])('%s lists %j', async (query, names) => {
  const ids = await namesOf(query)
  // Contacts with equal sort values may be in either order; only `company` has such a pair.
  expect(query.startsWith('sort_by=company') ? new Set(ids) : ids).toEqual(
    query.startsWith('sort_by=company') ? new Set(names) : names,
  )
})

test.each([
  'limit=0',
  'limit=101',
  'limit=1e1',
  'limit=%201',
  'limit=',
  'page=0',
  'page=-1',
  'page=2147483648',
  'page=1&page=2',
  'sort_by=age',
  'sort_dir=up',
  'lifecycle_stage=unknown',
  'status=new',
  'has_linkedin=maybe',
  'count_only=TRUE',
  'include=raw',
  'country=',
  'created_after=2026-13-45',
  'created_after=2026-02-30',
  'created_after=2026-01-01T00:00:00',
  'created_before=yesterday',
  'search=%00',
  `search=${'x'.repeat(1_001)}`,
])('%s is 400 and names the parameter', async (query) => {
  const { status, body } = await tenant.call('GET', `/v1/contacts?${query}`)
  expect([status, body.error?.code]).toEqual([400, 'validation_error'])
  expect(body.error.details[0].path).toBe(query.split('=')[0])
})

test('count_only returns only the count', async () => {
  const { body } = await tenant.call('GET', '/v1/contacts?count_only=true&country=DE')
  expect(body).toEqual({ status: 'success', count: 2 })
  const all = await tenant.call('GET', '/v1/contacts?count_only=1')
  expect(all.body.count).toBe(PEOPLE.length)
})

test('an unknown parameter is ignored with a warning that names the nearest known one', async () => {
  const { status, body } = await tenant.call('GET', '/v1/contacts?countri=DE&zzzzzzzzz=1')
  expect(status).toBe(200)
  expect(body.warnings).toEqual([
    "unknown query parameter 'countri' was ignored; did you mean 'country'?",
    "unknown query parameter 'zzzzzzzzz' was ignored",
  ])
})

test('fields=summary returns the summary; a list of names returns those fields, except internal ones', async () => {
  const summary = await tenant.call('GET', '/v1/contacts?fields=summary&search=bob')
  expect(summary.body.contacts[0]).toEqual({
    contact_id: expect.any(String),
    _id: expect.any(String),
    properties: {
      email: 'bob@acme.example',
      firstname: 'bob',
      lastname: 'Young',
      company: 'acme',
      jobtitle: 'CTO',
      lifecyclestage: 'customer',
    },
    company_id: null,
    created_at: expect.any(String),
  })
  const named = await tenant.call(
    'GET',
    '/v1/contacts?fields=city,created_at,tenant_id,properties_provenance,nope&search=bob',
  )
  expect(named.body.contacts[0]).toEqual({
    contact_id: expect.any(String),
    _id: expect.any(String),
    properties: { city: 'Berlin' },
    created_at: expect.any(String),
  })
  const whole = await tenant.call('GET', '/v1/contacts?fields=properties&search=bob')
  expect(Object.keys(whole.body.contacts[0]).sort()).toEqual(['_id', 'contact_id', 'properties'])
  expect(whole.body.contacts[0].properties.city).toBe('Berlin')
})

test('include=provenance adds the source of each value', async () => {
  const { body } = await tenant.call('GET', '/v1/contacts?include=provenance&search=bob')
  expect(body.contacts[0].properties_provenance.city).toEqual({ source: 'manual', updated_at: expect.any(String) })
})

test('lists include the 10 newest notes of each contact, a single contact up to 100', async () => {
  const id = await tenant.contact('noted@example.com')
  for (let n = 0; n < 12; n++) await tenant.call('POST', `/v1/contacts/${id}/notes`, { content: `note ${n}` })
  const list = await tenant.call('GET', '/v1/contacts?search=noted')
  expect(list.body.contacts[0].notes.map(({ content }: { content: string }) => content)).toEqual(
    Array.from({ length: 10 }, (_, n) => `note ${11 - n}`),
  )
  const one = await tenant.call('GET', `/v1/contacts/${id}`)
  expect(one.body.contact.notes).toHaveLength(12)
  await tenant.call('DELETE', `/v1/contacts/${id}`)
})

test('paging shows every contact once, in any sort order', async () => {
  const own = await createTestTenant(service)
  // Many equal and missing values, so that only the tie-break keeps the pages apart.
  await Promise.all(
    Array.from({ length: 37 }, (_, n) =>
      own.contact(`p${n}@example.com`, n % 3 === 0 ? {} : { firstname: `name${n % 2}`, company: 'same' }),
    ),
  )
  for (const sort_by of ['email', 'firstname', 'lastname', 'company', 'createdate']) {
    for (const sort_dir of ['asc', 'desc']) {
      const seen: string[] = []
      for (let page = 1; page <= 4; page++) {
        const { body } = await own.call(
          'GET',
          `/v1/contacts?sort_by=${sort_by}&sort_dir=${sort_dir}&limit=10&page=${page}`,
        )
        expect(body.pagination).toEqual({ page, limit: 10, total_pages: 4, total_items: 37 })
        seen.push(...body.contacts.map(({ contact_id }: Listed) => contact_id))
      }
      expect(new Set(seen).size).toBe(37)
    }
  }
})

test.each(['createdate', 'email', 'firstname'])(
  'a deep page, sorted by %s, goes on where the one before ended',
  async (by) => {
    const own = await createTestTenant(service)
    await sql`INSERT INTO contacts (tenant_id, contact_id, email, properties, creation_source, first_seen_at, created_at, updated_at)
    SELECT ${own.id}::uuid, gen_random_uuid(), 'c' || n || '@example.com', jsonb_build_object('firstname', 'F' || n % 7), 'import',
      now(), now() - n * interval '1 second', now()
    FROM generate_series(1, 10150) AS n`.execute(service.stores.database)
    const idsOf = async (page: number, limit: number): Promise<string[]> => {
      const { body } = await own.call('GET', `/v1/contacts?sort_by=${by}&page=${page}&limit=${limit}`)
      return body.contacts.map((contact: Listed) => contact.contact_id)
    }
    const pages = [...(await idsOf(100, 100)), ...(await idsOf(101, 100)), ...(await idsOf(102, 100))]
    expect(pages.length).toBe(250)
    const row = await own.handle.db
      .selectFrom('contacts')
      .select('contact_id')
      .orderBy(by === 'createdate' ? 'created_at' : by === 'email' ? 'email' : 'sort_firstname', 'desc')
      .orderBy('contact_id', 'desc')
      .offset(9_900)
      .limit(250)
      .execute()
    expect(pages).toEqual(row.map(({ contact_id }) => contact_id))
  },
)

test('the stored count equals the number of contacts after any creations and deletions', async () => {
  const own = await createTestTenant(service)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 12 }), async (steps) => {
      for (const n of steps) {
        const known = await own.handle.db
          .selectFrom('contacts')
          .select('contact_id')
          .where('email', '=', `s${n}@example.com`)
          .executeTakeFirst()
        if (known) await own.call('DELETE', `/v1/contacts/${known.contact_id}`)
        else await own.contact(`s${n}@example.com`)
      }
      const rows = await own.handle.db.selectFrom('contacts').select('contact_id').execute()
      const { body } = await own.call('GET', '/v1/contacts?count_only=true')
      expect(body.count).toBe(rows.length)
    }),
    { numRuns: 8 },
  )
})

test('the tables have a facet for exactly those properties of which the catalogue says so', async () => {
  const own = await createTestTenant(service)
  const values = Object.fromEntries(
    Object.entries({ ...CONTACT_PROPERTIES, ...COMPANY_PROPERTIES }).flatMap(([name, property]) => {
      const { isColumn, choices: [value = 'x'] = [] }: KnownProperty = property
      return isColumn || name.endsWith('_url') ? [] : [[name, value]]
    }),
  )
  await own.contact('facets@example.com', values)
  await own.call('POST', '/v1/companies', { name: 'Facets', properties: values })
  const facetsIn = async (table: 'contacts' | 'companies') => {
    const rows = service.stores.database.selectFrom(table).select('facets').where('tenant_id', '=', own.id)
    const { facets } = await rows.executeTakeFirstOrThrow()
    return facets?.map((facet) => facet.replace(/=.*/, '')).sort()
  }
  expect(await facetsIn('contacts')).toEqual(Object.values(CONTACT_FACETS).sort())
  expect(await facetsIn('companies')).toEqual(Object.values(COMPANY_FACETS).sort())
})
