import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tablesWith } from '../../test/everything.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { claimHeld, hold } from '../../test/runs.ts'
import { createTestTenant, type TestTenant } from '../../test/service.ts'
import { arrived, startWebhookBench, until, type WebhookBench } from '../../test/webhooks.ts'
import { mentionPattern } from '../contacts/erasure-subject.ts'
import { deleteImportFiles } from '../imports/expire.ts'
import { importDirectory } from '../imports/files.ts'
import { episodeId } from '../journal/episodes.ts'
import { EMPTY_RECORD, serializeEvents } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { deleteJobs } from '../platform/jobs/jobs.ts'
import { createSegment } from '../segments/segments.ts'
import { expireExports, exportDirectory } from '../tenant-export/exports.ts'
import { type ErasureDependencies, erase as eraseAll } from './erase.ts'
import { createEventEraser } from './erase-events.ts'
import { ERASURE_ROWS, emailHash, requestErasure } from './erasures.ts'

let bench: WebhookBench
let tenant: TestTenant
let admin: Browser
let dependencies: ErasureDependencies

const ofContact = (owner_id: string) => ({ owner_id, is_anonymous: false })
const ofEpisode = (visitorId: string) => ({ owner_id: episodeId(tenant.id, visitorId, 0), is_anonymous: true })
const EMAIL = "grace.o'hopper+1@example.com"

beforeAll(async () => {
  bench = await startWebhookBench()
  const { service } = bench
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
  dependencies = {
    ...service,
    events: createEventEraser({
      ...service.stores,
      cluster: null,
      projector: service.projector,
    }),
    deleteJobs: (tenantId, texts) => deleteJobs(service.stores.database, tenantId, texts),
    deleteExportFiles: (of) => expireExports(of, exportDirectory(service.config.dataDirectory)),
    deleteImportFiles: (of, before) => {
      return deleteImportFiles(of, importDirectory(service.config.dataDirectory), before, new Date())
    },
  }
})
afterAll(() => bench.close())

/** Every table of both stores that contains a text, with what ClickHouse keeps of its deletions. */
async function placesOf(text: string): Promise<string[]> {
  const { stores } = bench.service
  const mutations = await stores.clickhouse.query<{ n: number }>(
    'SELECT count() AS n FROM system.mutations WHERE positionCaseInsensitiveUTF8(command, {text: String}) > 0',
    { text },
  )
  const isInMutations = Number(mutations[0]?.n) > 0
  return [...(await tablesWith(stores, text)), ...(isInMutations ? ['system.mutations'] : [])]
}

const LINKS = ['public.owner_links', 'owner_links']
/** The tables of links, of both stores, that contain an id. */
async function linksWith(id: string): Promise<string[]> {
  return (await placesOf(id)).filter((place) => LINKS.includes(place))
}

