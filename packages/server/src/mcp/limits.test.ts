import { afterAll, beforeAll, expect, test } from 'vitest'
import { callMcp, mcpRequest } from '../../test/mcp.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({ CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_API_PER_MINUTE: '3' })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

test('each call counts once, and a call over the limit is told when to retry, as a JSON-RPC error', async () => {
  for (const left of ['2', '1', '0']) {
    const { status, headers } = await callMcp(service, tenant.key, 'tools/list')
    expect([status, headers.get('ratelimit-remaining')]).toEqual([200, left])
  }
  const { status, headers, body } = await callMcp(service, tenant.key, 'tools/list')
  expect([status, headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)])
  expect(body).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { code: 'rate_limited' } } })
})

test('the URL may end with a slash', async () => {
  const key = await tenant.keyWith('contacts:read')
  const { headers, body } = mcpRequest('tools/list')
  const response = await call(service, 'POST', '/mcp/', {
    headers: { ...headers, authorization: `Bearer ${key}` },
    body,
  })
  expect([response.status, response.body.result.tools.length > 0]).toEqual([200, true])
})
