import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../../test/databases.ts'
import { connectPostgres, type Postgres } from './connect.ts'

interface Tables {
  letters: { letter: string }
}

/** More often than a statement has to run before it is prepared. */
const OFTEN = 60

let postgres: Postgres<Tables>

beforeAll(async () => {
  // One connection, so that each statement finds what the one before has prepared.
  postgres = connectPostgres({ connectionString: await createDatabase() }, 1)
})
afterAll(() => postgres?.close())

/** A table with one row, and a query of all its columns that runs often enough to be prepared. */
async function preparedQuery() {
  const { db } = postgres
  await sql`DROP TABLE IF EXISTS letters`.execute(db)
  await sql`CREATE TABLE letters (letter text)`.execute(db)
  await sql`INSERT INTO letters VALUES ('a'), ('b')`.execute(db)
  const read = (on: Kysely<Tables>) => on.selectFrom('letters').selectAll().where('letter', '=', 'a').execute()
  for (let n = 0; n < OFTEN; n++) expect(await read(db)).toEqual([{ letter: 'a' }])
  return read
}

const preparedTexts = async () =>
  (await sql<{ statement: string }>`SELECT statement FROM pg_prepared_statements`.execute(postgres.db)).rows

test('a statement that runs often is prepared, is planned with its values each time, and rare ones are not', async () => {
  await preparedQuery()
  const { rows } = await sql`SELECT statement, generic_plans, custom_plans > 5 AS is_planned
    FROM pg_prepared_statements`.execute(postgres.db)
  const statement = 'select * from "letters" where "letter" = $1'
  expect(rows).toEqual([{ statement, generic_plans: 0, is_planned: true }])
})

test('a table that gets a column is read with it, although the statement was prepared before', async () => {
  const read = await preparedQuery()
  await sql`ALTER TABLE letters ADD COLUMN size int DEFAULT 7`.execute(postgres.db)
  expect(await read(postgres.db)).toEqual([{ letter: 'a', size: 7 }])
})

test('in a transaction, such a statement is a collision, so that the transaction is repeated', async () => {
  const { db } = postgres
  // Another text, because the one of the test before is never prepared again.
  await sql`CREATE TABLE words (word text)`.execute(db)
  const read = (on: Kysely<Tables>) => sql`SELECT * FROM words WHERE word <> ${'b'}`.execute(on)
  for (let n = 0; n < OFTEN; n++) await read(db)
  await sql`ALTER TABLE words ADD COLUMN size int`.execute(db)
  await expect(db.transaction().execute(read)).rejects.toMatchObject({ code: '40001' })
  expect((await db.transaction().execute(read)).rows).toEqual([])
})

test('texts of any number do not fill the memory of a connection: only the first that run often are prepared', async () => {
  const { db } = postgres
  for (let text = 0; text < 120; text++) {
    for (let n = 0; n < OFTEN; n++) await sql`SELECT ${sql.raw(String(text))}::int AS n, ${n}::int AS m`.execute(db)
  }
  expect((await preparedTexts()).length).toBe(100)
})