/** Erases a contact. @returns the receipt once it is erased: a long erasure continues after the response. */
async function erase(contactId: string) {
  const { status, body } = await admin.call('POST', '/v1/erasures', { contact_id: contactId })
  expect(status).toBe(202)
  return until(async () => {
    const { receipt } = (await admin.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body
    expect(receipt.status).not.toBe('running')
    return receipt
  })
}

/** Runs the verification without waiting for its delay. */
async function runVerification(erasureId: string): Promise<void> {
  await eraseAll(await claimHeld(ERASURE_ROWS, tenant.handle, erasureId), dependencies)
}

test('a contact is erased from every table of both stores, with a receipt without personal data', async () => {
  const { service } = bench
  await bench.subscribe(tenant, { event: 'page_view', url: bench.receiver.url('/seen') })
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Arlington' }] }
  await createSegment(tenant.handle, { name: 'Arlington', description: null, filter }, new Date())
  const id = await tenant.contact(EMAIL, { city: 'Arlington', phone: '555-0199' }, { visitor_id: 'grace' })
  const other = await tenant.contact('bob@example.com', {}, { visitor_id: 'bob' })
  const longer = await tenant.contact(`x${EMAIL}`, {}, { visitor_id: 'longer' })
  await tenant.call('POST', '/v1/sources/crm/contacts', { records: [{ external_id: 'c1', email: EMAIL }] })
  await tenant.call('POST', `/v1/contacts/${id}/notes`, { content: `Wrote from ${EMAIL}` })
  await tenant.call('POST', `/v1/contacts/${other}/notes`, { content: `Knows ${EMAIL.toUpperCase()}, and ${EMAIL}.` })
  await call('/recover-visitor', { fingerprint: 'a'.repeat(64), visitor_id: 'grace' })
  const url = `https://${tenant.site}/?invite=${encodeURIComponent(EMAIL)}`
  await tenant.track({ visitor_id: 'grace', events: [{ event: 'page_view', data: { form: EMAIL } }] })
  await tenant.track({ visitor_id: 'bob', events: [{ event: 'invited', url }, { event: 'page_view' }] })
  await tenant.track({ visitor_id: 'stranger', events: [{ event: 'invited', url }] })
  await tenant.track({ visitor_id: 'longer', events: [{ event: 'kept', data: { mail: `x${EMAIL}` } }] })
  await arrived(bench.receiver, '/seen', 2)
  // Once this returns, ClickHouse has all events so far.
  await tenant.call('GET', '/v1/events')
  await insertRun(id)
  // An anonymous event of the visitor that was in flight when it was identified, and events still in the journal.
  const late = { ...EMPTY_RECORD, tenant_id: tenant.id, event: 'late', timestamp: Date.now(), received_at: Date.now() }
  const rows = serializeEvents([
    { ...late, event_id: newId(), visitor_id: 'grace', ...ofEpisode('grace') },
    { ...late, event_id: newId(), ...ofContact(id), data: JSON.stringify({ email: EMAIL }) },
    { ...late, event_id: newId(), visitor_id: 'bob', ...ofEpisode('bob'), event: 'stays' },
  ])
  const journal = { journal_id: newId(), tenant_ids: [tenant.id], row_count: 3, rows }
  await service.stores.database.insertInto('journal').values(journal).execute()
  const refused = { journal_id: newId(), line: 0, table_name: 'events', row: rows, error: 'x' }
  await service.stores.database.insertInto('refused_events').values(refused).execute()
  // As its values are copied for a question about events.
  await tenant.handle.events.addToSet(newId(), `${id}\t"${EMAIL}"\n`)
  const before = await placesOf(EMAIL)
  expect(before).toContain('contact_sets')
  expect(before.length).toBeGreaterThan(8)

  const receipt = await erase(id)
  expect(receipt).toMatchObject({ contact_id: id, status: 'erased', requested_by: { name: 'The admin' } })
  expect(receipt.removed).toMatchObject({
    contacts: 1,
    notes: 1,
    contact_sources: expect.any(Number),
    segment_memberships: 1,
    visitor_links: expect.any(Number),
    fingerprints: 1,
    visitor_networks: 1,
    mentions_in_notes: 1,
    mentions_in_first_pages: 1,
    webhook_deliveries: 1,
    agent_actions: 1,
    agent_run_contacts: 1,
    events: expect.any(Number),
    refused_events: 1,
  })
  expect(receipt.email_hash.sha256).toBe(emailHash(receipt.email_hash.salt, EMAIL))
  // A longer address is someone else's; the search excludes it by its first letter.
  const places = async () => {
    await tenant.call('DELETE', `/v1/contacts/${longer}`)
    await runErasureOf(longer)
    return placesOf(EMAIL)
  }
  expect((await tenant.call('GET', '/v1/events?event_type=kept')).body.events).toHaveLength(1)
  expect((await tenant.call('GET', '/v1/events?event_type=stays')).body.events).toHaveLength(1)
  expect((await tenant.call('GET', '/v1/events?event_type=late')).body.events).toHaveLength(0)
  const notes = (await tenant.call('GET', `/v1/contacts/${other}/notes`)).body.notes
  expect(notes[0].content).toBe('Knows [erased], and [erased].')
  // The subject and the links are stored until the verification, which finds late events by them.
  const owners = [id, ofEpisode('grace').owner_id]
  for (const owner of owners) expect(await linksWith(owner)).toEqual(LINKS)
  await runVerification(receipt.erasure_id)
  for (const owner of owners) expect(await linksWith(owner)).toEqual([])
  expect(await places()).toEqual([])
  expect(await placesOf('555-0199')).toEqual([])
  const after = (await admin.call('GET', `/v1/erasures/${receipt.erasure_id}`)).body.receipt
  expect(after).toMatchObject({ status: 'verified', removed: receipt.removed })
  expect((await admin.call('GET', '/v1/erasures')).body.erasures).toContainEqual(after)
  expect((await tenant.call('GET', `/v1/contacts/${id}`)).status).toBe(404)
  // The request is recorded once.
  const entries = await sql<{ n: number }>`SELECT count(*) AS n FROM audit_log WHERE subject_id = ${id}`.execute(
    service.stores.database,
  )
  expect(entries.rows[0]?.n).toBe(1)

  async function runErasureOf(contactId: string): Promise<void> {
    await runVerification((await erase(contactId)).erasure_id)
    const kept = await tenant.handle.db.selectFrom('visitors').select('visitor_id').execute()
    expect(kept.map(({ visitor_id }) => visitor_id)).toContain('grace')
    await bench.service.stores.clickhouse.command(
      "ALTER TABLE events DELETE WHERE event = 'kept' SETTINGS mutations_sync = 2",
    )
  }
})

test('the contacts that were merged into an erased one are erased with it, each with a receipt', async () => {
  const [old, into] = ['merged.old@example.com', 'merged.into@example.com']
  const survivor = await tenant.contact(into)
  const merged = await tenant.contact(old, { phone: '555-0142' }, { visitor_id: 'merged' })
  await tenant.call('POST', '/v1/sources/crm/contacts', { records: [{ external_id: 'crm-0142', email: old }] })
  await tenant.track({ visitor_id: 'merged', events: [{ event: 'by_merged', data: { form: old } }] })
  const other = await tenant.contact('knows@example.com')
  await tenant.call('POST', `/v1/contacts/${other}/notes`, { content: `Knows ${old}` })
  expect((await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: survivor })).status).toBe(200)
  const gone = await admin.call('POST', '/v1/erasures', { contact_id: merged })
  expect([gone.status, gone.body.error.code]).toEqual([404, 'contact_merged'])
  // Once this returns, ClickHouse has the links of the merge.
  await tenant.call('GET', '/v1/events')
  const owners = [survivor, merged, ofEpisode('merged').owner_id]
  for (const owner of owners) expect(await linksWith(owner)).toEqual(LINKS)

  await runVerification((await erase(survivor)).erasure_id)
  const { erasures } = (await admin.call('GET', '/v1/erasures')).body
  const ofMerged = erasures.find(({ contact_id }: { contact_id: string }) => contact_id === merged)
  await until(async () => {
    const { receipt } = (await admin.call('GET', `/v1/erasures/${ofMerged.erasure_id}`)).body
    expect([receipt.status, receipt.removed.mentions_in_notes]).toEqual(['erased', 1])
  })
  await runVerification(ofMerged.erasure_id)
  for (const text of [old, into, '555-0142', 'crm-0142']) expect(await placesOf(text), text).toEqual([])
  for (const owner of owners) expect(await linksWith(owner)).toEqual([])
  expect((await tenant.call('GET', '/v1/events?event_type=by_merged')).body.events).toEqual([])
  expect((await tenant.call('POST', `/v1/contacts/${merged}/unmerge`)).status).toBe(404)
})

