import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SEALED_COLUMNS } from '../../src/cli/sealed-columns.ts'
import { EXPORTED, NOT_EXPORTED } from '../../src/tenant-export/tables.ts'
import { signedIn } from '../people.ts'
import { createTestTenant, startTestService, type TestService } from '../service.ts'
import { until } from '../webhooks.ts'

/**
 * Chapter 2: a table.
 *
 * Write it into the `tables.sql` of its feature, with its indexes; a new feature's file is listed in `assembly/migrations.ts`.
 * Then `npm run generate`, and delete your development data (`./data`): before the first release nothing migrates it. Each row of a
 * tenant has a `tenant_id`, which comes first in the primary key.
 *
 * A table owes answers to four questions, and this chapter fails until it has them. A table of tags for contacts, say, loses its
 * rows at a merge if nobody moves them: the contact's row is deleted, and its foreign key takes the tags with it.
 */

/**
 * 1. What happens to its rows when their contact is merged into another (`contacts/merging/merge.ts`) and unmerged.
 *
 * - `moves`: to the survivor, and back at an unmerge; `move` in merge.ts calls the feature's function, `Moved` remembers what moved.
 * - `content`: the survivor's is written anew from both; an unmerge restores both (`merge-content.ts`).
 * - `leads`: the merge adds it, to lead from the merged contact to its survivor.
 * - `history`: it stays under the id that it was written for. Code that needs the survivor calls `survivorsOf` or `mergedInto`.
 * - `derived`: from other tables, for the survivor anew.
 */
type AtMerge = 'moves' | 'content' | 'leads' | 'history' | 'derived'

/**
 * 2. What deletes its rows when the contact is erased: `cascade`, with the contact's row, or a function that its feature exports
 * and `assembly/erasers.ts` lists (or that one calls). `ids` stays: it has no personal data besides the contact's id.
 */
type AtErasure = 'cascade' | 'eraser' | 'ids'

const OF_CONTACTS: Readonly<Record<string, [AtMerge, AtErasure]>> = {
  contacts: ['content', 'eraser'],
  contact_sources: ['content', 'cascade'],
  contact_source_ids: ['moves', 'cascade'],
  contact_source_deletions: ['moves', 'cascade'],
  contact_merges: ['leads', 'cascade'],
  contact_aliases: ['leads', 'cascade'],
  notes: ['moves', 'cascade'],
  visitors: ['moves', 'eraser'],
  visitor_links: ['history', 'eraser'],
  owner_links: ['moves', 'eraser'],
  mail_sends: ['moves', 'eraser'],
  segment_members: ['derived', 'cascade'],
  segment_checks: ['derived', 'eraser'],
  segment_met_conditions: ['derived', 'eraser'],
  connection_outbox: ['derived', 'cascade'],
  agent_runs: ['history', 'eraser'],
  agent_run_contacts: ['history', 'eraser'],
  agent_actions: ['history', 'eraser'],
  agent_outreach: ['history', 'ids'],
  hook_bodies: ['history', 'eraser'],
  import_changes: ['history', 'eraser'],
  webhook_deliveries: ['history', 'eraser'],
  erasures: ['history', 'ids'],
}

let service: TestService

beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service?.close())

