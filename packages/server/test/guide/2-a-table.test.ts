import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TABLES } from '../../src/assembly/tables.ts'
import type { AnyTable } from '../../src/platform/postgres/table-rules.ts'
import { signedIn } from '../people.ts'
import { contactColumns, countRowsOf, insertRowOf } from '../rows-of-contact.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../service.ts'
import { until } from '../webhooks.ts'

/**
 * Chapter 2: a table.
 *
 * Write it into the `tables.sql` of its feature, with its indexes; a new feature's file is listed in `assembly/migrations.ts`.
 * Then `npm run generate`, and delete your development data (`./data`): before the first release nothing migrates it. Each row of a
 * tenant has a `tenant_id`, which comes first in the primary key.
 *
 * Then say what it is in the `tables.ts` beside it (`platform/postgres/table-rules.ts` explains each word); a new feature's is listed
 * in `assembly/tables.ts`. For tags of contacts, that is one line:
 *
 *     contact_tags: { key: ['contact_id', 'tag'], contact: 'moves', export: {} },
 *
 * Merges, unmerges, deletions, erasures, exports, new secret keys and retention follow from it. Until it is there, `npm run check`
 * does not compile, and this chapter fails.
 */

let service: TestService
let tables: Map<string, AnyTable>

beforeAll(async () => {
  service = await startTestService()
  tables = new Map(TABLES.map((table) => [table.name, table]))
})
afterAll(() => service?.close())

/** How foreign keys to contacts and their merges delete the rows of a table, and those to companies. */
async function deletions(parents: readonly string[]): Promise<Map<string, 'dies' | 'cleared'>> {
  const { rows } = await sql<{ table: string; type: string }>`
    SELECT conrelid::regclass::text AS table, confdeltype AS type FROM pg_constraint
    WHERE contype = 'f' AND confrelid::regclass::text = ANY(${parents}::text[])`.execute(service.stores.database)
  return new Map(rows.map(({ table, type }) => [table, type === 'c' ? 'dies' : 'cleared']))
}

/** What the tables of the service's database still have to say. */
async function owed(): Promise<Record<string, string[]>> {
  const { database } = service.stores
  const { rows: columns } = await sql<{ table: string; column: string }>`
    SELECT table_name AS table, column_name AS column FROM information_schema.columns
    WHERE table_schema = 'public'`.execute(database)
  const { rows: keys } = await sql<{ table: string; key: string[] }>`
    SELECT conrelid::regclass::text AS table, array_agg(attname::text ORDER BY position) AS key
    FROM pg_constraint, unnest(conkey) WITH ORDINALITY AS part (attnum, position), pg_attribute AS attribute
    WHERE contype = 'p' AND connamespace = 'public'::regnamespace AND attrelid = conrelid AND attribute.attnum = part.attnum
    GROUP BY conrelid`.execute(database)
  const [ofContact, withMerges] = [await deletions(['contacts']), await deletions(['contacts', 'contact_merges'])]
  const ofCompany = await deletions(['companies'])
  const named = new Set([...(await contactColumns(service.postgres.pool)).map(({ table }) => table), 'contacts'])
  const all = [...new Set(columns.map(({ table }) => table))].filter((table) => !table.startsWith('kysely_')).sort()
  const has = (table: string, column: string) => columns.some((each) => each.table === table && each.column === column)
  const known = (table: string) => tables.get(table) ?? { name: 'tenants', key: [] }
  const primary = new Map(keys.map(({ table, key }) => [table, key.filter((column) => column !== 'tenant_id')]))
  return {
    'a line in tables.ts': all.filter((table) => !tables.has(table)),
    'a table, because a line names it': [...tables.keys()].filter((table) => !all.includes(table)),
    'its primary key': all.filter((table) => String(known(table).key) !== String(primary.get(table) ?? [])),
    'what a merge does': all.filter((table) => named.has(table) && known(table).contact === undefined),
    'what an erasure does': all.filter((table) => {
      const { erase, erasedWith, hasOnlyIds } = known(table)
      const isGone = table === 'contacts' || withMerges.get(table) === 'dies'
      return named.has(table) && !isGone && !erase && !erasedWith && !hasOnlyIds
    }),
    'a table that erases for it': all.filter((table) => {
      const { erasedWith } = known(table)
      // What `erasures` erases is deleted when the erasure is verified.
      return erasedWith !== undefined && erasedWith !== 'erasures' && !tables.get(erasedWith)?.erase
    }),
    // A merge deletes the contact's row.
    'a move, because its foreign key cascades': all.filter((table) => {
      return known(table).contact === 'followed' && ofContact.get(table) === 'dies'
    }),
    'a foreign key that cascades': all.filter((table) => {
      const { contact, erase, name } = known(table)
      return (
        contact === 'dies' &&
        ofContact.get(table) !== 'dies' &&
        name !== 'contacts' &&
        !erase &&
        name !== 'segment_met_conditions'
      )
    }),
    'what the deletion of a company does': all.filter((table) => {
      const { company } = known(table)
      if (table === 'companies' || !has(table, 'company_id')) return false
      return company === undefined || (company === 'stays' ? undefined : company) !== ofCompany.get(table)
    }),
    'whether it is exported': all.filter((table) => {
      return table !== 'tenants' && has(table, 'tenant_id') && known(table).export === undefined
    }),
    'the place of a ciphertext': columns
      .filter(({ table, column }) => /(^|_)sealed$/.test(column) && !Object.hasOwn(known(table).sealed ?? {}, column))
      .map(({ table, column }) => `${table}.${column}`),
  }
}

