import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from '../../test/people.ts'
import { claimHeld, hold } from '../../test/runs.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { TABLES } from '../assembly/tables.ts'
import { newId } from '../platform/ids.ts'
import { takeTurn } from '../platform/runs/kind.ts'
import { DAY_MS } from '../platform/time.ts'
import { EXPORT_ROWS, exportDirectory, requestExport } from './exports.ts'
import { exportedRows } from './rows.ts'
import { exportKind } from './run.ts'

let shift = 0
let service: TestService
let tenant: TestTenant
let admin: Browser
const directories: string[] = []

beforeAll(async () => {
  service = await startTestService({}, { clock: () => new Date(Date.now() + shift) })
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
})
afterAll(async () => {
  await service.close()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

async function exported(browser: Browser): Promise<{ id: string; bytes: Buffer }> {
  const { status, body } = await browser.call('POST', '/v1/exports')
  expect(status).toBe(202)
  const path = `/v1/exports/${body.export_id}`
  await until(async () => expect((await browser.call('GET', path)).body.export.status).toBe('ready'))
  const response = await fetch(`${service.url}${path}/file`, { headers: { cookie: browser.cookie } })
  expect(response.headers.get('content-type')).toBe('application/x-tar')
  return { id: body.export_id, bytes: Buffer.from(await response.arrayBuffer()) }
}

/** The names of an export's files, finished or not. */
function filesOf(exportId: string): string[] {
  return readdirSync(exportDirectory(service.config.dataDirectory)).filter((name) => name.startsWith(exportId))
}

/** Requests an export that only the test works on. */
async function heldExport({ handle }: TestTenant): Promise<string> {
  return handle.transaction(async (tx) => {
    const { exportId } = await requestExport(tx, { kind: 'service' }, new Date())
    await hold(EXPORT_ROWS, tx, exportId)
    return exportId
  })
}

/** Works on an export, in place of the service. */
async function runExport(
  { handle }: Pick<TestTenant, 'handle'>,
  exportId: string,
  { directory = exportDirectory(service.config.dataDirectory), stopping = new AbortController().signal } = {},
): Promise<void> {
  const run = await claimHeld(EXPORT_ROWS, handle, exportId)
  await takeTurn(exportKind({ clock: () => new Date(), directory, tables: TABLES }), service, run, stopping)
}

/** Unpacks with the system's tar. */
function unpack(bytes: Buffer): (name: string) => Record<string, unknown>[] {
  const directory = mkdtempSync(join(tmpdir(), 'cds-export-'))
  directories.push(directory)
  writeFileSync(join(directory, 'export.tar'), bytes)
  execFileSync('tar', ['-xf', 'export.tar'], { cwd: directory })
  return (name) => {
    const raw = readFileSync(join(directory, name))
    const text = name.endsWith('.gz') ? gunzipSync(raw).toString() : raw.toString().replaceAll('\n', ' ')
    return text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => JSON.parse(line))
  }
}

test('an export contains all data of its tenant, no secrets, and nothing of another tenant', async () => {
  const stranger = await createTestTenant(service)
  await stranger.contact('stranger@example.com')
  await stranger.track({ visitor_id: 's', events: [{ event: 'theirs' }] })
  for (let index = 0; index < 12; index++) await tenant.contact(`e${index}@example.com`, { n: index })
  await tenant.track({ visitor_id: 'v', events: [{ event: 'before' }] })
  const id = await tenant.contact('ada@example.com', { city: 'Zürich "1"\n' }, { visitor_id: 'v' })
  await tenant.call('POST', `/v1/contacts/${id}/notes`, { content: 'Met her.' })
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', data: { a: [1] } }] })
  const { bytes } = await exported(admin)
  const read = unpack(bytes)
  const contacts = read('contacts.ndjson.gz')
  expect(contacts).toHaveLength(13)
  expect(contacts.find(({ contact_id }) => contact_id === id)).toMatchObject({
    email: 'ada@example.com',
    properties: { city: 'Zürich "1"\n' },
  })
  expect(read('notes.ndjson.gz')).toMatchObject([{ contact_id: id, content: 'Met her.' }])
  const events = read('events.ndjson.gz')
  expect(events.find(({ event }) => event === 'page_view')).toMatchObject({ contact_id: id, data: { a: [1] } })
  expect(events.find(({ event }) => event === 'before')).toMatchObject({ contact_id: id })
  expect(events.filter(({ event }) => event === 'contact_created')).toHaveLength(13)
  expect(read('api_keys.ndjson.gz')[0]).not.toHaveProperty('key_hash')
  const [manifest] = read('manifest.json')
  expect(manifest).toMatchObject({ tenant_id: tenant.id, counts: { contacts: 13, notes: 1, events: events.length } })
  const everything = exportedRows(TABLES).flatMap(({ name }) => read(`${name}.ndjson.gz`))
  const text = JSON.stringify([everything, events])
  expect(text).not.toContain(stranger.id)
  expect(text).not.toContain('stranger@example.com')
  expect(text).not.toContain('_sealed')
})

test("a merged contact's events are exported as its survivor's, and as its own once it is unmerged", async () => {
  const merging = await createTestTenant(service)
  const owner = await signedIn(service, merging.id, 'owner')
  const ada = await merging.contact('ada@example.com')
  await merging.track({ visitor_id: 'v', events: [{ event: 'before' }] })
  const old = await merging.contact('old@example.com', {}, { visitor_id: 'v' })
  await merging.track({ visitor_id: 'v', events: [{ event: 'after' }] })
  const idsIn = async () => {
    const read = unpack((await exported(owner)).bytes)
    const contacts = read('contacts.ndjson.gz').map(({ contact_id }) => contact_id)
    const events = read('events.ndjson.gz').filter(({ visitor_id }) => visitor_id === 'v')
    return { contacts, events: events.map(({ event, contact_id }) => [event, contact_id]) }
  }
  expect((await merging.call('POST', `/v1/contacts/${old}/merge`, { into: ada })).status).toBe(200)
  expect(await idsIn()).toEqual({
    contacts: [ada],
    events: [
      ['before', ada],
      ['after', ada],
    ],
  })
  expect((await merging.call('POST', `/v1/contacts/${old}/unmerge`)).status).toBe(200)
  expect(await idsIn()).toEqual({
    contacts: [ada, old],
    events: [
      ['before', old],
      ['after', old],
    ],
  })
})

test('only administrators of the tenant can download the file, for a day', async () => {
  const { id } = await exported(admin)
  const path = `/v1/exports/${id}/file`
  const member = await signedIn(service, tenant.id, 'member')
  expect((await member.call('GET', path)).body.error.code).toBe('insufficient_role')
  const stranger = await signedIn(service, (await createTestTenant(service)).id, 'owner')
  for (const url of [path, `/v1/exports/${id}`]) {
    const response = await stranger.call('GET', url)
    expect([response.status, response.body.error.code]).toEqual([404, 'not_found'])
  }
  const key = await tenant.keyWith('contacts:read', 'data:erase')
  expect((await tenant.call('GET', path, undefined, key)).body.error.code).toBe('insufficient_scope')
  shift = DAY_MS
  const late = await admin.call('GET', path)
  shift = 0
  expect([late.status, late.body.error.code]).toEqual([410, 'export_expired'])
  const { entries } = (await admin.call('GET', `/v1/audit-log?subject_id=${id}`)).body
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(['export.downloaded', 'export.created'])
})

test('a tenant has one export at a time; an interrupted one restarts and leaves no file behind', async () => {
  const other = await createTestTenant(service)
  const owner = await signedIn(service, other.id, 'owner')
  const lines = Array.from({ length: 6_000 }, (_, index) =>
    JSON.stringify({
      tenant_id: other.id,
      event_id: newId(),
      event: `e${index}`,
      timestamp: '2026-01-01 00:00:00.000',
      received_at: '2026-01-01 00:00:00.000',
      data: '{}',
    }),
  )
  await service.stores.clickhouse.insert('events', 'JSONEachRow', lines.join('\n'), newId())
  const exportId = await heldExport(other)
  expect((await owner.call('POST', '/v1/exports')).body.export_id).toBe(exportId)
  expect((await owner.call('GET', '/v1/audit-log')).body.entries).toEqual([])
  const notReady = await owner.call('GET', `/v1/exports/${exportId}/file`)
  expect([notReady.status, notReady.body.error.code]).toEqual([409, 'export_not_ready'])
  const status = async () => (await owner.call('GET', `/v1/exports/${exportId}`)).body.export.status
  // In a transaction, so that the service's workers cannot continue it.
  await other.handle.transaction(async (tx) => {
    await runExport({ handle: tx }, exportId, { stopping: AbortSignal.abort(new Error('stopping')) })
    await hold(EXPORT_ROWS, tx, exportId)
  })
  expect(filesOf(exportId)).toEqual([])
  expect(await status()).toBe('queued')
  await runExport(other, exportId)
  const done = (await owner.call('GET', `/v1/exports/${exportId}`)).body.export
  expect(done).toMatchObject({ status: 'ready', progress: 1, counts: { events: 6_000 } })
  const response = await fetch(`${service.url}${done.url}`, { headers: { cookie: owner.cookie } })
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(bytes.length).toBe(done.size_bytes)
  const names = unpack(bytes)('events.ndjson.gz').map(({ event }) => event)
  expect(new Set(names).size).toBe(6_000)
})

test('of two attempts of an export, the later one writes the file, and the earlier one stops', async () => {
  const other = await createTestTenant(service)
  const owner = await signedIn(service, other.id, 'owner')
  await other.contact('ada@example.com')
  const exportId = await heldExport(other)
  const attempt = () => runExport(other, exportId)
  // Both attempts wait here, in the middle of their files.
  const lock = await service.postgres.db.startTransaction().execute()
  await sql`LOCK TABLE notes IN ACCESS EXCLUSIVE MODE`.execute(lock)
  const first = attempt()
  await expect.poll(() => filesOf(exportId).length).toBe(1)
  const [file] = filesOf(exportId)
  const second = attempt()
  await expect.poll(() => filesOf(exportId)).toEqual([expect.not.stringMatching(String(file))])
  await lock.rollback().execute()
  await Promise.all([first, second])
  const done = (await owner.call('GET', `/v1/exports/${exportId}`)).body.export
  expect(done).toMatchObject({ status: 'ready', error: null, counts: { contacts: 1 } })
  const response = await fetch(`${service.url}${done.url}`, { headers: { cookie: owner.cookie } })
  expect(unpack(Buffer.from(await response.arrayBuffer()))('contacts.ndjson.gz')).toHaveLength(1)
  expect(filesOf(exportId)).toEqual([`${exportId}.tar`])
  const ofExport = service.logged.filter((line) => line.includes(exportId))
  expect(ofExport.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({ level: 30, msg: 'a run has ended, or another process continues it' }),
  )
  expect(ofExport.join()).not.toContain('failed')
})

test('an export whose end cannot be committed fails and leaves no file behind', async () => {
  const other = await createTestTenant(service)
  const exportId = await heldExport(other)
  const directory = mkdtempSync(join(tmpdir(), 'cds-export-'))
  await sql`CREATE FUNCTION refuse_commit() RETURNS trigger LANGUAGE plpgsql AS
    ${sql.lit("BEGIN RAISE EXCEPTION 'not committed'; END")}`.execute(service.stores.database)
  await sql`CREATE CONSTRAINT TRIGGER refuse_commit AFTER UPDATE ON exports DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
    WHEN (new.status = 'completed') EXECUTE FUNCTION refuse_commit()`.execute(service.stores.database)
  try {
    await runExport(other, exportId, { directory })
    const failed = other.handle.db.selectFrom('exports').select('status').where('export_id', '=', exportId)
    expect([await failed.executeTakeFirst(), readdirSync(directory)]).toEqual([{ status: 'failed' }, []])
  } finally {
    await sql`DROP FUNCTION refuse_commit CASCADE`.execute(service.stores.database)
    rmSync(directory, { recursive: true })
  }
})

test('an export that cannot be written fails with an error', async () => {
  const other = await createTestTenant(service)
  const owner = await signedIn(service, other.id, 'owner')
  const exportId = await heldExport(other)
  const directory = join(service.config.dataDirectory, 'a-file')
  writeFileSync(directory, '')
  await runExport(other, exportId, { directory: join(directory, 'below') })
  const { export: failed } = (await owner.call('GET', `/v1/exports/${exportId}`)).body
  expect(failed).toMatchObject({ status: 'failed', url: null, error: expect.any(String) })
  const { export_id: second } = (await owner.call('POST', '/v1/exports')).body
  expect(second).not.toBe(exportId)
  const pages = await Promise.all([1, 2].map((page) => owner.call('GET', `/v1/exports?limit=1&page=${page}`)))
  expect(pages.map(({ body }) => body.exports[0].export_id)).toEqual([second, exportId])
  expect(pages[0]?.body.pagination).toEqual({ page: 1, limit: 1, total_pages: 2, total_items: 2 })
})
