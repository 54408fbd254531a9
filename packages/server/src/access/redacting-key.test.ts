import { beforeAll, expect, test } from 'vitest'
import { callMcp } from '../../test/mcp.ts'
import { signedIn } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

async function createKey(more: object, scopes = ['all']) {
  const { status, body } = await tenant.call('POST', '/v1/api-keys', { name: 'Agent', scopes, ...more })
  expect(status).toBe(201)
  const { body: read } = await tenant.call('GET', `/v1/api-keys/${body.key_id}`)
  return { apiKey: body.api_key as string, key: read.key }
}

/** A tool's result as text, for a contact that the tenant knows. */
async function seenOverMcp(key: string): Promise<string> {
  const { status, body } = await callMcp(service, key, 'tools/call', { name: 'search_contacts', arguments: {} })
  expect(status).toBe(200)
  return body.result.content[0].text
}

test('a key made to hide personal data works at /mcp, and every route that takes a key refuses it', async () => {
  await tenant.contact('ada@hidden.example', { firstname: 'Ada' })
  const { apiKey, key } = await createKey({ redact_personal_data: true })
  expect(key).toMatchObject({ redact_personal_data: true, mcp_only: true })
  const seen = await seenOverMcp(apiKey)
  expect(seen).toContain('email:')
  expect(seen).not.toContain('ada@hidden.example')

  const routes = service.app.accessOfRoutes.filter(
    ({ access }) => access === 'any-key' || (typeof access === 'string' && access.includes(':')),
  )
  expect(routes.length).toBeGreaterThan(150)
  // The feed of events and the downloads are among them, which are no operations.
  expect(routes.map(({ url }) => url)).toEqual(expect.arrayContaining(['/v1/live', '/v1/contacts', '/v1/imports']))
  for (const { method, url } of routes) {
    if (method === 'HEAD') continue
    const path = url.replace(/:\w+/g, '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071')
    const response = await tenant.call(method, path, undefined, apiKey)
    expect([method, url, response.status, response.body.error?.code]).toEqual([method, url, 403, 'redacting_key'])
  }
})

test('it can make nothing that shows more: no key, invitation, export, webhook, hook or warehouse', async () => {
  const { apiKey } = await createKey({ redact_personal_data: true })
  const made: [string, object][] = [
    ['/v1/api-keys', { name: 'Open', scopes: ['all'], redact_personal_data: false }],
    ['/v1/api-keys', { name: 'Open', scopes: ['all'] }],
    ['/v1/invitations', { email: 'me@attacker.example', role: 'admin' }],
    ['/v1/exports', {}],
    ['/v1/webhooks', { event: 'contact_created', url: 'https://attacker.example' }],
    ['/v1/hooks', { name: 'In', source: 'x' }],
    ['/v1/warehouse', {}],
  ]
  for (const [path, sent] of made) {
    const { status, body } = await tenant.call('POST', path, sent, apiKey)
    expect([path, status, body.error.code]).toEqual([path, 403, 'redacting_key'])
  }
  const { body } = await callMcp(service, apiKey, 'tools/list')
  const names: string[] = body.result.tools.map(({ name }: { name: string }) => name)
  expect(names.filter((name) => /key|grant|export|invit|webhook|hook|warehouse|connect/.test(name))).toEqual([
    'list_webhooks',
  ])
})

test('a key that says nothing hides personal data at /mcp and reads the API as it is', async () => {
  const email = 'grace@shown.example'
  await tenant.contact(email)
  const { apiKey, key } = await createKey({})
  expect(key).toMatchObject({ redact_personal_data: true, mcp_only: false })
  expect(await seenOverMcp(apiKey)).not.toContain(email)
  const { status, body } = await tenant.call('GET', `/v1/contacts?search=${email}`, undefined, apiKey)
  expect([status, body.contacts[0].properties.email]).toEqual([200, email])
})

test('a key made to show personal data shows it at /mcp too', async () => {
  const email = 'alan@open.example'
  await tenant.contact(email)
  const { apiKey, key } = await createKey({ redact_personal_data: false })
  expect(key).toMatchObject({ redact_personal_data: false, mcp_only: false })
  expect(await seenOverMcp(apiKey)).toContain(email)
  expect((await tenant.call('GET', '/v1/contacts', undefined, apiKey)).status).toBe(200)
})

