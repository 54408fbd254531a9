import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { oneOfEach } from '../../test/one-of-each.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { newId } from '../platform/ids.ts'
import { openTenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'

let service: TestService
const now = Date.now()

beforeAll(async () => {
  service = await startTestService({}, { clock: () => new Date(now) })
})
afterAll(() => service.close())

/** A tenant with its owner. */
async function create(): Promise<{ tenant: TestTenant; owner: Browser; name: string }> {
  const tenant = await createTestTenant(service)
  const owner = await signedIn(service, tenant.id, 'owner')
  const { body } = await owner.call('GET', '/v1/tenant')
  return { tenant, owner, name: body.tenant.name }
}

const close = (caller: Browser | TestTenant, confirm: string, further = '') =>
  caller.call('DELETE', `/v1/tenant?confirm=${encodeURIComponent(confirm)}${further}`)

/** The tables of both stores that contain a text, the job queue's included. */
async function placesOf(text: string): Promise<string[]> {
  const { database, clickhouse } = service.stores
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
    WHERE table_schema IN ('public', 'pgboss') AND table_type = 'BASE TABLE'`.execute(database)
  const isIn = tables.map(
    ({ schema, name }) => sql`SELECT ${`${schema}.${name}`} AS place WHERE EXISTS (
      SELECT FROM ${sql.id(schema, name)} AS t WHERE strpos(lower(t::text), lower(${text})) > 0)`,
  )
  const { rows: found } = await sql<{ place: string }>`${sql.join(isIn, sql` UNION ALL `)}`.execute(database)
  const places = found.map(({ place }) => place)
  for (const table of ['events', 'owner_links']) {
    const [rows] = await clickhouse.query<{ n: number }>(
      `SELECT count() AS n FROM ${table} WHERE positionCaseInsensitiveUTF8(formatRow('JSONEachRow', *), {text: String}) > 0`,
      { text },
    )
    if (Number(rows?.n) > 0) places.push(table)
  }
  return places
}

test('x', async () => {
  const { tenant, owner, name } = await create()
  await oneOfEach(service, tenant, 'everything')
  console.log((await placesOf(tenant.id)).length)
  const { status, body } = await close(owner, name, '&now=true')
  console.log(status, JSON.stringify(body, null, 1))
  console.log(await placesOf(tenant.id))
}, 120_000)
