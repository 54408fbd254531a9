import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Browser, PASSWORD, signedIn } from '../../../test/people.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { setupTokenOf } from '../../../test/setup-link.ts'

/** Headers from a page whose site has pointed its domain at the service (DNS rebinding). */
const rebound = (host: string) => ({ host, origin: `http://${host}`, 'x-requested-by': 'dashboard' })

describe('without CDS_PUBLIC_URL', () => {
  let service: TestService
  let tenant: TestTenant
  beforeAll(async () => {
    service = await startTestService()
  })
  afterAll(() => service.close())

  test('a page of another site cannot set up the service, even with the token', async () => {
    const owner = { name: 'Eve', email: 'eve@example.com', password: PASSWORD, tenant_name: 'Evil' }
    const body = JSON.stringify({ ...owner, setup_token: await setupTokenOf(service) })
    const headers = rebound('evil.example:8080')
    const response = await call(service, 'POST', '/api/setup', { headers, body })
    expect([response.status, response.body.error.code]).toEqual([403, 'host_not_allowed'])
    expect(response.body.error.message).toContain('CDS_PUBLIC_URL')
    expect((await new Browser(service).call('GET', '/api/setup')).body.needed).toBe(true)
  })

  test('routes under /api, and sessions on all routes, work only with the own host', async () => {
    tenant = await createTestTenant(service)
    const owner = await signedIn(service, tenant.id, 'owner')
    const headers = { ...rebound('evil.example'), cookie: owner.cookie }
    const routes = service.app.accessOfRoutes.filter(
      ({ method, url, access }) =>
        method !== 'HEAD' && (url.startsWith('/api/') || (access !== 'public' && url.startsWith('/v1/'))),
    )
    expect(routes.length).toBeGreaterThan(100)
    const reached: string[] = []
    for (const { method, url } of routes) {
      const path = url.replaceAll(/:[a-z_]+/gi, 'x')
      const { status, body } = await call(service, method, path, { headers })
      if (body.error?.code !== 'host_not_allowed') reached.push(`${method} ${url} ${status}`)
    }
    expect(reached).toEqual([])
    const read = await call(service, 'GET', '/v1/contacts', { headers })
    expect(read.body.error.code).toBe('host_not_allowed')
  })

  test('an API key works at any host', async () => {
    const headers = { host: 'cds.internal:9000', authorization: `Bearer ${tenant.key}` }
    expect((await call(service, 'GET', '/v1/contacts', { headers })).status).toBe(200)
  })

  test.each([
    ['localhost', 200],
    ['LOCALHOST:8080', 200],
    ['127.0.0.1:65000', 200],
    ['127.1.2.3', 200],
    ['[::1]:8080', 200],
    ['evil.example', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example:8080', 403],
    ['localhost@evil.example', 403],
    ['evil.example/@localhost', 403],
    ['192.168.1.5:8080', 403],
    ['0.0.0.0:8080', 403],
    ['[::2]', 403],
    ['localhost:99999', 403],
  ])('a request to the host %s gets %i', async (host, status) => {
    expect((await call(service, 'GET', '/api/sign-in-options', { headers: { host } })).status).toBe(status)
  })

  test('a request without a host is refused', async () => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.write('GET /api/sign-in-options HTTP/1.0\r\n\r\n')
    let response = ''
    for await (const chunk of socket) response += chunk
    expect(response).toMatch(/^HTTP\/1\.[01] 403 .*host_not_allowed/s)
  })
})

test('with a public address, only that host is accepted, whatever X-Forwarded-Host says', async () => {
  const service = await startTestService({ CDS_PUBLIC_URL: 'https://cdp.example.com', CDS_TRUST_PROXY: '1' })
  try {
    const ask = async (headers: Record<string, string>) =>
      (await call(service, 'GET', '/api/sign-in-options', { headers })).status
    expect(await ask({ host: 'cdp.example.com' })).toBe(200)
    expect(await ask({ host: 'CDP.Example.com:443' })).toBe(200)
    expect(await ask({ host: 'cdp.example.com:8443' })).toBe(403)
    expect(await ask({ host: 'localhost:8080' })).toBe(403)
    expect(await ask({ host: 'evil.example', 'x-forwarded-host': 'cdp.example.com' })).toBe(403)
  } finally {
    await service.close()
  }
})
