import { type RawBuilder, sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { type Browser, signedIn } from './people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant
let owner: Browser

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  owner = await signedIn(service, tenant.id, 'owner')
})

/** Adds rows as if that many had been created, which would take minutes. */
function fill(table: string, columns: Record<string, RawBuilder<unknown>>, rows: number) {
  const all = { tenant_id: sql`${tenant.id}::uuid`, ...columns }
  const names = sql.join(Object.keys(all).map((name) => sql.ref(name)))
  return sql`INSERT INTO ${sql.table(table)} (${names}) SELECT ${sql.join(Object.values(all))}
    FROM generate_series(1, ${rows}) AS n`.execute(service.stores.database)
}

const ID = sql`gen_random_uuid()`
const NOW = sql`now()`
const TIMES = { created_at: NOW, updated_at: NOW }
const NUMBERED = (text: string) => sql`${text}::text || n`

test('a tenant can have 200 saved views', async () => {
  const view = { name: 'One more', page: 'contacts', query: {}, columns: [] }
  const columns = {
    page: sql`'contacts'`,
    query: sql`'{}'::jsonb`,
    columns: sql`'{}'::text[]`,
    created_by: sql`'{}'::jsonb`,
  }
  await fill('saved_views', { view_id: ID, name: NUMBERED('View '), ...columns, ...TIMES }, 200)
  await refused('POST', '/v1/views', view, 'too_many_views')
})

test('a tenant can have 500 domains', async () => {
  const columns = { domain: sql`'d' || n || '.example'`, txt_value: sql`'x'`, created_at: NOW }
  await fill('domains', { domain_id: ID, ...columns }, 500)
  await refused('POST', '/v1/domains', { domain: 'more.example' }, 'too_many_domains')
})

test('a tenant can have 500 segments', async () => {
  const filter = { match: 'all', conditions: [{ property: 'country', operator: 'equals', value: 'France' }] }
  const flags = { uses_events: sql`false`, uses_time: sql`false`, evaluated_at: NOW }
  const columns = { name: NUMBERED('Segment '), filter: sql`${JSON.stringify(filter)}::jsonb`, ...flags }
  await fill('segments', { segment_id: ID, ...columns, ...TIMES }, 500)
  await refused('POST', '/v1/segments', { name: 'One more', filter }, 'too_many_segments')
})

test('a tenant can have 10,000 identities', async () => {
  const columns = { first_name: sql`'Ada'`, last_name: sql`'Lovelace'`, role: sql`'Sales'` }
  await fill('identities', { identity_id: ID, ...columns, ...TIMES }, 10_000)
  const identity = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
  await refused('POST', '/v1/identities', identity, 'too_many_identities')
})

test('a tenant can have 100 pending invitations; one of them can still be renewed', async () => {
  const invited = { email: 'first@example.com', role: 'viewer' }
  const { invitation } = (await owner.call('POST', '/v1/invitations', invited)).body
  const columns = {
    email: sql`'i' || n || '@example.com'`,
    role: sql`'viewer'`,
    token_hash: sql`sha256(n::text::bytea)`,
  }
  const times = { created_at: NOW, expires_at: sql`now() + interval '1 day'`, proves_address: sql`false` }
  await fill('invitations', { invitation_id: ID, ...columns, ...times }, 100)
  await refused('POST', '/v1/invitations', { email: 'more@example.com', role: 'viewer' }, 'too_many_invitations')
  const renewal = await owner.call('POST', `/v1/invitations/${invitation.invitation_id}/renew`)
  expect([renewal.status, renewal.body.error.code]).toEqual([409, 'too_many_invitations'])
})

test('a tenant can have 500 agents, and 100 runs that have not ended', async () => {
  const { agent } = (await tenant.call('POST', '/v1/agents', { name: 'First' })).body
  const ended = { requested_by: sql`'{}'::jsonb`, configuration: sql`'{}'::jsonb`, created_at: NOW }
  const columns = { agent_id: sql`${agent.agent_id}::uuid`, status: sql`'queued'`, trigger: sql`'manual'`, ...ended }
  await fill('agent_runs', { run_id: ID, ...columns }, 100)
  await refused('POST', `/v1/agents/${agent.agent_id}/trigger`, {}, 'too_many_runs')
  await fill('agents', { agent_id: ID, name: NUMBERED('Agent '), ...TIMES }, 499)
  await refused('POST', '/v1/agents', { name: 'One more' }, 'too_many_agents')
  // Nobody works on runs that are not due; deleting the agent deletes them.
  await tenant.call('DELETE', `/v1/agents/${agent.agent_id}`)
})

test('a tenant can have 200 webhook subscriptions, paused ones included', async () => {
  const columns = { event: sql`'page_view'`, url: sql`'https://hooks.example.com/'`, header_names: sql`'{}'::text[]` }
  await fill(
    'webhook_subscriptions',
    { subscription_id: ID, ...columns, secret_sealed: sql`''`, paused_at: NOW, ...TIMES },
    200,
  )
  const webhook = { event: 'page_view', url: 'https://hooks.example.com/more' }
  await refused('POST', '/v1/webhooks', webhook, 'too_many_webhook_subscriptions')
})

test('a key can expire', async () => {
  const expires_at = new Date(Date.now() + 60_000).toISOString()
  const { status, body } = await owner.call('POST', '/v1/api-keys', {
    name: 'CI',
    scopes: ['contacts:read'],
    expires_at,
  })
  expect([status, (await owner.call('GET', `/v1/api-keys/${body.key_id}`)).body.key.expires_at]).toEqual([
    201,
    expires_at,
  ])
})

async function refused(method: string, path: string, body: object, code: string): Promise<void> {
  const response = await owner.call(method, path, body)
  expect([response.status, response.body.error?.code]).toEqual([409, code])
}
