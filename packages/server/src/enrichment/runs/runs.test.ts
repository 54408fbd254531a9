import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { act, uploaded } from '../../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { EnrichmentRun, RunState } from './run-object.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service, { enriches: true })
})

const PHONE = '+43 1 588580'
const switches = (isOn: boolean) => ({ company: isOn, place: isOn, phone: isOn, name: isOn })
const set = async (body: object) => expect((await tenant.call('PATCH', '/v1/enrichment', body)).status).toBe(200)
const path = (runId: string) => `/v1/enrichment/runs/${runId}`
const read = async (runId: string): Promise<EnrichmentRun> => (await tenant.call('GET', path(runId))).body.run
const ask = async (method: string, url: string, body?: object, key = tenant.key) => {
  const response = await tenant.call(method, url, body, key)
  return `${response.status} ${response.body.error?.code}`
}

async function ended(runId: string, state: RunState): Promise<EnrichmentRun> {
  await expect.poll(async () => (await read(runId)).state, { timeout: 120_000 }).toBe(state)
  return read(runId)
}
async function start(body: object = {}): Promise<EnrichmentRun> {
  const { status, body: response } = await tenant.call('POST', '/v1/enrichment/runs', body)
  expect([status, response.error]).toEqual([202, undefined])
  return response.run
}
const enrich = async (body: object = {}) => ended((await start(body)).run_id, 'completed')
async function undo({ run_id }: EnrichmentRun): Promise<EnrichmentRun> {
  const { status, body } = await tenant.call('POST', `${path(run_id)}/undo`)
  expect([status, body.error]).toEqual([202, undefined])
  return ended(run_id, 'undone')
}
/** Contacts that exist before enrichment is on. */
async function whileOff(create: () => Promise<string>[]): Promise<string[]> {
  await set(switches(false))
  const ids = await Promise.all(create())
  await set(switches(true))
  return ids
}
/** The service has looked at the places of all visits so far: a later one of another tenant is known. */
async function visitsAreLookedAt(): Promise<void> {
  const witness = await createTestTenant(service, { enriches: true })
  const id = await witness.contact('witness@example.com')
  const visit = { event: 'opened', email: 'witness@example.com', context: { ip: '91.7.4.19' } }
  expect((await witness.call('POST', '/v1/events', { events: [visit] })).status).toBe(200)
  await until(async () =>
    expect((await witness.call('GET', `/v1/contacts/${id}`)).body.contact.properties.country).toBe('DE'),
  )
}
const put = async (contactId: string, body: object) =>
  expect((await tenant.call('PUT', `/v1/contacts/${contactId}`, body)).status).toBe(200)
const contact = async (contactId: string) => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact
const countOf = async (url: string) => (await tenant.call('GET', url)).body.count
const eventsOf = (event: string) => countOf(`/v1/events?event_type=${event}&count_only=true`)

/** Everything that is stored of contacts and companies, without the times of changes. */
async function everything() {
  const { contacts } = (await tenant.call('GET', '/v1/contacts?sort_by=email&include=provenance&limit=100')).body
  const records = await tenant.handle.db
    .selectFrom('contact_sources')
    .select(['contact_id', 'source', 'external_id', 'fields', 'raw', 'updated_at', 'enriched_at'])
    .orderBy('contact_id')
    .orderBy('source')
    .execute()
  const times = await tenant.handle.db.selectFrom('contacts').select(['contact_id', 'enriched_at']).execute()
  const companies = (await tenant.call('GET', '/v1/companies')).body.companies
  const sorted = times.toSorted((a, b) => (a.contact_id < b.contact_id ? -1 : 1))
  return {
    contacts: contacts.map(({ updated_at: _, ...rest }: { updated_at: string }) => rest),
    records,
    times: sorted,
    companies,
  }
}