test('the verification deletes every version of the links of a contact that was merged and unmerged, and no others', async () => {
  const { clickhouse } = bench.service.stores
  const other = await tenant.contact('once.into@example.com', {}, { visitor_id: 'kept' })
  const id = await tenant.contact('once.merged@example.com', {}, { visitor_id: 'unmerged' })
  const owners = [id, ofEpisode('unmerged').owner_id]
  const change = async (path: string, body?: object) => {
    expect((await tenant.call('POST', `/v1/contacts/${id}/${path}`, body)).status).toBe(200)
    // Each version is inserted separately: ClickHouse keeps only the last one of an insertion.
    await tenant.call('GET', '/v1/events')
  }
  // ClickHouse deletes earlier versions whenever it merges parts. Stopping merges would stop deletions too.
  const SIZE_MAX = 'max_bytes_to_merge_at_max_space_in_pool'
  await clickhouse.command(`ALTER TABLE owner_links MODIFY SETTING ${SIZE_MAX} = 1`)
  await tenant.call('GET', '/v1/events')
  await change('merge', { into: other })
  await change('unmerge')
  const [earlier] = await clickhouse.query<{ n: number }>(
    'SELECT count() AS n FROM owner_links WHERE owner_id IN {owners: Array(UUID)} AND contact_id = {other: UUID}',
    { owners, other },
  )
  expect(Number(earlier?.n)).toBe(2)

  await runVerification((await erase(id)).erasure_id)
  for (const owner of owners) expect(await linksWith(owner)).toEqual([])
  for (const owner of [other, ofEpisode('kept').owner_id]) expect(await linksWith(owner)).toEqual(LINKS)
  await clickhouse.command(`ALTER TABLE owner_links RESET SETTING ${SIZE_MAX}`)
})

