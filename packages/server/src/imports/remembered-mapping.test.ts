import { beforeAll, beforeEach, expect, test } from 'vitest'
import { act, importWithCommand, uploaded } from '../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Import } from './import-object.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const FIRST = 'Mail,City,Signed,Notes\nada@x.example,Rome,03/04/2026,7\n'
const NEXT = 'signed,Notes,MAIL,city\n05/06/2026,8,bob@x.example,Oslo\n'
const CHOSEN = [
  { column: 0, target: 'email' },
  { column: 1, target: 'property', property: 'office' },
  { column: 2, target: 'property', property: 'signed_at', type: 'date', format: 'day_first' },
]

/** Imports the first file with a mapping that nothing would suggest. */
async function importFirst(): Promise<void> {
  const found = await uploaded(tenant, FIRST, 'first.csv')
  await tenant.call('PUT', `/v1/imports/${found.import_id}/mapping`, { columns: CHOSEN })
  await act(tenant, found, 'start', 'completed')
}

const targets = ({ columns, mapping }: Import) =>
  Object.fromEntries(mapping.map((each) => [columns[each.column]?.header, each.property ?? each.target]))

async function propertiesOf(email: string) {
  return (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0]?.properties
}

test('the next file with the same columns goes where the last one went, in whatever order they are', async () => {
  const before = await uploaded(tenant, FIRST, 'before.csv')
  expect(before.remembered).toBe(null)
  await importFirst()
  const next = await uploaded(tenant, NEXT, 'next.csv')
  expect(next.remembered).toEqual({ file_name: 'first.csv', used_at: expect.any(String) })
  expect(targets(next)).toEqual({ MAIL: 'email', city: 'office', signed: 'signed_at' })
  expect(next.columns.map(({ note, is_ambiguous }) => [note, is_ambiguous])).toEqual(Array(4).fill([null, false]))
  await act(tenant, next, 'start', 'completed')
  expect(await propertiesOf('bob@x.example')).toEqual({
    email: 'bob@x.example',
    office: 'Oslo',
    signed_at: '2026-06-05',
  })
})

test('a person can start over, and reading the file in another way proposes it again', async () => {
  await importFirst()
  const next = await uploaded(tenant, NEXT, 'next.csv')
  const read = async (body: object) =>
    (await tenant.call('PUT', `/v1/imports/${next.import_id}/format`, body)).body.import as Import
  const fresh = await read({ use_remembered: false })
  expect(fresh.remembered).toBe(null)
  expect(targets(fresh)).toEqual({ signed: 'signed', Notes: 'Notes', MAIL: 'email', city: 'city' })
  expect((await read({})).remembered).toMatchObject({ file_name: 'first.csv' })
})

test.each([
  ['another column', 'Mail,City,Signed,Notes,Plan\n'],
  ['one column less', 'Mail,City,Signed\n'],
  ['no header', 'ada@x.example,Rome,03/04/2026,7\n'],
])('a file with %s has a shape of its own', async (_, text) => {
  await importFirst()
  expect((await uploaded(tenant, text)).remembered).toBe(null)
})

test('another tenant does not see it', async () => {
  await importFirst()
  tenant = await createTestTenant(service)
  expect((await uploaded(tenant, NEXT)).remembered).toBe(null)
})

test('the command line uses it, with its types', async () => {
  await importFirst()
  await importWithCommand(service, tenant, NEXT)
  expect(await propertiesOf('bob@x.example')).toMatchObject({ office: 'Oslo', signed_at: '2026-06-05' })
})

test('the last mapping counts, and only the latest hundred are remembered', async () => {
  await importFirst()
  const next = await uploaded(tenant, NEXT, 'next.csv')
  const columns = [{ column: 2, target: 'email' }]
  await tenant.call('PUT', `/v1/imports/${next.import_id}/mapping`, { columns })
  await act(tenant, next, 'start', 'completed')
  expect(targets(await uploaded(tenant, FIRST))).toEqual({ Mail: 'email' })

  const rows = Array.from({ length: 120 }, (_, n) => ({
    shape: `s${n}`,
    file_name: 'x.csv',
    columns: '[]',
    used_at: new Date(2020, 0, 1, 0, n),
  }))
  await tenant.handle.db.insertInto('import_mappings').values(rows).execute()
  await act(tenant, await uploaded(tenant, FIRST), 'start', 'completed')
  const { count } = await tenant.handle.db
    .selectFrom('import_mappings')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  expect(count).toBe(100)
})
