import pg from 'pg'
import { expect, test } from 'vitest'
import { databaseUrl } from '../../../test/databases.ts'
import { MIGRATIONS } from '../../assembly/migrations.ts'
import { connectPostgres } from './connect.ts'
import { withSessionLock } from './locks.ts'
import { migratePostgres } from './migrate.ts'

/** An empty database. */
async function emptyDatabase(): Promise<string> {
  const name = `empty_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  const client = new pg.Client({ connectionString: databaseUrl('postgres') })
  await client.connect()
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  await client.end()
  return databaseUrl(name)
}

test('processes that start at once on an empty database migrate it once, and a later start changes nothing', async () => {
  const connectionString = await emptyDatabase()
  const processes = Array.from({ length: 4 }, () => connectPostgres<object>({ connectionString }, 3))
  try {
    let inside = 0
    const ran = await Promise.all(
      processes.map(({ db }) =>
        withSessionLock(db, 'migration', async () => {
          expect(++inside).toBe(1)
          const names = await migratePostgres(db, MIGRATIONS)
          inside--
          return names
        }),
      ),
    )
    expect(ran.filter((names) => names.length > 0)).toHaveLength(1)
    const [first] = processes
    const schema = async () => (await first?.pool.query(SCHEMA))?.rows
    const before = await schema()
    expect(before?.length).toBeGreaterThan(50)
    if (first)
      expect(await withSessionLock(first.db, 'migration', () => migratePostgres(first.db, MIGRATIONS))).toEqual([])
    expect(await schema()).toEqual(before)
  } finally {
    for (const { close } of processes) await close()
  }
})

const SCHEMA = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
  WHERE table_schema = 'public' ORDER BY 1, 2`