/** Inserts an erasure that no worker processes. */
async function insertErasure(contact_id: string): Promise<void> {
  const order = { contact_id, status: 'running', subject: '{}', requested_by: '{}', requested_at: new Date() }
  await tenant.handle.db
    .insertInto('erasures')
    .values({ ...order, erasure_id: newId() })
    .execute()
}

test('a merge is refused while one of the contacts is being erased', async () => {
  const [one, two] = [await tenant.contact('one@example.com'), await tenant.contact('two@example.com')]
  await insertErasure(two)
  for (const [from, into] of [
    [one, two],
    [two, one],
  ] as const) {
    const { status, body } = await tenant.call('POST', `/v1/contacts/${from}/merge`, { into })
    expect([status, body.error.code]).toEqual([409, 'erasure_under_way'])
  }
})

test('an unmerge is refused while the survivor is being erased', async () => {
  const [merged, survivor] = [await tenant.contact('merged@example.com'), await tenant.contact('survivor@example.com')]
  expect((await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: survivor })).status).toBe(200)
  await insertErasure(survivor)
  const { status, body } = await tenant.call('POST', `/v1/contacts/${merged}/unmerge`)
  expect([status, body.error.code]).toEqual([409, 'erasure_under_way'])
})

test('a second request returns the first erasure without an audit entry, and an unknown contact is 404', async () => {
  const id = await tenant.contact('twice@example.com')
  const [first, second] = await Promise.all([1, 2].map(() => admin.call('POST', '/v1/erasures', { contact_id: id })))
  expect(first?.body.receipt.erasure_id).toBe(second?.body.receipt.erasure_id)
  expect(await erase(id)).toMatchObject({ erasure_id: first?.body.receipt.erasure_id, status: 'erased' })
  const { entries } = (await admin.call('GET', `/v1/audit-log?subject_id=${id}`)).body
  expect(entries.map(({ action }: { action: string }) => action)).toEqual(['contact.erased'])
  for (const unknown of [newId(), 'no-id', '%00'])
    expect((await admin.call('POST', '/v1/erasures', { contact_id: unknown })).status).toBe(404)
})

test('a deleted contact is erased by its id', async () => {
  const id = await tenant.contact('gone@example.com', {}, { visitor_id: 'gone' })
  await tenant.track({ visitor_id: 'gone', events: [{ event: 'by_gone' }] })
  await tenant.call('DELETE', `/v1/contacts/${id}`)
  const receipt = await erase(id)
  expect(receipt).toMatchObject({ status: 'erased', email_hash: null, removed: { events: expect.any(Number) } })
  expect((await tenant.call('GET', '/v1/events?event_type=by_gone')).body.events).toEqual([])
  expect((await tenant.call('GET', `/v1/contacts/events/${id}`)).status).toBe(404)
})

test('an erasure that is interrupted anywhere resumes', async () => {
  const id = await tenant.contact('crash@example.com', {}, { visitor_id: 'crash' })
  await tenant.track({ visitor_id: 'crash', events: [{ event: 'crashed', data: { mail: 'crash@example.com' } }] })
  const steps = ['events', 'deleteJobs', 'deleteExportFiles', 'deleteImportFiles'] as const
  const erasureId = await tenant.handle.transaction(async (tx) => {
    const { erasureId } = await requestErasure(tx, id, { kind: 'service' }, new Date())
    await hold(ERASURE_ROWS, tx, erasureId)
    return erasureId
  })
  const run = async (dependencies: ErasureDependencies) =>
    eraseAll(await claimHeld(ERASURE_ROWS, tenant.handle, erasureId), dependencies)
  const broken = () => Promise.reject(new Error('crashed'))
  for (const step of steps) {
    const crashing = { ...dependencies, [step]: step === 'events' ? { erase: broken, deleteLinks: broken } : broken }
    await expect(run(crashing)).rejects.toThrow('crashed')
  }
  const status = () => admin.call('GET', `/v1/erasures/${erasureId}`).then(({ body }) => body.receipt)
  expect((await status()).status).toBe('running')
  await run(dependencies)
  expect(await status()).toMatchObject({ status: 'erased', removed: { contacts: 1 } })
  // A visitor of the erased contact is anonymous from then on, and the verification keeps its new events.
  await tenant.track({ visitor_id: 'crash', events: [{ event: 'new_life' }] })
  await run(dependencies)
  expect((await status()).status).toBe('verified')
  const { events } = (await tenant.call('GET', '/v1/events?event_type=new_life')).body
  expect(events).toMatchObject([{ internal_contact_id: null }])
  expect(await placesOf('crash@example.com')).toEqual([])
})