test('a run enriches every contact once and says how far it is, and undoing it restores everything', async () => {
  const [ada = '', bo = '', cy = ''] = await whileOff(() => [
    tenant.contact('ada@acme.io', { phone: PHONE }),
    tenant.contact('bo@acme.io'),
    tenant.contact('cy@example.com'),
  ])
  const full = Object.fromEntries(Array.from({ length: 498 }, (_, number) => [`key_${number}`, 'x']))
  const [di = ''] = await whileOff(() => [tenant.contact('di@example.com', { ...full, phone: PHONE })])
  // What an earlier enrichment filled is stale now: the run takes it back.
  const ed = await tenant.contact('ed@globex.io', { phone: PHONE })
  await whileOff(() => [put(ed, { properties: { phone: null, email: 'ed@initech.io' } }).then(() => ed)])
  const before = await everything()

  const requested = await start()
  expect(requested).toMatchObject({
    state: 'queued',
    matching: {},
    total: 5,
    looked_at: 0,
    undo: null,
    can_undo: false,
  })
  const run = await ended(requested.run_id, 'completed')
  expect(run).toMatchObject({
    total: 5,
    looked_at: 5,
    enriched: 3,
    unchanged: 1,
    failed: 1,
    progress: 1,
    can_undo: true,
  })
  expect(run.errors).toMatchObject([{ contact_id: di, error: { code: 'validation_error' } }])
  expect((await contact(ada)).properties).toMatchObject({ phone_e164: '+431588580', phone_country: 'AT' })
  const company = (await contact(bo)).company_id
  expect([company, (await contact(cy)).company_id]).toEqual([(await contact(ada)).company_id, null])
  const changed = await contact(ed)
  expect([changed.properties.phone_e164, changed.company_id === before.contacts.at(-1)?.company_id]).toEqual([
    undefined,
    false,
  ])
  const updates = await eventsOf('contact_updated')
  expect((await enrich()).enriched).toBe(0)
  expect(await eventsOf('contact_updated')).toBe(updates)
  expect(await countOf('/v1/contacts?status=enriched&count_only=true')).toBe(3)

  const undone = await undo(run)
  expect(undone).toMatchObject({ can_undo: false, undo: { restored: 3, kept: 0, companies_deleted: 2 } })
  expect(await everything()).toEqual(before)
  expect(await eventsOf('contact_updated')).toBe(updates + 3)
  expect((await enrich()).enriched).toBe(3)
  const { entries } = (await tenant.call('GET', '/v1/audit-log?limit=100')).body
  const actions = entries.map(({ action }: { action: string }) => action)
  expect(actions).toEqual(expect.arrayContaining(['enrichment_run.started', 'enrichment_run.undone']))
})

test('what was changed since stays: values, companies with contacts, and contacts that are gone', async () => {
  const [ada = '', bo = '', cy = '', di = ''] = await whileOff(() =>
    ['ada', 'bo', 'cy', 'di'].map((name) => tenant.contact(`${name}@${name}.io`, { phone: PHONE })),
  )
  const run = await enrich()
  expect(run).toMatchObject({ enriched: 4 })
  await put(ada, { properties: { phone_e164: 'by hand' } })
  await put(bo, { company_id: null })
  await tenant.call('DELETE', `/v1/contacts/${cy}`)
  await tenant.call('POST', `/v1/contacts/${di}/merge`, { into: ada })
  await tenant.contact('later@bo.io')
  const undone = await undo(run)
  expect(undone.undo).toEqual({
    restored: 1,
    kept: 1,
    companies_deleted: 3,
    kept_contacts: [{ contact_id: ada, kept: ['phone_e164'] }],
  })
  const { properties, company_id } = await contact(ada)
  expect([properties.phone_e164, properties.phone_country, company_id]).toEqual(['by hand', undefined, null])
  expect((await contact(bo)).properties).not.toHaveProperty('phone_e164')
  const { companies } = (await tenant.call('GET', '/v1/companies')).body
  expect(companies.map(({ domain }: { domain: string }) => domain)).toEqual(['bo.io'])
})

