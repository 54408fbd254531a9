import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { fillEveryTable, insertRefusedEvent } from '../../test/every-table.ts'
import { tablesWith } from '../../test/everything.ts'
import { createHook, send } from '../../test/hooks.ts'
import { callMcp } from '../../test/mcp.ts'
import { oneOfEach } from '../../test/one-of-each.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { CHROME, call, createTestTenant, type TestService, type TestTenant } from '../../test/service.ts'
import { arrived, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { closedTenants, watchClosedTenants } from '../access/closed-tenants.ts'
import type { Values } from '../cli/command.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import { SOCIAL_LOGINS } from '../identities/social/sessions.ts'
import { evenIfClosed } from '../platform/closed-tenants.ts'
import { newId } from '../platform/ids.ts'
import { jobQueue } from '../platform/jobs/jobs.ts'
import { listenForChanges } from '../platform/postgres/invalidation.ts'
import { openTenant, type Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'

let bench: WebhookBench
let service: TestService
const warehouses = join(import.meta.dirname, '../../../../node_modules/.cache', newId())

beforeAll(async () => {
  bench = await startWebhookBench({ CDS_WAREHOUSE_DIR: warehouses })
  service = bench.service
})
afterAll(() => bench.close())

/** A tenant with its owner. Its name needs to be encoded in a URL. */
async function create(): Promise<{ tenant: TestTenant; owner: Browser; name: string }> {
  const tenant = await createTestTenant(service)
  const owner = await signedIn(service, tenant.id, 'owner')
  const name = `Engines & Söhne ${tenant.id.slice(-4)}`
  expect((await owner.call('PATCH', '/v1/tenant', { name })).status).toBe(200)
  return { tenant, owner, name }
}

const close = (caller: Browser | TestTenant, confirm: string, further = '') =>
  caller.call('DELETE', `/v1/tenant?confirm=${encodeURIComponent(confirm)}${further}`)
const reopen = (caller: Browser | TestTenant) => caller.call('POST', '/v1/tenant/reopen')
const codeOf = ({
  status,
  body,
}: {
  status: number
  body: { error?: { code: unknown; data?: { code: unknown } } }
}) => [
  status,
  // MCP has its own form of errors.
  body.error?.data?.code ?? body.error?.code,
]
const CLOSED = [403, 'tenant_closed']

/** The tenant's handle even while it is closed. */
const handleOf = ({ id }: TestTenant): Tenant => openTenant(evenIfClosed(service.stores), id)

/** Runs the verification of a deletion without waiting for its delay. */
async function verified({ id }: TestTenant): Promise<void> {
  const deletions = service.stores.database.updateTable('tenant_deletions').where('tenant_id', '=', id)
  await deletions.set({ claimed_until: null }).where('status', '=', 'deleted').execute()
  await until(async () => expect(await statusOf(id)).toBe('verified'))
}

async function statusOf(tenantId: string): Promise<string | undefined> {
  const deletions = service.stores.database.selectFrom('tenant_deletions').where('tenant_id', '=', tenantId)
  return (await deletions.select('status').executeTakeFirst())?.status
}

/** The files of a directory whose path contains one of some ids. */
async function filesOf(directory: string, ids: readonly string[]): Promise<string[]> {
  const names = await readdir(directory, { recursive: true }).catch(() => [])
  return names.filter((name) => ids.some((id) => name.includes(id)))
}

describe('who may close a workspace', () => {
  test.each(['admin', 'member', 'viewer'] as const)('%s may not, nor reopen it', async (role) => {
    const { tenant, owner, name } = await create()
    const person = await signedIn(service, tenant.id, role)
    expect(codeOf(await close(person, name))).toEqual([403, 'insufficient_role'])
    expect(codeOf(await reopen(person))).toEqual([403, 'insufficient_role'])
    await close(owner, name)
    for (const respond of [close(person, name, '&now=true'), reopen(person)])
      expect(codeOf(await respond)).toEqual(CLOSED)
    expect(await statusOf(tenant.id)).toBeUndefined()
  })

  test('a key with all scopes may not, nor reopen it', async () => {
    const { tenant, name } = await create()
    expect(codeOf(await close(tenant, name))).toEqual([403, 'insufficient_role'])
    expect(codeOf(await reopen(tenant))).toEqual([403, 'insufficient_role'])
  })

  test('the owner of another tenant cannot: the request means their own', async () => {
    const [one, other] = [await create(), await create()]
    expect(codeOf(await close(other.owner, one.name))).toEqual([400, 'name_not_confirmed'])
    expect((await one.tenant.call('GET', '/v1/contacts')).status).toBe(200)
  })

  test('without the exact name, it stays open', async () => {
    const { tenant, owner, name } = await create()
    expect(codeOf(await close(owner, name.toLowerCase()))).toEqual([400, 'name_not_confirmed'])
    expect(codeOf(await close(owner, ''))).toEqual([400, 'validation_error'])
    expect((await owner.call('DELETE', '/v1/tenant')).status).toBe(400)
    expect((await tenant.call('GET', '/v1/contacts')).status).toBe(200)
  })
})

describe('a closed workspace', () => {
  test('refuses whoever comes, through every door, and reopening it brings all back', async () => {
    const { tenant, owner, name } = await create()
    const source = (await tenant.call('POST', '/v1/sources', { name: 'Server', type: 'server' })).body
    const hook = await createHook(tenant)
    const member = await signedIn(service, tenant.id, 'member')
    const basic = `Basic ${Buffer.from(`${source.write_key}:`).toString('base64')}`
    const page = { origin: `https://${tenant.site}`, 'user-agent': CHROME }
    const post = (path: string, headers: Record<string, string>, body: unknown) =>
      call(service, 'POST', path, { headers, body: JSON.stringify(body) })
    const doors = {
      key: () => tenant.call('GET', '/v1/contacts'),
      'write of a key': () => tenant.call('POST', '/v1/contacts', { email: `${newId()}@example.com` }),
      member: () => member.call('GET', '/v1/contacts'),
      owner: () => owner.call('GET', '/v1/contacts'),
      settings: () => owner.call('PATCH', '/v1/tenant', { require_signed_identification: false }),
      upload: () => tenant.upload('email\na@example.com\n'),
      download: () => tenant.call('GET', '/v1/contacts/export.csv'),
      tracker: () => tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] }),
      recovery: () => post('/recover-visitor', page, { fingerprint: 'a'.repeat(64) }),
      form: () =>
        post(`/v1/public/form-submission/${tenant.id}/f`, page, { contact_data: { email: `${newId()}@example.com` } }),
      SDK: () => post('/v1/track', { authorization: basic }, { event: 'e', userId: 'u' }),
      'batch of an SDK': () =>
        post('/v1/batch', { authorization: basic }, { batch: [{ type: 'track', event: 'e', userId: 'u' }] }),
      hook: () => send(service, hook, {}),
      MCP: () => callMcp(service, tenant.key, 'tools/list'),
    }
    const knock = () =>
      Promise.all(Object.entries(doors).map(async ([door, open]) => [door, codeOf(await open())] as const))
    const before = await knock()
    for (const [door, [status]] of before) expect([door, Number(status) < 300]).toEqual([door, true])

    const closing = await close(owner, name)
    expect(closing.status).toBe(202)
    const { closed_at, deletes_at } = closing.body
    expect(Date.parse(deletes_at) - Date.parse(closed_at)).toBe(7 * DAY_MS)
    expect(closing.body.deletion).toBe(null)
    expect(await knock()).toEqual(Object.keys(doors).map((door) => [door, CLOSED]))

    // What is left for its owner.
    expect((await owner.call('GET', '/v1/tenant')).body.tenant).toMatchObject({ name, closed_at, deletes_at })
    const me = (await owner.call('GET', '/api/me')).body
    expect(me.tenant.closed).toEqual({ closed_at, deletes_at })
    expect((await member.call('GET', '/api/me')).body.tenant.closed).toEqual({ closed_at, deletes_at })
    expect(codeOf(await member.call('GET', '/v1/tenant'))).toEqual(CLOSED)

    expect((await reopen(owner)).body.tenant).toMatchObject({ name, closed_at: null, deletes_at: null })
    expect(await knock()).toEqual(before)
    const actions = (await owner.call('GET', '/v1/audit-log')).body.entries.map(
      (entry: { action: string }) => entry.action,
    )
    expect(actions.filter((action: string) => /closed|reopened/.test(action))).toEqual([
      'tenant.reopened',
      'tenant.closed',
    ])
  })

  test('can be exported by its owner', async () => {
    const { tenant, owner, name } = await create()
    await tenant.contact('ada@example.com')
    await close(owner, name)
    const { export_id } = (await owner.call('POST', '/v1/exports')).body
    const url = await until(async () => {
      const { body } = await owner.call('GET', `/v1/exports/${export_id}`)
      expect(body.export.status).toBe('ready')
      expect(body.export.counts.contacts).toBe(1)
      return body.export.url
    })
    const file = await fetch(service.url + url, { headers: { ...owner.ownSite, cookie: owner.cookie } })
    expect([file.status, (await file.arrayBuffer()).byteLength > 0]).toEqual([200, true])
    expect(codeOf(await tenant.call('GET', url))).toEqual(CLOSED)
    expect((await owner.call('GET', '/v1/exports')).body.pagination.total_items).toBe(1)
  })

  test('closes once: a second request changes nothing, and reopening an open one neither', async () => {
    const { owner, name } = await create()
    const first = (await close(owner, name)).body
    bench.pass(1_000)
    expect((await close(owner, name)).body).toEqual(first)
    for (let turn = 0; turn < 2; turn++) expect((await reopen(owner)).status).toBe(200)
    const { entries } = (await owner.call('GET', '/v1/audit-log')).body
    expect(entries.filter(({ action }: { action: string }) => /closed|reopened/.test(action))).toHaveLength(2)
  })

  test('sends no webhooks, not even those that were waiting, until it is reopened', async () => {
    const { tenant, owner, name } = await create()
    const path = `/${tenant.id}`
    await bench.subscribe(tenant, { event: 'contact_created', url: bench.receiver.url(path) })
    let status = 500
    bench.receiver.respond = (response) => response.writeHead(status).end()
    await tenant.contact('ada@example.com')
    await arrived(bench.receiver, path, 1)
    await close(owner, name)
    status = 200
    bench.pass(600_000)
    // Another tenant's delivery arrives meanwhile.
    const other = await createTestTenant(service)
    await bench.subscribe(other, { event: 'contact_created', url: bench.receiver.url(`/${other.id}`) })
    await other.contact('bob@example.com')
    await arrived(bench.receiver, `/${other.id}`, 1)
    expect(await arrived(bench.receiver, path, 1)).toHaveLength(1)
    await reopen(owner)
    bench.pass(0)
    await arrived(bench.receiver, path, 2)
  })

  test('keeps its jobs for later, with all their retries', async () => {
    const { tenant, owner, name } = await create()
    await close(owner, name)
    await service.jobs.send(handleOf(tenant), SOCIAL_LOGINS, { sessionId: newId(), step: 1 })
    const jobs = async () =>
      (
        await sql<{ state: string; waits: boolean; retries: number }>`
          SELECT state, start_after = 'infinity' AS waits, retry_count AS retries FROM pgboss.job
          WHERE data ->> 'tenantId' = ${tenant.id}`.execute(service.stores.database)
      ).rows
    await until(async () => expect(await jobs()).toEqual([{ state: 'created', waits: true, retries: 0 }]))
    await reopen(owner)
    // Nothing is known of this login, so there is nothing to do.
    await until(async () => expect(await jobs()).toEqual([{ state: 'completed', waits: false, retries: 0 }]))
  })

  test('stops what is under way: every statement of an open handle is refused', async () => {
    const { tenant, owner, name } = await create()
    await tenant.handle.db.selectFrom('contacts').select('contact_id').execute()
    await close(owner, name)
    const refused = { code: 'tenant_closed', status: 403 }
    await expect(tenant.handle.db.selectFrom('contacts').select('contact_id').execute()).rejects.toMatchObject(refused)
    await expect(tenant.handle.transaction(async () => {})).rejects.toMatchObject(refused)
    await reopen(owner)
    await tenant.handle.db.selectFrom('contacts').select('contact_id').execute()
  })

  test('is closed in every process: by notification, and by reading when it may have missed one', async () => {
    const { tenant, owner, name } = await create()
    const { database } = service.stores
    const invalidation = await listenForChanges(service.postgres.address, service.log)
    try {
      const closed = new Set<string>()
      await watchClosedTenants({ database }, closed, invalidation, service.log)
      expect(closed.has(tenant.id)).toBe(false)
      await close(owner, name)
      await until(() => expect(closed.has(tenant.id)).toBe(true))
      const late = new Set<string>()
      await watchClosedTenants({ database }, late, invalidation, service.log)
      expect(late).toEqual(await closedTenants(database))
      expect(late.has(tenant.id)).toBe(true)
      await reopen(owner)
      await until(() => expect(late.has(tenant.id)).toBe(false))
    } finally {
      await invalidation.close()
    }
  })
})

