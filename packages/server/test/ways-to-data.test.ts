import { sql } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { OPERATIONS } from '../src/assembly/all-operations.ts'
import { type Declaration, isReading, routeOf } from '../src/operations/declare.ts'
import { SCOPES, scopesOf } from '../src/operations/scopes.ts'
import type { Tag } from '../src/operations/tags.ts'
import { NOTE, propose } from './actions.ts'
import { exampleOf, fill, fillBody, oneOfEach } from './one-of-each.ts'
import { createTestTenant, sharedService, type TestResponse, type TestService, type TestTenant } from './service.ts'
import { DELIVERED, MORE, NOTE_INDEX, OPENS_NOTHING, OTHERS, SENT, WAYS, WRITES } from './ways-to-data.ts'

/**
 * One scope is never worth others: what creates a way to data needs the scopes of that data. The tables are the
 * contract, not the declarations, so an operation that lacks its declaration fails here.
 */

let service: TestService
let tenant: TestTenant
let ids: Record<string, string>
let atFirst: unknown[]

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const each = await oneOfEach(service, tenant, 'ways')
  const place = { contactId: each.contact_id ?? '', agentId: each.agent_id ?? '', runId: each.run_id ?? '' }
  await propose(tenant.handle, service.jobs, {
    ...place,
    ...NOTE,
    actionIndex: NOTE_INDEX,
    proposedBy: { kind: 'service' },
  })
  ids = { ...each, action_index: String(NOTE_INDEX) }
  atFirst = await snapshot()
})

const keys = new Map<string, Promise<string>>()
function keyWithout(...missing: string[]): Promise<string> {
  const name = missing.join()
  const key = keys.get(name) ?? tenant.keyWith(...SCOPES.filter((scope) => !missing.includes(scope)))
  keys.set(name, key)
  return key
}

function named(name: string): Declaration {
  const operation = OPERATIONS.find((each) => each.name === name)
  if (!operation) throw new Error(`There is no operation ${name}.`)
  return operation
}

function send(operation: Declaration, sent: Record<string, unknown>, key: string, at = ids): Promise<TestResponse> {
  const { method, url, hasBody } = routeOf(operation)
  const path = fill(url, at)
  if (hasBody) return tenant.call(method, path, JSON.parse(fillBody(sent, at)), key)
  const query = new URLSearchParams(Object.entries(sent).map(([name, value]) => [name, String(value)]))
  return tenant.call(method, `${path}?${query}`, undefined, key)
}

const lackOf = ({ status, body }: TestResponse) => [
  status,
  body.error?.code,
  body.error?.details?.map(({ message }: { message: string }) => message),
]

/** The operations of the ways to data, and the others, with the scopes that each needs besides its own. */
const CASES = OPERATIONS.flatMap((operation) => {
  const { name, tag, scope } = operation
  const ofWay = isReading(operation) || name in OPENS_NOTHING ? undefined : WAYS[tag]
  const scopes = OTHERS[name] ?? ofWay
  return scopes === undefined ? [] : [{ name, scope, scopes, sent: SENT[name] ?? exampleOf(operation) }]
})

describe.each([
  ...CASES.map((each) => ({ title: 'a way to data', ...each })),
  ...MORE.map((each) => ({ name: each.operation, ...each })),
])('$name, $title', ({ name, scopes, sent }) => {
  test.each(scopes)('needs %s, and says so before it looks at anything else', async (scope) => {
    expect(lackOf(await send(named(name), sent, await keyWithout(scope)))).toEqual([403, 'insufficient_scope', [scope]])
  })

  test('names every scope that lacks, and changes nothing', async () => {
    const refused = await send(named(name), sent, await keyWithout(...scopes))
    expect(lackOf(refused)).toEqual([403, 'insufficient_scope', scopes])
    for (const scope of scopes) expect(refused.body.error.message).toContain(scope)
    expect(await snapshot()).toEqual(atFirst)
  })

  test('is described with them in openapi.json', () => {
    const { method, url } = routeOf(named(name))
    const paths = service.app.swagger().paths as Record<string, Record<string, { description: string }>>
    const { description = '' } = paths[url.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()] ?? {}
    for (const scope of scopes) expect(description).toContain(`\`${scope}\``)
  })
})

/** What an attacker would change. */
async function snapshot(): Promise<unknown[]> {
  const paths = [
    '/v1/sources',
    '/v1/hooks',
    '/v1/connections',
    '/v1/webhooks',
    '/v1/warehouse',
    '/v1/agents',
    '/v1/segments',
    '/v1/tenant',
  ]
  return Promise.all(paths.map(async (path) => (await tenant.call('GET', path)).body))
}