const debts = async () => Object.entries(await owed()).filter(([, names]) => names.length > 0)

describe('the tables', () => {
  test('owe nothing: each says what it is', async () => {
    expect(await debts()).toEqual([])
  })

  test('a new one owes all of it', async () => {
    const { database } = service.stores
    await sql`CREATE TABLE contact_tags (
      tenant_id uuid NOT NULL, contact_id uuid NOT NULL, tag text NOT NULL, token_sealed text, company_id uuid,
      PRIMARY KEY (tenant_id, contact_id, tag),
      FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
    )`.execute(database)
    try {
      expect(Object.fromEntries(await debts())).toEqual({
        'a line in tables.ts': ['contact_tags'],
        'its primary key': ['contact_tags'],
        'what a merge does': ['contact_tags'],
        'what the deletion of a company does': ['contact_tags'],
        'whether it is exported': ['contact_tags'],
        'the place of a ciphertext': ['contact_tags.token_sealed'],
      })
    } finally {
      await sql`DROP TABLE contact_tags`.execute(database)
    }
  })
})

/** Merges and erasures write them themselves. */
const WRITTEN_BY_MERGES = ['contact_merges', 'contact_aliases', 'erasures']

/** A contact with a row in every table that has ids of contacts. */
async function contactInEveryTable(tenant: TestTenant, email: string): Promise<string> {
  const contactId = await tenant.contact(email)
  const { pool } = service.postgres
  const named = new Set((await contactColumns(pool)).map(({ table }) => table))
  for (const table of named) {
    if (!WRITTEN_BY_MERGES.includes(table)) await insertRowOf(pool, tenant.id, contactId, table)
  }
  return contactId
}

describe('what a table says happens to its rows', () => {
  /** The columns of the tables with one of some fates, but those that merges write. */
  async function columnsWhich(is: (table: AnyTable) => boolean): Promise<string[]> {
    const columns = await contactColumns(service.postgres.pool)
    const known = columns.filter(({ table }) => !WRITTEN_BY_MERGES.includes(table))
    const chosen = known.filter(({ table }) => {
      const rules = tables.get(table)
      return rules !== undefined && is(rules)
    })
    return chosen.map(({ table, column }) => `${table}.${column}`)
  }
  const moves = ({ contact }: AnyTable) => contact === 'moves' || typeof contact === 'function'

  test('at a merge and its unmerge', async () => {
    const tenant = await createTestTenant(service)
    const counts = (id: string) => countRowsOf(service.postgres.pool, tenant.id, id)
    const ada = await contactInEveryTable(tenant, 'ada@example.com')
    const countess = await tenant.contact('countess@example.com')
    const before = await counts(ada)
    const [moving, dying, followed] = [
      await columnsWhich(moves),
      await columnsWhich(({ contact }) => contact === 'dies'),
      await columnsWhich(({ contact }) => contact === 'followed'),
    ]
    expect([...moving, ...dying, ...followed].filter((column) => !before[column])).toEqual([])

    expect((await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: countess })).status).toBe(200)
    const [merged, survivor] = [await counts(ada), await counts(countess)]
    expect([...moving, ...dying].filter((column) => merged[column] !== 0)).toEqual([])
    expect(moving.filter((column) => (survivor[column] ?? 0) < (before[column] ?? 0))).toEqual([])
    expect(followed.filter((column) => (merged[column] ?? 0) < (before[column] ?? 0))).toEqual([])

    expect((await tenant.call('POST', `/v1/contacts/${ada}/unmerge`)).status).toBe(200)
    const [back, left] = [await counts(ada), await counts(countess)]
    expect(moving.filter((column) => (back[column] ?? 0) < (before[column] ?? 0))).toEqual([])
    // Of its own, the survivor has the link of its events.
    expect(moving.filter((column) => (left[column] ?? 0) > (column.startsWith('owner_links') ? 1 : 0))).toEqual([])
    expect(followed.filter((column) => (back[column] ?? 0) < (before[column] ?? 0))).toEqual([])
  })

  test('at a deletion and at an erasure, whose receipt counts them', async () => {
    const tenant = await createTestTenant(service)
    const admin = await signedIn(service, tenant.id, 'admin')
    const counts = (id: string) => countRowsOf(service.postgres.pool, tenant.id, id)
    const cascading = await deletions(['contacts', 'contact_merges'])

    const deleted = await contactInEveryTable(tenant, 'deleted@example.com')
    expect((await tenant.call('DELETE', `/v1/contacts/${deleted}`)).status).toBe(200)
    const after = await counts(deleted)
    const gone = await columnsWhich(({ name }) => cascading.has(name))
    expect(gone.filter((column) => after[column] !== 0)).toEqual([])

    const erased = await contactInEveryTable(tenant, 'erased@example.com')
    const { body } = await admin.call('POST', '/v1/erasures', { contact_id: erased })
    const receipt = await until(async () => {
      const { receipt } = (await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
      expect(receipt.status).not.toBe('running')
      return receipt
    })
    const left = await counts(erased)
    const personal = await columnsWhich(({ hasOnlyIds, erasedWith }) => !hasOnlyIds && erasedWith !== 'erasures')
    expect(personal.filter((column) => left[column] !== 0)).toEqual([])
    const counted = TABLES.flatMap(({ counted: name }) => name ?? [])
    expect(counted.filter((name) => !(receipt.removed[name] >= 1))).toEqual([])
  })
})
