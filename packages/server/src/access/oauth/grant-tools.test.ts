import { afterAll, beforeAll, expect, test } from 'vitest'
import { callMcp } from '../../../test/mcp.ts'
import { allow, authorizationRequest, CALLBACK, register, sendForm, startOAuthService } from '../../../test/oauth.ts'
import { type Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, type TestService, type TestTenant } from '../../../test/service.ts'
import { scopesOf } from '../../operations/scopes.ts'
import { GRANTABLE_SCOPES } from './scopes.ts'

let service: TestService
let tenant: TestTenant
let member: Browser
let admin: Browser

beforeAll(async () => {
  service = await startOAuthService()
  tenant = await createTestTenant(service)
  member = await signedIn(service, tenant.id, 'member')
  admin = await signedIn(service, tenant.id, 'admin')
})
afterAll(() => service?.close())

/** An application that a person connects, else the member. @returns its access token, the grant and the response to the decision. */
async function connect(changes: object, person = member) {
  const { client_id } = (await register(service)).body
  const { verifier, query } = authorizationRequest(service, client_id)
  const { status, body } = await allow(person, query, tenant.id, { scopes: ['contacts:read'], ...changes })
  if (status !== 200) return { status, code: body.error.code, access: '', grantId: '' }
  const code = new URL(body.redirect_to).searchParams.get('code') ?? ''
  const form = { grant_type: 'authorization_code', client_id, redirect_uri: CALLBACK, code, code_verifier: verifier }
  const tokens = await sendForm(service, '/oauth/token', form)
  const { body: apps } = await person.call('GET', '/v1/connected-apps')
  return { status, code: null, access: tokens.body.access_token as string, grantId: apps.connected_apps[0].grant_id }
}

const toolsOf = async (access: string): Promise<string[]> =>
  (await callMcp(service, access, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name)

test('a person chooses the tools of an application, which sees and calls no other', async () => {
  const { access, grantId } = await connect({ tools: ['search_contacts'] })
  expect(await toolsOf(access)).toEqual(['search_contacts'])
  const refused = await callMcp(service, access, 'tools/call', { name: 'conversations', arguments: {} })
  expect(refused.body.result).toMatchObject({
    isError: true,
    content: [{ text: expect.stringMatching(/^tool_not_allowed: .*Connected apps/) }],
  })
  const { body } = await member.call('GET', `/v1/connected-apps/${grantId}`)
  expect(body.connected_app.tools).toEqual(['search_contacts'])
  const { body: log } = await admin.call('GET', `/v1/audit-log?action=connected_app.authorized&subject_id=${grantId}`)
  expect(log.entries[0].details.tools).toEqual(['search_contacts'])
})

test('without a choice an application has all tools that its scopes allow, and an unknown tool is an error', async () => {
  const { access } = await connect({})
  expect(await toolsOf(access)).toEqual(expect.arrayContaining(['describe_schema', 'get_contact', 'conversations']))
  expect(await connect({ tools: ['drop_tables'] })).toMatchObject({ status: 400, code: 'unknown_tool' })
})

test('an application that sees no personal data has no tool that makes a grant or an export', async () => {
  const scopes = GRANTABLE_SCOPES.filter((scope) => scopesOf('admin').has(scope))
  const { access, grantId } = await connect({ scopes, redact_personal_data: true }, admin)
  const { body } = await admin.call('GET', `/v1/connected-apps/${grantId}`)
  expect(body.connected_app.redact_personal_data).toBe(true)
  const names = await toolsOf(access)
  expect(names.filter((name) => /key|grant|export|invit|webhook|hook|warehouse|connect/.test(name))).toEqual([
    'list_webhooks',
  ])
})

test('the person allows more tools later, an admin only fewer, and others nothing', async () => {
  const { access, grantId } = await connect({ tools: ['describe_schema', 'search_contacts'] })
  const path = `/v1/connected-apps/${grantId}`
  const change = (who: Browser, tools: string[]) => who.call('PATCH', path, { tools })
  const fewer = await change(admin, ['search_contacts'])
  expect([fewer.status, fewer.body.changed, await toolsOf(access)]).toEqual([200, ['tools'], ['search_contacts']])
  const { body: log } = await admin.call('GET', `/v1/audit-log?action=connected_app.updated&subject_id=${grantId}`)
  expect(log.entries[0].details).toMatchObject({ changed: ['tools'], tools: ['search_contacts'] })

  const more = await change(admin, ['search_contacts', 'get_contact'])
  expect([more.status, more.body.error.code]).toEqual([403, 'not_your_application'])
  expect((await change(admin, ['all'])).body.error.code).toBe('not_your_application')
  expect((await change(member, ['all'])).body.connected_app.tools).toEqual(['all'])
  expect(await toolsOf(access)).toContain('get_contact')
  expect((await change(member, ['all'])).body.changed).toEqual([])
  expect((await change(member, ['none'])).body.error.code).toBe('unknown_tool')

  const viewer = await signedIn(service, tenant.id, 'viewer')
  expect((await change(viewer, [])).status).toBe(403)
  const stranger = await createTestTenant(service)
  expect((await stranger.call('PATCH', path, { tools: [] })).status).toBe(404)
  await member.call('DELETE', path)
  expect((await change(member, [])).status).toBe(404)
})
