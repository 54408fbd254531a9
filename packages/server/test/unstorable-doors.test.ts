import { beforeAll, expect, test } from 'vitest'
import { createHook } from './hooks.ts'
import { callMcp, mcpRequest } from './mcp.ts'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'
import { createSource } from './sources.ts'

/** Values that no store can keep as they are, at every door that takes JSON: none fails, and no neighbor is lost. */
let service: TestService
let tenant: TestTenant
let writeKey: string
let hook: { url: string }
let contactId: string
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  writeKey = await createSource(tenant, 'server')
  hook = await createHook(tenant)
  contactId = await tenant.contact('known@example.com')
})

/** Deeper than any function that calls itself gets, and short enough for every door. */
const DEPTH = 20_000
const DEEP = `${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`
const FLAWS: Record<string, string> = {
  'a NUL': '"\\u0000"',
  'half an emoji': '"\\ud83d"',
  'a prototype': '{"__proto__":{"a":1}}',
  'a key with a NUL': '{"\\u0000":1}',
  'a deep list': DEEP,
  'a deep object': `${'{"a":'.repeat(DEPTH)}1${'}'.repeat(DEPTH)}`,
  'a long number': '12345678901234567890',
  'a number of 400 digits': '7'.repeat(400),
  'an infinite number': '1e999',
  'a negative infinite number': '-1E999',
  'a list of all': `["\\u0000",1e999,12345678901234567890,{"\\ud800":"\\udc00"},${DEEP}]`,
}

const api = () => ({ authorization: `Bearer ${tenant.key}` })
const page = () => ({ origin: `https://${tenant.site}`, 'user-agent': CHROME })
const sdk = () => ({ authorization: `Basic ${Buffer.from(`${writeKey}:`).toString('base64')}` })

