import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { TenantTables } from './database.ts'
import { TenantPlugin } from './tenant-plugin.ts'

const db = new Kysely<TenantTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (kysely) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withPlugin(new TenantPlugin('T'))

/** Counts the tenant predicates of a query. */
function confined(query: { compile(): { sql: string; parameters: readonly unknown[] } }): number {
  return query.compile().parameters.filter((parameter) => parameter === 'T').length
}

const now = new Date()

describe('every table of a query is restricted to the tenant', () => {
  test.each([
    ['select', 1, db.selectFrom('contacts').select('email')],
    [
      'select with or',
      1,
      db
        .selectFrom('contacts')
        .select('email')
        .where((eb) => eb.or([eb('email', '=', 'a'), eb('email', '=', 'b')])),
    ],
    ['alias', 1, db.selectFrom('contacts as c').select('c.email')],
    ['two tables', 2, db.selectFrom(['contacts', 'notes']).select('contacts.email')],
    [
      'join',
      2,
      db.selectFrom('contacts').leftJoin('companies as co', 'co.company_id', 'contacts.company_id').select('co.name'),
    ],
    [
      'subquery',
      2,
      db
        .selectFrom('contacts')
        .select('email')
        .where('contact_id', 'in', (eb) => eb.selectFrom('notes').select('contact_id')),
    ],
    [
      'subquery in from',
      1,
      db.selectFrom((eb) => eb.selectFrom('notes').select('content').as('n')).select('n.content'),
    ],
    [
      'lateral',
      2,
      db
        .selectFrom('contacts')
        .innerJoinLateral(
          (eb) => eb.selectFrom('notes').select('content').as('n'),
          (on) => on.onTrue(),
        )
        .select('n.content'),
    ],
    [
      'with',
      1,
      db
        .with('n', (eb) => eb.selectFrom('notes').select('content'))
        .selectFrom((eb) => eb.selectFrom('n').select('content').as('m'))
        .select('m.content'),
    ],
    ['union', 2, db.selectFrom('contacts').select('email as x').union(db.selectFrom('notes').select('content as x'))],
    [
      'exists',
      2,
      db
        .selectFrom('contacts')
        .select('email')
        .where((eb) => eb.exists(eb.selectFrom('notes').select('content'))),
    ],
    ['update', 1, db.updateTable('notes').set({ content: 'x' })],
    [
      'update from',
      2,
      db
        .updateTable('notes')
        .from('contacts')
        .set({ content: 'x' })
        .whereRef('notes.contact_id', '=', 'contacts.contact_id'),
    ],
    ['delete', 1, db.deleteFrom('notes')],
    [
      'delete using',
      2,
      db.deleteFrom('notes').using('contacts').whereRef('notes.contact_id', '=', 'contacts.contact_id'),
    ],
    ['insert', 1, db.insertInto('visitors').values({ visitor_id: 'v', created_at: now })],
    [
      'insert two',
      2,
      db.insertInto('visitors').values([
        { visitor_id: 'v', created_at: now },
        { visitor_id: 'w', created_at: now },
      ]),
    ],
    [
      'insert from select',
      2,
      db
        .insertInto('notes')
        .columns(['note_id', 'content'])
        .expression((eb) => eb.selectFrom('notes').select(['note_id', 'content'])),
    ],
  ])('%s', (_name, times, query) => {
    // A query composed of restricted ones may contain it twice.
    expect(confined(query)).toBeGreaterThanOrEqual(times)
  })
})

test('a condition cannot break out of the tenant with OR', () => {
  const { sql: text } = db
    .selectFrom('contacts')
    .select('email')
    .where((eb) => eb.or([eb('email', '=', 'a'), eb('email', '=', 'b')]))
    .compile()
  expect(text).toMatch(/where "contacts"\."tenant_id" = \$1 and \(.* or .*\)$/)
})

test('an upsert finds the existing row by tenant', () => {
  const query = db
    .insertInto('visitors')
    .values({ visitor_id: 'v', created_at: now })
    .onConflict((row) => row.columns(['visitor_id']).doNothing())
  expect(query.compile().sql).toContain('on conflict ("tenant_id", "visitor_id") do nothing')
})

test('rows from a select are inserted for the tenant', () => {
  const query = db
    .insertInto('notes')
    .columns(['content'])
    .expression((eb) => eb.selectFrom(sql<{ content: string }>`sent()`.as('sent')).select('sent.content'))
  expect(query.compile().sql).toBe(
    'insert into "notes" ("content", "tenant_id") select "sent"."content", cast($1 as uuid) as "tenant_id" from sent() as "sent"',
  )
})

test('queries that cannot be restricted are rejected', () => {
  const raw = db.selectFrom('contacts').select(sql`(SELECT count(*) FROM contacts)`.as('x'))
  expect(() => raw.compile()).toThrow(/must not name a table/)
  const moved = db.updateTable('notes').set({ tenant_id: 'other' } as never)
  expect(() => moved.compile()).toThrow(/must not change tenant_id/)
  const copied = db.insertInto('notes').expression((eb) => eb.selectFrom('notes').selectAll()) as { compile(): unknown }
  expect(() => copied.compile()).toThrow(/must name each column/)
  const united = db
    .insertInto('notes')
    .columns(['content'])
    .expression((eb) => eb.selectFrom('notes').select('content').union(eb.selectFrom('notes').select('content')))
  expect(() => united.compile()).toThrow(/union/)
})