test('the list of keys and the audit log say which keys work only over MCP', async () => {
  const { key } = await createKey({ redact_personal_data: true })
  const { body } = await tenant.call('GET', '/v1/api-keys')
  const listed = body.keys.find(({ key_id }: { key_id: string }) => key_id === key.key_id)
  expect(listed).toEqual(key)
  const { body: log } = await tenant.call('GET', `/v1/audit-log?action=api_key.created&limit=1`)
  expect(log.entries[0]).toMatchObject({
    subject_id: key.key_id,
    details: { redact_personal_data: true, mcp_only: true, tools: ['all'] },
  })
})

const CHOSEN = ['describe_schema', 'search_contacts']

test('a key may use only the tools that were chosen for it, and a refused one says so', async () => {
  const { apiKey, key } = await createKey({ tools: ['search_contacts', 'describe_schema'] })
  expect(key.tools).toEqual(CHOSEN)
  const { body } = await callMcp(service, apiKey, 'tools/list')
  expect(body.result.tools.map(({ name }: { name: string }) => name)).toEqual(CHOSEN)
  expect(await seenOverMcp(apiKey)).toContain('contacts')
  const sent = { name: 'Mine', filter: { match: 'all', conditions: [] } }
  const refused = await callMcp(service, apiKey, 'tools/call', { name: 'create_segment', arguments: sent })
  expect(refused.body.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^tool_not_allowed: .*create_segment/) }],
  })
  expect((await tenant.call('GET', '/v1/segments')).body.segments).toEqual([])

  // A prompt that needs a refused tool is not offered, and neither is the resource of a refused describe_schema.
  const { body: prompts } = await callMcp(service, apiKey, 'prompts/list')
  expect(prompts.result.prompts.map(({ name }: { name: string }) => name)).toEqual(['find_intent'])
  const { apiKey: without } = await createKey({ tools: ['search_contacts'] })
  const { body: resources } = await callMcp(service, without, 'resources/list')
  expect(JSON.stringify(resources.result)).not.toContain('cds://schema')
  const { body: read } = await callMcp(service, without, 'resources/read', { uri: 'cds://schema' })
  expect(read.error).toMatchObject({ code: -32602 })
  const { apiKey: none } = await createKey({ tools: [] })
  expect((await callMcp(service, none, 'tools/list')).body.result.tools).toEqual([])
})

test('a key’s tools can change, an unknown one is an error, and only who has its scopes allows more', async () => {
  const { apiKey, key } = await createKey({ tools: CHOSEN })
  const path = `/v1/api-keys/${key.key_id}`
  const count = async () => (await callMcp(service, apiKey, 'tools/list')).body.result.tools.length
  const { status, body } = await tenant.call('PATCH', path, { tools: ['search_contacts'] })
  expect([status, body.changed, body.key.tools]).toEqual([200, ['tools'], ['search_contacts']])
  await expect.poll(count).toBe(1)
  expect((await tenant.call('PATCH', path, { tools: ['search_contacts'] })).body.changed).toEqual([])
  for (const tools of [['seach_contacts'], ['all', 'search_contacts']]) {
    const wrong = await tenant.call('PATCH', path, { tools })
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'unknown_tool'])
    const created = await tenant.call('POST', '/v1/api-keys', { name: 'x', scopes: ['all'], tools })
    expect([created.status, created.body.error.code]).toEqual([400, 'unknown_tool'])
  }
  const lesser = await tenant.keyWith('keys:write')
  const more = await tenant.call('PATCH', path, { tools: ['all'] }, lesser)
  expect([more.status, more.body.error.code]).toEqual([403, 'insufficient_scope'])
  expect((await tenant.call('PATCH', path, { tools: [] }, lesser)).body.key.tools).toEqual([])
  await expect.poll(count).toBe(0)
  const renamed = await tenant.call('PATCH', path, { name: 'Renamed', tools: ['all'] })
  expect([renamed.body.changed, renamed.body.key.name]).toEqual([['name', 'tools'], 'Renamed'])
  await expect.poll(count).toBeGreaterThan(15)

  const stranger = await createTestTenant(service)
  expect((await stranger.call('PATCH', path, { tools: [] })).status).toBe(404)
})

test('the tools that can be chosen are listed with their scopes, for people who may read settings', async () => {
  const { body } = await tenant.call('GET', '/v1/api-keys/tools')
  expect(body.tools.find(({ name }: { name: string }) => name === 'create_segment')).toMatchObject({
    title: 'Create a segment',
    scopes: ['segments:write', 'contacts:read'],
    reads: false,
  })
  const viewer = await signedIn(service, tenant.id, 'viewer')
  expect((await viewer.call('GET', '/v1/api-keys/tools')).status).toBe(200)
})