test('an erasure waits for a journal row that is being deleted', async () => {
  const { database } = bench.service.stores
  const contactId = await tenant.contact('cleared@example.com')
  const record = { ...EMPTY_RECORD, tenant_id: tenant.id, event_id: newId(), event: 'cleared', ...ofContact(contactId) }
  const rows = serializeEvents([{ ...record, timestamp: Date.now(), received_at: Date.now() }])
  const journal = { journal_id: newId(), tenant_ids: [tenant.id], row_count: 1, rows }
  await database.insertInto('journal').values(journal).execute()
  const { erasing } = await database.transaction().execute(async (clearing) => {
    await clearing.deleteFrom('journal').where('journal_id', '=', journal.journal_id).execute()
    const subject = { contactId, email: null, visitorIds: [], keys: [] }
    const erasing = dependencies.events.erase(tenant.handle, subject, async () => {})
    erasing.catch(() => {})
    const waiting = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%form_batch%'`
    await until(async () => expect((await waiting.execute(database)).rows[0]?.n).toBeGreaterThan(0))
    return { erasing }
  })
  expect(await erasing).toEqual({ refused_events: 0 })
})

test('events that arrive during a deletion are deleted by another one', async () => {
  const { stores, projector } = bench.service
  const contactId = await tenant.contact('arriving@example.com')
  const record = { ...EMPTY_RECORD, tenant_id: tenant.id, event: 'arriving', ...ofContact(contactId) }
  const insert = () => {
    const event = { ...record, event_id: newId(), timestamp: Date.now(), received_at: Date.now() }
    return stores.clickhouse.insert('events', 'JSONCompactEachRowWithNames', serializeEvents([event]), newId())
  }
  await insert()
  let orders = 0
  const clickhouse: typeof stores.clickhouse = {
    ...stores.clickhouse,
    command: async (statement, parameters) => {
      await stores.clickhouse.command(statement.replace('mutations_sync = 0', 'mutations_sync = 2'), parameters)
      if (++orders === 1) await insert()
    },
  }
  const { erase } = createEventEraser({ ...stores, clickhouse, cluster: null, projector })
  await erase(tenant.handle, { contactId, email: null, visitorIds: [], keys: [] }, async () => {})
  expect(orders).toBe(2)
  expect((await tenant.call('GET', `/v1/events?contact_id=${contactId}&include=system`)).body.events).toEqual([])
})

test('the verification is scheduled automatically and erases what arrived after the first run', async () => {
  const id = await tenant.contact('straggler@example.com')
  const receipt = await erase(id)
  const row = tenant.handle.db.selectFrom('erasures').where('erasure_id', '=', receipt.erasure_id)
  const waiting = await row.select(['status', 'waiting_for', 'due_at']).executeTakeFirstOrThrow()
  expect(waiting).toMatchObject({ status: 'waiting', waiting_for: 'verification' })
  expect(waiting.due_at?.getTime()).toBeGreaterThan(Date.now())
  const record = { ...EMPTY_RECORD, tenant_id: tenant.id, event_id: newId(), event: 'straggling', ...ofContact(id) }
  const line = serializeEvents([{ ...record, timestamp: Date.now(), received_at: Date.now() }])
  await bench.service.stores.clickhouse.insert('events', 'JSONCompactEachRowWithNames', line, newId())
  await runVerification(receipt.erasure_id)
  const after = (await admin.call('GET', `/v1/erasures/${receipt.erasure_id}`)).body.receipt
  expect(after.status).toBe('verified')
  expect(after.removed.events).toBe(receipt.removed.events + 1)
  await until(async () => expect(await placesOf(id)).not.toContain('events'))
})