describe('a run of some contacts', () => {
  const event = { match: 'all', conditions: [{ event: { type: 'opened' }, operator: 'did' }] }

  test('takes a filter, with events too, ids, a segment or an import, and reads what was seen of all of them', async () => {
    await set({ place: false })
    const ids: Record<string, string> = {}
    for (const name of ['ada', 'bo', 'cy']) ids[name] = await tenant.contact(`${name}@example.com`, { city: name })
    const seen = [
      { event: 'opened', email: 'ada@example.com', context: { ip: '91.7.4.19' }, timestamp: '2026-01-02T00:00:00Z' },
      { event: 'opened', email: 'ada@example.com', context: { ip: '2.6.77.3' }, timestamp: '2026-01-03T00:00:00Z' },
      { event: 'opened', email: 'bo@example.com', context: { ip: '91.7.4.19' } },
      { event: 'seen', email: 'cy@example.com', context: { ip: '91.7.4.19' } },
    ]
    expect((await tenant.call('POST', '/v1/events', { events: seen })).status).toBe(200)
    await visitsAreLookedAt()
    await set({ place: true })
    expect(await enrich({ filter: event })).toMatchObject({ matching: { filter: event }, total: 2, enriched: 2 })
    const countries = await Promise.all(Object.values(ids).map(async (id) => (await contact(id)).properties.country))
    expect(countries).toEqual(['FR', 'DE', undefined])

    const city = { match: 'all', conditions: [{ property: 'city', operator: 'in', value: ['bo', 'cy'] }] }
    const named = { contact_ids: [ids.ada, ids.cy, newId(), 'nobody'], filter: city }
    expect(await enrich(named)).toMatchObject({ total: 1, enriched: 1, matching: { contact_ids: { length: 3 } } })
    expect((await contact(ids.cy ?? '')).properties.country).toBe('DE')
    const segment = (await tenant.call('POST', '/v1/segments', { name: 'Cities', filter: city })).body.segment
    await until(async () =>
      expect((await tenant.call('GET', `/v1/segments/${segment.segment_id}`)).body.segment.contact_count).toBe(2),
    )
    expect(await enrich({ segment_id: segment.segment_id })).toMatchObject({ total: 2, enriched: 0, unchanged: 2 })
    await set({ phone: false })
    const file = await uploaded(tenant, `email,phone\ndi@example.com,${PHONE}\nada@example.com,${PHONE}\n`)
    await act(tenant, file, 'start', 'completed')
    await set({ phone: true })
    expect(await enrich({ import_id: file.import_id })).toMatchObject({ total: 2, enriched: 2 })
  })

  test('refuses what it cannot find, and callers who may not', async () => {
    const ada = await tenant.contact('ada@acme.io')
    const runs = '/v1/enrichment/runs'
    for (const [body, code] of [
      [{ filter: { match: 'all' } }, 'validation_error'],
      [{ segment_id: newId() }, 'unknown_segment'],
      [{ import_id: newId() }, 'unknown_import'],
      [{ contact_ids: [] }, 'validation_error'],
      [{ contact_ids: Array.from({ length: 1_001 }, () => ada) }, 'validation_error'],
    ] as const) {
      expect(await ask('POST', runs, body)).toBe(`400 ${code}`)
    }
    const run = await enrich()
    const other = await createTestTenant(service)
    for (const [method, url] of [
      ['GET', path(run.run_id)],
      ['POST', `${path(run.run_id)}/cancel`],
      ['POST', `${path(run.run_id)}/undo`],
    ] as const) {
      expect(await ask(method, url, undefined, other.key)).toBe('404 not_found')
    }
    expect((await tenant.call('GET', runs, undefined, other.key)).body.runs).toEqual([])
    const reader = await tenant.keyWith('contacts:read')
    const writer = await tenant.keyWith('contacts:write')
    for (const key of [reader, writer]) expect(await ask('POST', runs, {}, key)).toBe('403 insufficient_scope')
    const noEvents = await tenant.keyWith('contacts:write', 'contacts:read')
    expect(await ask('POST', runs, { filter: event }, noEvents)).toBe('403 insufficient_scope')
    expect(await ask('POST', `${path(run.run_id)}/undo`, {}, reader)).toBe('403 insufficient_scope')
    expect(await ask('POST', `${path(run.run_id)}/cancel`)).toBe('409 invalid_run_state')
    const { body } = await tenant.call('GET', `${runs}?state=completed&page=1&limit=1`)
    expect(body).toMatchObject({ runs: [{ run_id: run.run_id, unchanged: 1 }], pagination: { total_items: 1 } })
    expect(body.runs[0]).not.toHaveProperty('errors')
    expect((await tenant.call('GET', `${runs}?state=failed`)).body.runs).toEqual([])
  })
})