describe('the deletion', () => {
  test('leaves nothing of a workspace with rows in every table, in either store, nor a job or a file', async () => {
    const { tenant, owner, name } = await create()
    await oneOfEach(service, tenant, 'everything')
    await close(owner, name)
    const client = await service.postgres.pool.connect()
    try {
      const filled = await fillEveryTable(client, tenant.id)
      expect(filled).toContain('event_ids_0')
      await insertRefusedEvent(client, tenant.id)
      const counted = ['invitation of', tenant.id].join(' ')
      await client.query('INSERT INTO sent_mails VALUES ($1, now())', [counted])
    } finally {
      client.release()
    }
    const queue = jobQueue<object>(SOCIAL_LOGINS.name, {})
    await service.jobs.send(handleOf(tenant), queue, {}, { startAfter: 86_400 })
    const { dataDirectory } = service.config
    const handle = handleOf(tenant)
    const ids = [
      ...(await handle.db.selectFrom('imports').select('import_id as id').execute()),
      ...(await handle.db.selectFrom('exports').select('export_id as id').execute()),
      tenant,
    ].map(({ id }) => id)
    for (const directory of [join(dataDirectory, 'exports'), join(warehouses, tenant.id, 'contacts')])
      await mkdir(directory, { recursive: true })
    const exported = await handle.db.selectFrom('exports').select('export_id').executeTakeFirstOrThrow()
    await writeFile(join(dataDirectory, 'exports', `${exported.export_id}.tar`), 'x')
    await writeFile(join(warehouses, tenant.id, 'contacts', 'part.parquet'), 'x')
    await handle.events.addToSet(newId(), `${newId()}\n`)
    const places = await tablesWith(service.stores, tenant.id)
    expect(places).toEqual(
      expect.arrayContaining(['events', 'owner_links', 'contact_sets', 'public.refused_events', 'public.sent_mails']),
    )
    const { rows: tables } = await sql<{ name: string }>`SELECT 'public.' || table_name AS name
      FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant_id'
        AND table_name <> 'tenant_deletions'`.execute(service.stores.database)
    expect(tables.filter(({ name: table }) => !places.includes(table))).toEqual([])
    expect((await filesOf(dataDirectory, ids)).length).toBeGreaterThan(1)
    const other = await create()
    await other.tenant.contact('other@example.com', {}, { visitor_id: 'v' })
    await other.tenant.track({ visitor_id: 'v', events: [{ event: 'page_view' }] })

    const { deletion } = (await close(owner, name, '&now=true')).body
    await until(async () => expect(await statusOf(tenant.id)).not.toBe('running'))
    expect(deletion.requested_by.kind).toBe('user')
    const receipts = service.stores.database.selectFrom('tenant_deletions').where('tenant_id', '=', tenant.id)
    const { removed } = await receipts.select('removed').executeTakeFirstOrThrow()
    expect(removed).toMatchObject({
      contacts: expect.any(Number),
      events: expect.any(Number),
      owner_links_in_clickhouse: expect.any(Number),
      contact_sets: 1,
      refused_events: 1,
      jobs: expect.any(Number),
      import_files: 1,
      export_files: 1,
      warehouse_files: expect.any(Number),
      webhook_queue: 1,
      event_ids_0: 1,
      audit_log: expect.any(Number),
      tenants: 1,
    })
    expect(Object.keys(removed as object)).not.toContain('tenant_deletions')
    expect(await tablesWith(service.stores, tenant.id)).toEqual(['public.tenant_deletions'])
    expect([...(await filesOf(dataDirectory, ids)), ...(await filesOf(warehouses, ids))]).toEqual([])

    // What was in flight, into a table without a foreign key, and the journal.
    const late = { tenant_id: tenant.id, visitor_id: 'late', network: Buffer.from('x'), seen_at: new Date() }
    await service.stores.database.insertInto('visitor_networks').values(late).execute()
    await verified(tenant)
    expect(await tablesWith(service.stores, tenant.id)).toEqual(['public.tenant_deletions'])

    // Nobody else lost anything.
    expect((await other.tenant.call('GET', '/v1/contacts')).body.contacts).toHaveLength(1)
    expect((await other.tenant.call('GET', '/v1/events?event_type=page_view')).body.events).toHaveLength(1)
    expect((await owner.call('GET', '/api/me')).body).toMatchObject({ tenant: null, tenants: [] })
    expect(codeOf(await tenant.call('GET', '/v1/contacts'))).toEqual([401, 'invalid_api_key'])
    expect(codeOf(await owner.call('GET', '/v1/tenant'))).toEqual([403, 'no_tenant'])
  })

  test('comes after seven days, and not before; then nobody can reopen it', async () => {
    const { tenant, owner, name } = await create()
    await close(owner, name)
    bench.pass(7 * DAY_MS - 60_000)
    const other = await create()
    await close(other.owner, other.name, '&now=true')
    expect(await statusOf(tenant.id)).toBeUndefined()
    // The deletion has started, but waits for a row.
    const client = await service.postgres.pool.connect()
    await client.query('BEGIN')
    await client.query('SELECT FROM domains WHERE tenant_id = $1 FOR UPDATE', [tenant.id])
    bench.pass(120_000)
    const again = await signedIn(service, tenant.id, 'owner')
    await until(async () => expect(await statusOf(tenant.id)).toBe('running'))
    expect(codeOf(await reopen(again))).toEqual([409, 'tenant_being_deleted'])
    await client.query('COMMIT')
    client.release()
    await until(async () => expect(await statusOf(tenant.id)).toBe('deleted'))
  })
})

