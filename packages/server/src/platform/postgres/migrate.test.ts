import pg from 'pg'
import { expect, test } from 'vitest'
import { databaseUrl } from '../../../test/service.ts'
import { newId } from '../ids.ts'
import { connectPostgres } from './connect.ts'
import { migratePostgres, withMigrationLock } from './migrate.ts'
import * as foundation from './migrations/0001-foundation.ts'
import * as webhooks from './migrations/0005-webhooks.ts'
import * as webhookQueue from './migrations/0017-webhook-queue.ts'

/** A database without any table. */
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
        withMigrationLock(db, async () => {
          expect(++inside).toBe(1)
          const names = await migratePostgres(db)
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
    if (first) expect(await withMigrationLock(first.db, () => migratePostgres(first.db))).toEqual([])
    expect(await schema()).toEqual(before)
  } finally {
    for (const { close } of processes) await close()
  }
})

test('webhook deliveries that wait when the queue gets its own table are waiting after it', async () => {
  const { db, pool, close } = connectPostgres<object>({ connectionString: await emptyDatabase() }, 1)
  try {
    await foundation.up(db)
    await webhooks.up(db)
    const [tenant, subscription, waiting, done, failed] = Array.from({ length: 5 }, newId)
    const add = (delivery: string | undefined, status: string, dueAt: string | null) =>
      pool.query(
        `INSERT INTO webhook_deliveries (tenant_id, delivery_id, subscription_id, event_id, event, record, status, due_at,
          created_at) VALUES ($1, $2, $3, $2, 'page_view', '{}', $4, $5, now())`,
        [tenant, delivery, subscription, status, dueAt],
      )
    await add(waiting, 'pending', '2026-01-31T08:00:00Z')
    await add(done, 'succeeded', null)
    await add(failed, 'failed', null)
    await webhookQueue.up(db)
    expect((await pool.query('SELECT * FROM webhook_queue')).rows).toEqual([
      {
        tenant_id: tenant,
        subscription_id: subscription,
        due_at: new Date('2026-01-31T08:00:00Z'),
        delivery_id: waiting,
      },
    ])
    const { rows } = await pool.query('SELECT delivery_id FROM webhook_deliveries WHERE is_failed')
    expect(rows).toEqual([{ delivery_id: failed }])
  } finally {
    await close()
  }
})

const SCHEMA = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
  WHERE table_schema = 'public' ORDER BY 1, 2`
