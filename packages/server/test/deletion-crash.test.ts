import pg from 'pg'
import { expect, test } from 'vitest'
import { connectPostgres } from '../src/platform/postgres/connect.ts'
import type { DB } from '../src/platform/postgres/generated/tables.ts'
import { createDatabase } from './databases.ts'
import { KillableService } from './killable.ts'
import { openDirectory } from './process.ts'
import { insertTenant } from './service.ts'
import { until } from './webhooks.ts'

/** The process is killed while it deletes a workspace: its events are gone, its contacts are not. The next one continues. */
test('a deletion that a kill interrupts is finished by the next process', async () => {
  const DATABASE_URL = await createDatabase()
  const postgres = connectPostgres<DB>({ connectionString: DATABASE_URL }, 2)
  const service = new KillableService({ CDS_DATA_DIR: await openDirectory(), DATABASE_URL })
  const blocker = new pg.Client({ connectionString: DATABASE_URL })
  const receiptOf = (id: string) =>
    postgres.db.selectFrom('tenant_deletions').selectAll().where('tenant_id', '=', id).executeTakeFirst()
  try {
    const url = await service.start()
    const { id, key } = await insertTenant(postgres.db)
    const send = (method: string, path: string, body?: object) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
    expect((await send('POST', '/v1/contacts', { email: 'ada@example.com' })).status).toBe(201)
    // Once this returns, ClickHouse has the contact's events.
    expect((await send('GET', '/v1/events?include=system')).status).toBe(200)
    await blocker.connect()
    await blocker.query('BEGIN')
    await blocker.query('SELECT FROM contacts WHERE tenant_id = $1 FOR UPDATE', [id])
    const closed = { closed_at: new Date(), deletes_at: new Date(0), closed_by: '{"kind":"command_line","id":null}' }
    await postgres.db.updateTable('tenants').set(closed).where('tenant_id', '=', id).execute()
    // Its rows of contacts come after its events and those that refer to contacts.
    await until(async () => expect((await receiptOf(id))?.removed).toMatchObject({ events: 1, contact_sources: 1 }))
    await service.kill()
    await blocker.query('COMMIT')
    expect(await receiptOf(id)).toMatchObject({ status: 'running' })

    // As when its lease has ended.
    await postgres.db
      .updateTable('tenant_deletions')
      .set({ claimed_until: new Date(0) })
      .execute()
    await service.startLast()
    await until(async () => expect(await receiptOf(id)).toMatchObject({ status: 'deleted' }))
    const receipt = await receiptOf(id)
    expect(receipt?.removed).toMatchObject({ events: 1, contact_sources: 1, contacts: 1, tenants: 1 })
    expect(receipt?.requested_by).toEqual({ kind: 'command_line', id: null })
  } finally {
    await blocker.end().catch(() => {})
    await service.close()
    await postgres.close()
  }
})