test('only administrators erase, and only in their own tenant', async () => {
  const id = await tenant.contact('safe@example.com')
  const member = await signedIn(bench.service, tenant.id, 'member')
  expect((await member.call('POST', '/v1/erasures', { contact_id: id })).body.error.code).toBe('insufficient_role')
  const stranger = await signedIn(bench.service, (await createTestTenant(bench.service)).id, 'owner')
  expect((await stranger.call('POST', '/v1/erasures', { contact_id: id })).status).toBe(404)
  const key = await tenant.keyWith('contacts:write', 'data:export')
  expect((await tenant.call('POST', '/v1/erasures', { contact_id: id }, key)).body.error.code).toBe(
    'insufficient_scope',
  )
  expect((await tenant.call('GET', `/v1/contacts/${id}`)).status).toBe(200)
})

test.each([
  ['ada@example.com', 'ada@example.com', true],
  ['ada@example.com', 'mail ADA@Example.com, now', true],
  ['ada@example.com', '?e=ada%40example.com&x', true],
  ['ada@example.com', 'e%3Dada%40example.com', true],
  ['ada@example.com', 'To ada@example.com.', true],
  ['ada@example.com', 'nada@example.com', false],
  ['ada@example.com', 'x.ada@example.com', false],
  ['ada@example.com', 'ada@example.com.au', false],
  ['ada@example.com', 'ada@example.community', false],
  ['ada@example.com', 'ada@exampleXcom', false],
  ['jörg@müller.de', 'j%C3%B6rg%40m%C3%BCller.de', true],
  ['jörg@müller.de', 'J%C3%96RG%40M%C3%9CLLER.DE', true],
  ['νικοσ@example.gr', 'mail νικος@example.gr', true],
  ['νικοσ@example.gr', 'mail ΝΙΚΟΣ@example.gr', true],
  ['νικοσ@example.gr', `?e=${encodeURIComponent('νικος@example.gr')}`, true],
  ['νικοσ@example.gr', `?e=${encodeURIComponent('ΝΙΚΟΣ@example.gr')}`, true],
  ['a+b@x.co', '{"m":"a+b@x.co"}', true],
  ['a+b@x.co', 'aab@x.co', false],
])('%s is found in %j: %s, by both stores alike', async (email, text, found) => {
  const { database, clickhouse } = bench.service.stores
  const { rows } = await sql<{ found: boolean }>`SELECT ${text} ~* ${mentionPattern(email)} AS found`.execute(database)
  const [row] = await clickhouse.query<{ found: number }>('SELECT match({text: String}, {pattern: String}) AS found', {
    text,
    pattern: `(?i)${mentionPattern(email)}`,
  })
  expect([rows[0]?.found, Boolean(row?.found)]).toEqual([found, found])
})

async function call(path: string, body: unknown): Promise<void> {
  const response = await fetch(bench.service.url + path, {
    method: 'POST',
    headers: { origin: `https://${tenant.site}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(await response.text())
}

/** Inserts a run that evaluated the contact, with a proposed action. */
async function insertRun(contactId: string): Promise<void> {
  const { db } = tenant.handle
  const [agent_id, run_id, now] = [newId(), newId(), new Date()]
  await db.insertInto('agents').values({ agent_id, name: 'A', created_at: now, updated_at: now }).execute()
  const run = {
    run_id,
    agent_id,
    status: 'completed',
    trigger: 'manual',
    configuration: '{}',
    requested_by: '{}',
    created_at: now,
  }
  await db
    .insertInto('agent_runs')
    .values({ ...run, requested_contact_ids: [contactId] })
    .execute()
  const contact = { run_id, contact_id: contactId, position: 0, reasoning: `${EMAIL} is interested` }
  await db.insertInto('agent_run_contacts').values(contact).execute()
  const action = {
    run_id,
    contact_id: contactId,
    action_index: 0,
    agent_id,
    type: 'email_message',
    params: JSON.stringify({ to: EMAIL }),
  }
  await db
    .insertInto('agent_actions')
    .values({ ...action, status: 'pending_approval', created_at: now, updated_at: now })
    .execute()
}