/** The doors, with bodies in which ? is a value of the caller. */
const DOORS: [method: string, path: () => string, headers: () => Record<string, string>, bodies: string[]][] = [
  ['POST', () => '/track', page, [
    '{"visitor_id":?,"events":[{"event":"e"}]}', '{"session_id":?,"events":[{"event":"e"}]}', '{"events":[{"event":?}]}',
    '{"events":[{"event":"e","data":?}]}', '{"events":[{"event":"e","data":{"x":?}}]}', '{"events":[{"event":"e","title":?}]}',
    '{"identify":?,"events":[]}', '{"identify":{"external_user_id":?}}', '{"identify":{"external_user_id":"u","traits":?}}',
    '{"identify":{"external_user_id":"u","traits":{"email":?}}}', '{"external_contact_id":?,"events":[{"event":"e"}]}',
    '{"context":?,"events":[{"event":"e"}]}', '{"context":{"screen":{"width":?,"height":1}},"events":[{"event":"e"}]}',
    '{"sent_at":?,"events":[{"event":"e"}]}', '{"events":?}', '{"user_hash":?,"identify":{"external_user_id":"u"}}', '?',
  ]],
  ['POST', () => '/recover-visitor', page, ['{"fingerprint":?}', `{"fingerprint":"${'a'.repeat(64)}","visitor_id":?}`]],
  ['POST', () => '/v1/events', api, [
    '{"events":[{"event":"e","visitor_id":"v","data":{"x":?}}]}', '{"events":[{"event":?,"user_id":?,"email":?}]}',
    '{"events":[?]}', '{"events":?}', '{"events":[{"event":"e","visitor_id":"v","context":?}]}', '?',
  ]],
  ['POST', () => '/v1/sources/crm/contacts', api, [
    '{"records":[{"external_id":?}]}', '{"records":[{"external_id":"1","properties":?}]}', '{"records":[{"external_id":"1","properties":{"x":?}}]}',
    '{"records":[{"external_id":"1","raw":?}]}', '{"records":[?]}', '{"records":?}', '{"kind":?,"records":[{"external_id":"1"}]}',
  ]],
  ['POST', () => '/v1/sources/chat/conversations', api, ['{"records":[?]}', '{"records":[{"thread_key":?,"messages":?}]}']],
  ['POST', () => '/v1/track', sdk, ['{"userId":?,"event":"e"}', '{"userId":"u","event":?}', '{"userId":"u","event":"e","properties":?}',
    '{"userId":"u","event":"e","context":?}', '{"userId":"u","event":"e","messageId":?,"timestamp":?,"sentAt":?}']],
  ['POST', () => '/v1/identify', sdk, ['{"userId":?}', '{"userId":"u","traits":?}', '{"userId":"u","traits":{"email":?,"x":?}}']],
  ['POST', () => '/v1/group', sdk, ['{"userId":"u","groupId":?,"traits":{"name":?,"domain":?}}']],
  ['POST', () => '/v1/alias', sdk, ['{"userId":"u","previousId":?}']],
  ['POST', () => '/v1/batch', sdk, ['{"batch":[?]}', '{"batch":?}', '{"context":?,"batch":[{"type":"track","userId":"u","event":"e"}]}',
    '{"batch":[{"type":?,"userId":?,"event":?}]}', '{"writeKey":?,"batch":[{"type":"track","userId":"u","event":"e"}]}']],
  ['POST', () => '/beacon/v1/batch', sdk, ['{"batch":[?]}', '?']],
  ['POST', () => '/v1/m', page, ['?']],
  ['POST', () => hook.url, () => ({}), ['?', '{"type":?,"order":{"id":?},"customer":{"email":?,"name":?}}']],
  ['POST', () => `/v1/public/form-submission/${tenant.id}/f`, page, ['{"contact_data":?}', '{"contact_data":{"email":"f@example.com","x":?}}',
    '{"contact_data":{"email":"f@example.com"},"company_data":{"domain":"f.example","x":?}}', '{"visitor_id":?,"contact_data":{"email":"f@example.com"}}']],
  ['POST', () => '/v1/contacts', api, ['{"email":?}', '{"email":"c@example.com","properties":?}', '{"properties":{"x":?}}']],
  ['PUT', () => `/v1/contacts/${contactId}`, api, ['{"properties":{"x":?}}', '{"company_id":?}']],
  ['POST', () => '/v1/companies', api, ['{"domain":?}', '{"name":?,"properties":{"x":?}}']],
  ['POST', () => '/v1/identify', api, ['{"user_id":?}', '{"email":?}', '{"user_id":"u","visitor_id":[?],"properties":{"x":?}}']],
  ['POST', () => '/v1/contacts/bulk', api, ['{"contact_ids":[?],"set":{"properties":{"x":1}}}', '{"contact_ids":["x"],"set":{"properties":{"x":?}}}',
    '{"matching":{"filter":?},"set":{"properties":{"x":1}}}']],
  ['POST', () => '/v1/batch/details', api, ['{"entity_type":"contacts","ids":[?]}', '{"entity_type":?,"ids":["x"]}']],
  ['POST', () => '/v1/segments/preview', api, ['{"filter":?}', '{"filter":{"match":"all","conditions":[{"property":?,"operator":"equals","value":?}]}}']],
  ['POST', () => '/v1/aggregate', api, ['{"entity":"contacts","group_by":?}', '{"entity":"contacts","group_by":"lifecycle_stage","filters":?}']],
  ['POST', () => `/v1/contacts/${contactId}/notes`, api, ['{"content":?}']],
  ['POST', () => '/v1/views', api, ['{"name":?,"list":"contacts","query":{"x":?},"columns":[?]}']],
] // biome-ignore format: a table

test.each(Object.keys(FLAWS))('%s never fails the service, wherever it is', async (flaw) => {
  for (const [method, path, headers, bodies] of DOORS) {
    for (const body of bodies) {
      const response = await call(service, method, path(), {
        headers: headers(),
        body: body.replaceAll('?', FLAWS[flaw] ?? ''),
      })
      const { status } = response
      expect([path(), body, status < 500, status], JSON.stringify(response.body).slice(0, 300)).toEqual([
        path(),
        body,
        true,
        status,
      ])
      expect((response.body.warnings ?? []).length).toBeLessThanOrEqual(50)
    }
  }
})

test('an agent that names a long number in a filter finds its contact and no other', async () => {
  const of = await createTestTenant(service)
  for (const digit of [1, 2]) {
    await call(service, 'POST', '/v1/contacts', {
      headers: { authorization: `Bearer ${of.key}` },
      body: `{"email":"n${digit}@example.com","properties":{"account":923456789012345678${digit}}}`,
    })
  }
  const key = await of.keyThatSeesAll()
  const conditions = [{ property: 'account', operator: 'equals', value: 'DIGITS' }]
  const { headers, body } = mcpRequest('tools/call', {
    name: 'search_contacts',
    arguments: { filter: { match: 'all', conditions } },
  })
  const found = await call(service, 'POST', '/mcp', {
    headers: { ...headers, authorization: `Bearer ${key}` },
    body: body.replace('"DIGITS"', '9234567890123456782'),
  })
  const { contacts } = found.body.result.structuredContent
  expect(contacts.map(({ properties }: { properties: { email: string } }) => properties.email)).toEqual([
    'n2@example.com',
  ])
  expect((await callMcp(service, key, 'tools/list')).status).toBe(200)
})
