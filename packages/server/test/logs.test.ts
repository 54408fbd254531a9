import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { serializeEvents } from '../src/journal/event-record.ts'
import { newId } from '../src/platform/ids.ts'
import { eventNow } from './journal.ts'
import { callMcp } from './mcp.ts'
import { createPersonalData, EMAIL, expectNoToken } from './personal-data.ts'
import { type ScriptedModel, startScriptedModel } from './scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** The log at its default level says what happened to which record, and nothing about people. */
let model: ScriptedModel
let service: TestService
let tenant: TestTenant
let ids: Record<string, string>
beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_LLM_BASE_URL: model.url,
    CDS_LLM_MODEL: 'scripted',
    CDS_LLM_API_KEY: 'the-key',
    CDS_LLM_PRICES: JSON.stringify({ scripted: { input: 1, output: 1 } }),
  })
  tenant = await createTestTenant(service)
  ids = await createPersonalData(service, tenant)
})
let before = 0
beforeEach(() => {
  before = service.logged.length
})
afterAll(async () => {
  await service.close()
  await model.close()
})

const INFO = 30

/** What an operator reads: the lines of the default level, of the current test. */
const shown = () => service.logged.slice(before).filter((line) => (JSON.parse(line) as { level: number }).level >= INFO)

/** Expects that the log says something with these words, and nothing about people. */
function expectLogged(words: string): void {
  expect(shown().join('')).toContain(words)
  for (const line of shown()) expectNoToken(line, 'the log')
}

/** Lets no row be written into a table: PostgreSQL's error quotes the row. */
async function refuseRows(table: string): Promise<void> {
  const { database } = service.stores
  await sql`ALTER TABLE ${sql.table(table)} ADD CONSTRAINT no_more CHECK (false) NOT VALID`.execute(database)
  onTestFinished(async () => {
    await sql`ALTER TABLE ${sql.table(table)} DROP CONSTRAINT no_more`.execute(database)
  })
}

const PERSON = {
  email: 'zorblax.two@mailtoken.example',
  properties: { firstname: 'Zorblax', phone: '+49 171 5550123' },
}

test('records of all kinds, as they are written', () => {
  expect(service.logged.length).toBeGreaterThan(0)
  before = 0
  for (const line of shown()) expectNoToken(line, 'the log')
})

test('typical requests, and those that callers get wrong', async () => {
  for (const path of [
    `/v1/contacts?search=zorblax`,
    `/v1/contacts/${EMAIL}`,
    `/v1/suppressions/${EMAIL}`,
    `/v1/contacts/${ids.contact_id}?include=provenance,raw`,
    `/v1/events?url_contains=querytoken&limit=zorblax`,
    `/v1/zorblax/${EMAIL}?phone=5550123`,
  ]) {
    await tenant.call('GET', path)
  }
  await tenant.call('POST', '/v1/contacts', { email: EMAIL, properties: { firstname: 'Zorblax' } })
  await tenant.call('POST', '/v1/contacts', { email: 'zorblax at mailtoken', phone: ['5550123'] })
  await tenant.call('POST', '/v1/events', { events: [{ event: 'x', email: EMAIL, timestamp: 'zorblax' }] })
  await tenant.track({ visitor_id: 'Zorblax', events: [{ event: '', url: 'zorblax' }] })
  const key = await tenant.keyThatSeesAll()
  await callMcp(service, key, 'tools/call', { name: 'search_contacts', arguments: { query: 'Zorblax', limit: 'x' } })
  for (const line of shown()) expectNoToken(line, 'the log')
})

test.each([
  ['contacts', () => tenant.call('POST', '/v1/contacts', PERSON)],
  ['contacts', () => tenant.call('POST', '/v1/identify', PERSON)],
  ['notes', () => tenant.call('POST', `/v1/contacts/${ids.contact_id}/notes`, { content: 'notetoken' })],
])('a row of %s that PostgreSQL refuses', async (table, send) => {
  await refuseRows(table)
  expect((await send()).status).toBe(500)
  expectLogged('no_more')
})

test('a value that PostgreSQL cannot read', async () => {
  await sql`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS
    ${sql.lit("BEGIN PERFORM (NEW.properties ->> 'firstname')::integer; RETURN NEW; END")}`.execute(
    service.stores.database,
  )
  await sql`CREATE TRIGGER broken BEFORE INSERT ON contacts FOR EACH ROW EXECUTE FUNCTION broken()`.execute(
    service.stores.database,
  )
  onTestFinished(async () => {
    await sql`DROP FUNCTION broken CASCADE`.execute(service.stores.database)
  })
  expect((await tenant.call('POST', '/v1/contacts', PERSON)).status).toBe(500)
  expectLogged('invalid input syntax for type integer')
})

test('a tool of the MCP server that fails', async () => {
  await refuseRows('notes')
  const key = await tenant.keyThatSeesAll()
  const args = { contact_id: ids.contact_id, content: 'notetoken of Zorblax' }
  const { body } = await callMcp(service, key, 'tools/call', { name: 'add_note', arguments: args })
  expect(body.result.isError).toBe(true)
  expectLogged('a call of an MCP tool failed')
})

test('an event that ClickHouse refuses', async () => {
  const record = eventNow(tenant.id, 'signup')
  const rows = serializeEvents([{ ...record, owner_id: 'Zorblax Quintörp' }])
  const row = { journal_id: newId(), tenant_ids: [tenant.id], row_count: 1, rows }
  await service.stores.database.insertInto('journal').values(row).execute()
  await service.projector.drain()
  expectLogged('an event cannot be stored and is set aside')
})

test('a model that answers with an error', async () => {
  model.answer = () => ({
    status: 400,
    raw: JSON.stringify({ error: { message: 'Zorblax Quintörp is not valid JSON' } }),
  })
  expect((await tenant.call('POST', '/v1/ask', { question: `Who is ${EMAIL}?` })).status).toBe(502)
  const { body } = await tenant.call('POST', '/v1/agents', {
    name: 'Broken',
    enabled: true,
    capabilities: ['notes'],
    playbook: { playbook_md: 'Greet.' },
  })
  const run = await tenant.call('POST', `/v1/agents/${body.agent.agent_id}/trigger`, { contact_ids: [ids.contact_id] })
  await until(async () => {
    const { run: state } = (await tenant.call('GET', `/v1/agents/runs/${run.body.job_id}`)).body
    expect(['failed', 'completed']).toContain(state.status)
  })
  expectLogged('a contact could not be evaluated')
})
