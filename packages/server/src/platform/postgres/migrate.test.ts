import pg from 'pg'
import { expect, test } from 'vitest'
import { databaseUrl } from '../../../test/service.ts'
import { newId } from '../ids.ts'
import { connectPostgres } from './connect.ts'
import { withSessionLock } from './locks.ts'
import { migratePostgres } from './migrate.ts'
import * as foundation from './migrations/0001-foundation.ts'
import * as webhooks from './migrations/0005-webhooks.ts'
import * as webhookQueue from './migrations/0017-webhook-queue.ts'
import * as webhookBatches from './migrations/0018-webhook-batches.ts'

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
    if (first) expect(await withSessionLock(first.db, 'migration', () => migratePostgres(first.db))).toEqual([])
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

test('what webhook deliveries have come to is the same after their state has moved into the log', async () => {
  const { db, pool, close } = connectPostgres<object>({ connectionString: await emptyDatabase() }, 1)
  try {
    await foundation.up(db)
    await webhooks.up(db)
    await webhookQueue.up(db)
    const [tenant, subscription, fresh, waiting, done, failed, resent] = Array.from({ length: 7 }, newId)
    const due = '2026-01-31T08:00:00Z'
    const add = async (delivery: string | undefined, status: string, attempts: number, before = 0) => {
      const isPending = status === 'pending'
      await pool.query(
        `INSERT INTO webhook_deliveries (tenant_id, delivery_id, subscription_id, event_id, event, payload, status, due_at,
          created_at, attempt_count, attempts_before, finished_at)
          VALUES ($1, $2, $3, $2, 'page_view', '{}', $4, $5, '2026-01-30', $6, $7, $8)`,
        [tenant, delivery, subscription, status, isPending ? due : null, attempts, before, isPending ? null : due],
      )
      for (let attempt = 1; attempt <= attempts; attempt++) {
        const error = status === 'succeeded' && attempt === attempts ? null : 'no'
        const line = [tenant, delivery, attempt, error]
        await pool.query(
          `INSERT INTO webhook_attempts (tenant_id, delivery_id, attempt, at, latency_ms, error)
            VALUES ($1, $2, $3, '2026-01-30', 1, $4)`,
          line,
        )
      }
    }
    await add(fresh, 'pending', 0)
    await add(waiting, 'pending', 2)
    await add(done, 'succeeded', 2)
    await add(failed, 'failed', 6)
    await add(resent, 'pending', 6, 6)
    await webhookBatches.up(db)
    const queue = await pool.query(
      'SELECT tenant_id, subscription_id, due_at, attempt, delivery_ids FROM webhook_queue ORDER BY delivery_ids',
    )
    const row = (delivery: string | undefined, attempt: number) => ({
      tenant_id: tenant,
      subscription_id: subscription,
      due_at: new Date(due),
      attempt,
      delivery_ids: [delivery],
    })
    expect(queue.rows).toEqual([row(fresh, 1), row(waiting, 3), row(resent, 7)])
    const last = await pool.query('SELECT delivery_id, attempt, error FROM webhook_attempts WHERE is_last ORDER BY 1')
    expect(last.rows).toEqual([
      { delivery_id: done, attempt: 2, error: null },
      { delivery_id: failed, attempt: 6, error: 'no' },
    ])
    expect((await pool.query('SELECT subscription_id FROM webhook_attempts')).rows).toHaveLength(16)
    const { rows } = await pool.query('SELECT due_at FROM webhook_deliveries WHERE delivery_id = $1', [done])
    expect(rows).toEqual([{ due_at: new Date('2026-01-30T00:00:00Z') }])
  } finally {
    await close()
  }
})

const SCHEMA = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
  WHERE table_schema = 'public' ORDER BY 1, 2`