/** What the tables of the service's database still owe. */
async function owed(): Promise<Record<string, string[]>> {
  const { database } = service.stores
  const { rows: columns } = await sql<{ table: string; column: string; type: string }>`
    SELECT table_name AS table, column_name AS column, udt_name AS type
    FROM information_schema.columns WHERE table_schema = 'public'`.execute(database)
  const { rows: cascading } = await sql<{ table: string }>`
    SELECT DISTINCT conrelid::regclass::text AS table FROM pg_constraint
    WHERE contype = 'f' AND confrelid IN ('contacts'::regclass, 'contact_merges'::regclass) AND confdeltype = 'c'`.execute(
    database,
  )
  const tablesWith = (is: (column: (typeof columns)[number]) => boolean) =>
    [...new Set(columns.filter(is).map(({ table }) => table))].sort()

  const ofContacts = tablesWith(({ column, type }) => /(^|_)contact_ids?$/.test(column) && /^_?uuid$/.test(type))
  const cascades = new Set(cascading.map(({ table }) => table))
  const exported = new Set<string>([...Object.keys(EXPORTED), ...NOT_EXPORTED, 'tenants'])
  const sealed = new Set(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`))
  const ciphertexts = columns.filter(({ column }) => /(^|_)sealed$/.test(column))
  return {
    'what a merge and an erasure do': ofContacts.filter((table) => !Object.hasOwn(OF_CONTACTS, table)),
    'an eraser, or a foreign key that cascades': ofContacts.filter((table) => {
      return OF_CONTACTS[table] && (OF_CONTACTS[table][1] === 'cascade') !== cascades.has(table)
    }),
    // A merge deletes the contact's row.
    'a move, because its foreign key cascades': ofContacts.filter((table) => {
      return cascades.has(table) && OF_CONTACTS[table]?.[0] === 'history'
    }),
    'whether it is exported': tablesWith(({ column }) => column === 'tenant_id').filter((each) => !exported.has(each)),
    'a line in sealed-columns.ts': ciphertexts
      .map(({ table, column }) => `${table}.${column}`)
      .filter((each) => !sealed.has(each)),
    'a table, because a list names it': Object.keys(OF_CONTACTS).filter((table) => !ofContacts.includes(table)),
  }
}

/**
 * 3. Whether it is part of a tenant's export: a line in `tenant-export/tables.ts`, without secrets, or in `NOT_EXPORTED`.
 *
 * 4. Which columns have secrets. Their names end in `sealed`, `platform/crypto/secret-box.ts` writes them, and the feature's list
 * of them is part of `cli/sealed-columns.ts`, so that `cdsctl secret rotate` encrypts them with the new key.
 */
describe('the tables', () => {
  test('owe nothing: each says what a merge, an erasure, an export and a new secret key do to it', async () => {
    expect(Object.entries(await owed()).filter(([, tables]) => tables.length > 0)).toEqual([])
  })

  test('a new one owes all of it', async () => {
    const { database } = service.stores
    await sql`CREATE TABLE contact_tags (
      tenant_id uuid NOT NULL, contact_id uuid NOT NULL, tag text NOT NULL, token_sealed text,
      PRIMARY KEY (tenant_id, contact_id, tag),
      FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
    )`.execute(database)
    try {
      expect(await owed()).toMatchObject({
        'what a merge and an erasure do': ['contact_tags'],
        'whether it is exported': ['contact_tags'],
        'a line in sealed-columns.ts': ['contact_tags.token_sealed'],
      })
    } finally {
      await sql`DROP TABLE contact_tags`.execute(database)
    }
  })
})

/** The shortest example is the table of notes: `contacts/notes/`, of which the rest of the service knows these four things. */
describe('a table that pays: notes', () => {
  test('move with a merge and back with an unmerge, and an erasure deletes and counts them', async () => {
    const tenant = await createTestTenant(service)
    const admin = await signedIn(service, tenant.id, 'admin')
    const [ada, countess] = [await tenant.contact('ada@example.com'), await tenant.contact('countess@example.com')]
    await tenant.call('POST', `/v1/contacts/${ada}/notes`, { content: 'Likes engines' })
    const notesOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}/notes`)).body.total_items

    await tenant.call('POST', `/v1/contacts/${ada}/merge`, { into: countess })
    expect(await notesOf(countess)).toBe(1)
    await tenant.call('POST', `/v1/contacts/${ada}/unmerge`)
    expect([await notesOf(ada), await notesOf(countess)]).toEqual([1, 0])

    const { body } = await admin.call('POST', '/v1/erasures', { contact_id: ada })
    await until(async () => {
      const { receipt } = (await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
      expect(receipt).toMatchObject({ removed: { notes: 1 } })
    })
  })
})