test('the operator closes, reopens and deletes a workspace on the command line, and lists the receipts', async () => {
  const { tenant, name } = await create()
  const session = commandSession(service)
  const run = (command: string, values: Values = {}) =>
    DATABASE_COMMANDS[command]?.run(session, { tenant: tenant.id, ...values }, service.clock())

  await expect(run('tenant delete', { confirm: 'Another' })).rejects.toMatchObject({ code: 'name_not_confirmed' })
  expect(await run('tenant delete', { confirm: name })).toMatchObject({ tenant_id: tenant.id, deletion: null })
  await until(async () => expect(codeOf(await tenant.call('GET', '/v1/contacts'))).toEqual(CLOSED))
  await expect(run('contact list')).rejects.toMatchObject({ code: 'tenant_closed' })
  expect(await run('tenant reopen')).toMatchObject({ tenant: { closed_at: null } })
  await until(async () => expect((await tenant.call('GET', '/v1/contacts')).status).toBe(200))

  await run('tenant delete', { confirm: name, now: 'true' })
  await until(async () => expect(await statusOf(tenant.id)).toBe('deleted'))
  const { deletions } = (await run('tenant-deletion list')) as { deletions: { tenant_id: string }[] }
  expect(deletions.find(({ tenant_id }) => tenant_id === tenant.id)).toMatchObject({
    requested_by: { kind: 'command_line', id: null },
    removed: { tenants: 1 },
  })
})