test('a run is cancelled between two transactions, and what it filled by then can be undone for seven days', async () => {
  const count = 450
  await whileOff(() => Array.from({ length: count }, (_, n) => tenant.contact(`p${n}@acme.io`, { phone: PHONE })))
  const before = (await everything()).records
  // The last contact is locked, so that the run waits before its last transaction.
  const last = await tenant.handle.db
    .selectFrom('contacts')
    .select('contact_id')
    .orderBy('contact_id', 'desc')
    .executeTakeFirstOrThrow()
  const run = await tenant.handle.transaction(async (tx) => {
    await tx.db
      .selectFrom('contacts')
      .select('contact_id')
      .where('contact_id', '=', last.contact_id)
      .forUpdate()
      .execute()
    const { run_id } = await start()
    await expect.poll(async () => (await read(run_id)).enriched, { timeout: 60_000 }).toBe(400)
    expect(await ask('POST', '/v1/enrichment/runs', {})).toBe('409 another_enrichment_run')
    expect(await ask('POST', `${path(run_id)}/undo`)).toBe('409 invalid_run_state')
    expect((await tenant.call('POST', `${path(run_id)}/cancel`)).body).toMatchObject({ cancelled: true })
    expect((await tenant.call('POST', `${path(run_id)}/cancel`)).body).toMatchObject({ cancelled: false })
    return read(run_id)
  })
  expect(run).toMatchObject({ state: 'cancelled', total: count, looked_at: 400, enriched: 400, can_undo: true })
  expect(run.progress).toBeCloseTo(400 / count)
  const undone = await undo(run)
  expect(undone.undo).toMatchObject({ restored: 400, kept: 0, companies_deleted: 1 })
  expect((await everything()).records).toEqual(before)

  const later = await enrich({ contact_ids: [last.contact_id] })
  const old = new Date(Date.now() - 7 * DAY_MS)
  await tenant.handle.db
    .updateTable('enrichment_runs')
    .set({ created_at: old })
    .where('run_id', '=', later.run_id)
    .execute()
  expect(await read(later.run_id)).toMatchObject({ can_undo: false })
  expect(await ask('POST', `${path(later.run_id)}/undo`)).toBe('409 invalid_run_state')
})

test('a run whose segment is deleted fails and says why, and its contacts can be erased', async () => {
  const [ada = ''] = await whileOff(() => [tenant.contact('ada@acme.io', { phone: PHONE })])
  const run = await enrich()
  const erasure = await tenant.call('POST', '/v1/erasures', { contact_id: ada })
  expect(erasure.status).toBe(202)
  await until(async () =>
    expect(await tenant.handle.db.selectFrom('enrichment_run_changes').selectAll().execute()).toEqual([]),
  )
  expect((await undo(run)).undo).toMatchObject({ restored: 0, kept: 0, companies_deleted: 1 })

  const matching = JSON.stringify({ segment_id: newId() })
  const runId = newId()
  await tenant.handle.db
    .insertInto('enrichment_runs')
    .values({ run_id: runId, matching, total: 1, status: 'queued', due_at: new Date(), created_at: new Date() })
    .execute()
  expect(await ended(runId, 'failed')).toMatchObject({ error: { code: 'unknown_segment' }, can_undo: false })
})