test('a browser source is unverified, so settings:write alone creates, renames and rotates it', async () => {
  const key = await tenant.keyWith('settings:write')
  const created = await send(named('createSource'), { name: 'Shop pages', type: 'browser' }, key)
  expect(created.status).toBe(201)
  const at = { ...ids, source_id: created.body.source.source_id }
  expect((await send(named('updateSource'), { name: 'Shop' }, key, at)).status).toBe(200)
  expect((await send(named('rotateWriteKey'), {}, key, at)).status).toBe(200)
  expect((await send(named('deleteSource'), {}, key, at)).status).toBe(200)
})

test('whoever has the scopes of the data opens a way to it', async () => {
  const writer = await tenant.keyWith('settings:write', ...WRITES)
  expect((await send(named('createSource'), { name: 'Backend', type: 'server' }, writer)).status).toBe(201)
  expect(
    (
      await send(
        named('createHook'),
        { name: 'Shop', kind: 'custom', mapping: { event: { name: { value: 'x' } } } },
        writer,
      )
    ).status,
  ).toBe(201)
  expect((await send(named('rotateIdentitySecret'), {}, writer)).status).toBe(201)
  const reader = await tenant.keyWith('webhooks:write', ...DELIVERED)
  expect((await send(named('createWebhook'), SENT.createWebhook ?? {}, reader)).status).toBe(201)
  expect((await send(named('testWebhook'), {}, reader)).status).toBe(200)
})

test('what ends or pauses a way to data needs no more than its own scope', async () => {
  const other = await createTestTenant(service)
  const at = await oneOfEach(service, other, 'ends')
  for (const name of [
    'pauseWebhook',
    'deleteWebhook',
    'deleteHook',
    'deleteSource',
    'pauseConnection',
    'deleteConnection',
  ]) {
    const operation = named(name)
    const { method, url } = routeOf(operation)
    const response = await other.call(method, fill(url, at), undefined, await other.keyWith(operation.scope))
    expect([name, response.status]).toEqual([name, 200])
  }
})

test('without events:read, the snippet of the tracker comes without events', async () => {
  await tenant.track({ visitor_id: 'seen', events: [{ event: 'page_view', url: `https://${tenant.site}/` }] })
  const { body } = await tenant.call('GET', '/v1/tracker', undefined, await tenant.keyWith('settings:read'))
  expect(body).toMatchObject({ snippet: expect.stringContaining('<script'), first_event: null, last_event: null })
  expect((await tenant.call('GET', '/v1/tracker')).body.last_event).toMatchObject({ visitor_id: 'seen' })
})

test('every role that may open a way to data has the scopes of that data', () => {
  for (const role of ['owner', 'admin', 'member', 'viewer'] as const) {
    const own = scopesOf(role)
    for (const { name, scope, scopes } of CASES) {
      if (scope === 'any-key' || !own.has(scope)) continue
      expect([role, name, scopes.filter((each) => !own.has(each))]).toEqual([role, name, []])
    }
  }
})

test('the lists above name only operations that exist', () => {
  const names = new Set(OPERATIONS.map(({ name }) => name))
  const listed = [...Object.keys(OPENS_NOTHING), ...Object.keys(OTHERS), ...Object.keys(SENT)]
  expect(listed.filter((name) => !names.has(name))).toEqual([])
})

/**
 * The tables of tenants that keep a secret or a URL, and what covers their operations. A new kind of way to data has
 * such a table, so it fails this test until someone decides about it.
 */
const KEEPS_SECRETS: Record<string, Tag | `no way: ${string}`> = {
  agent_actions: 'no way: a hash of what was approved',
  api_keys: 'no way: a key has no scope that its creator lacks (settings.test.ts)',
  authorizations: 'Providers',
  connections: 'Connections',
  email_accounts: 'Identities',
  enrichment_providers: 'Enrichment',
  erasures: 'no way: hashes of erased addresses',
  hooks: 'Hooks',
  idempotency_keys: 'no way: responses for retries of the same caller',
  identification_settings: 'Settings',
  invitations: 'no way: a role has no scope that its inviter lacks (team-by-key.test.ts)',
  mail_sends: 'no way: hashes of unsubscribe links',
  oauth_grants: 'no way: a hash of what its refresh tokens begin with',
  oauth_tokens: 'no way: a grant has no scope that its person lacks (oauth.test.ts)',
  provider_clients: 'Providers',
  share_links: 'Reports',
  social_sessions: 'no way: credentials of a login that is under way',
  warehouse_destinations: 'Warehouse',
  webhook_subscriptions: 'Webhooks',
  write_keys: 'Sources',
}

test('every table with secrets of a tenant belongs to a way to data that is tested, or is none', async () => {
  const { rows } = await sql<{
    table_name: string
  }>`SELECT DISTINCT secret.table_name FROM information_schema.columns AS secret
    JOIN information_schema.columns AS owner USING (table_schema, table_name)
    WHERE owner.column_name = 'tenant_id' AND table_schema = 'public' AND secret.column_name ~ '(^|_)(sealed|hash|secret|token)$'
    ORDER BY 1`.execute(service.stores.database)
  expect(rows.map(({ table_name }) => table_name)).toEqual(Object.keys(KEEPS_SECRETS).sort())
})
