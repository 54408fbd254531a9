import { runInNewContext } from 'node:vm'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { addVerifiedDomain } from '../../access/domains-of-tenant.ts'
import { readConfig } from '../../config.ts'
import { toldInConsole } from './page.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_SCRIPT_PER_IP_PER_MINUTE: '80',
    CDS_TRACKER_SCRIPT_PATH: '/stats/app.js',
    CDS_TRACKER_COLLECT_PATH: '/data/in',
  })
  tenant = await createTestTenant(service)
})
afterAll(() => service.close())

/** Not fetch, which would decompress: the bytes are compared. */
async function ask(headers: Record<string, string> = {}, path = '/tracker.js') {
  const { request } = await import('node:http')
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request(service.url + path, { headers }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })
}

describe('the tracker script', () => {
  test('is compressed as the browser accepts it, preferring brotli to gzip', async () => {
    const plain = await ask()
    expect(plain.status).toBe(200)
    expect(plain.headers).toMatchObject({ 'content-type': 'text/javascript; charset=utf-8', vary: 'Accept-Encoding' })
    expect(plain.headers).not.toHaveProperty('content-encoding')
    const both = await ask({ 'accept-encoding': 'gzip, deflate, br, zstd' })
    expect(both.headers).toMatchObject({ 'content-encoding': 'br' })
    expect(brotliDecompressSync(both.body)).toEqual(plain.body)
    for (const accepted of ['gzip', 'br;q=0, gzip', 'br; q=0.0, GZIP;q=0.5']) {
      const gzip = await ask({ 'accept-encoding': accepted })
      expect(gzip.headers, accepted).toMatchObject({ 'content-encoding': 'gzip' })
      expect(gunzipSync(gzip.body)).toEqual(plain.body)
    }
    for (const accepted of ['', 'identity', 'deflate', 'gzip;q=0']) {
      expect((await ask({ 'accept-encoding': accepted })).body, accepted).toEqual(plain.body)
    }
  })

  test('is not sent again to a browser that has cached it', async () => {
    const { headers } = await ask({ 'accept-encoding': 'br' })
    expect(headers['cache-control']).toContain('max-age=3600')
    for (const known of [`${headers.etag}`, `W/${headers.etag}`, `"other", ${headers.etag}`]) {
      const again = await ask({ 'accept-encoding': 'br', 'if-none-match': known })
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, headers.etag])
    }
    // The same tag for different bytes would make a cache serve brotli to clients that cannot read it.
    const other = await ask({ 'accept-encoding': 'gzip', 'if-none-match': `${headers.etag}` })
    expect(other.status).toBe(200)
  })

  test('is served to verified domains and to requests without a page', async () => {
    const tracker = (await ask()).body
    expect((await ask({ referer: `https://www.${tenant.site}/a` })).body).toEqual(tracker)
    expect((await ask({ origin: `https://${tenant.site}` })).body).toEqual(tracker)
  })

  test.each<Record<string, string>>([
    { referer: 'https://evil.example/' },
    { origin: 'null' },
    { origin: 'https://evil.example' },
  ])('is a script that only says what to do for the page of a stranger: %j', async (headers) => {
    const { status, headers: sent, body } = await ask(headers)
    expect(status).toBe(200)
    expect(sent).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'text/javascript; charset=utf-8' })
    expect(sent).not.toHaveProperty('set-cookie')
    const said: string[] = []
    // Nothing but a console: a script that calls or sets anything else would throw.
    runInNewContext(body.toString(), { console: { warn: (text: string) => said.push(text) } })
    expect(said).toEqual([expect.stringMatching(/nothing is recorded\. .*(evil\.example is not one|has no page)/)])
  })

  test.each(['"-alert(1)-".example', 'a</script>.example', 'x'.repeat(3_000), `${'y.'.repeat(600)}example`])(
    'never repeats a hostile host as code: %s',
    async (host) => {
      const { status, body } = await ask({ referer: `https://${host}/` })
      expect(status).toBe(200)
      const said: string[] = []
      runInNewContext(body.toString(), { console: { warn: (text: string) => said.push(text) } })
      expect(said).toEqual([expect.stringContaining('nothing is recorded')])
      expect(body.toString()).toMatch(/^console\.warn\("[^\n<]*"\)\n$/)
      expect(body.length).toBeLessThan(700)
    },
  )

  test('says where to add the domain, or that nobody can own it', async () => {
    const { publicUrl } = service.config
    const told = async (host: string) => (await ask({ referer: `https://${host}/` })).body.toString()
    expect(await told('shop.test')).toContain(
      `shop.test is not one of your verified domains. Add it at ${publicUrl}/settings/domains`,
    )
    const elsewhere = toldInConsole('shop.localhost', 'https://cds.example')
    expect(elsewhere).toContain("each visitor's own computer")
    expect(toldInConsole('shop.localhost', 'http://localhost:8080')).toContain(
      'Add it at http://localhost:8080/settings/domains',
    )
  })

  test('helps at once when the domain is added', async () => {
    const host = `later-${tenant.site}`
    const page = { referer: `https://${host}/` }
    expect((await ask(page)).body.toString()).toContain('console.warn')
    await addVerifiedDomain(tenant.handle, host, new Date())
    await until(async () => expect((await ask(page)).body).toEqual((await ask()).body))
  })

  test('can be loaded as a module by pages of verified domains only', async () => {
    expect((await ask({ origin: `https://${tenant.site}` })).headers).toMatchObject({
      'access-control-allow-origin': '*',
    })
    const stranger = await ask({ origin: 'https://evil.example' })
    expect(stranger.headers).toMatchObject({ 'access-control-allow-origin': '*' })
    expect(stranger.body.toString()).toMatch(/^console\.warn\("[^\n]*"\)\n$/)
  })

  test('is also served at the configured path, and sends its events to the configured path', async () => {
    const chosen = await ask({}, '/stats/app.js')
    expect(chosen.body).toEqual((await ask()).body)
    expect(chosen.body.toString()).toContain('"../data/in"')
    // The names under which the script trusts the host that it came from.
    for (const name of ['/tracker.js', '/app.js'])
      expect(chosen.body.toString()).toContain(name.replace(/[/.]/g, '\\$&'))
    const headers = { origin: `https://${tenant.site}` }
    const track = { headers, body: JSON.stringify({ events: [{ event: 'chosen' }] }) }
    expect((await call(service, 'POST', '/data/in', track)).body.accepted).toBe(1)
    const recover = { headers, body: JSON.stringify({ fingerprint: 'a'.repeat(64), visitor_id: 'v' }) }
    expect((await call(service, 'POST', '/data/recover-visitor', recover)).body.visitor_id).toBe('v')
  })

  test('is limited by address', async () => {
    const statuses: number[] = []
    for (let i = 0; i < 85; i++) statuses.push((await ask()).status)
    expect(statuses.at(-1)).toBe(429)
  })
})

test.each(['tracker.js', '/v1/x', '/', '/a b', '/docs', '/a/../b', '/x/recover-visitor'])(
  'the path %s is rejected in the configuration',
  (path) => {
    expect(() => readConfig({ CDS_TRACKER_COLLECT_PATH: path })).toThrow('CDS_TRACKER_COLLECT_PATH')
  },
)
