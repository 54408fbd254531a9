import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { type DnsServer, startDnsServer } from '../../test/dns-server.ts'
import { type Browser, signedIn } from '../../test/people.ts'
import { makeCertificate, type Received, type Receiver, startReceiver } from '../../test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { until } from '../../test/webhooks.ts'
import { DATABASE_COMMANDS } from '../cli/commands.ts'
import { createSitePages } from '../platform/outbound/site-pages.ts'

const DOMAIN = 'shop.example.org'
const FILE = '/.well-known/cds-verification.txt'

const certificate = makeCertificate([DOMAIN, `*.${DOMAIN}`, 'elsewhere.example'])
let dns: DnsServer
let site: Receiver
let service: TestService
let tenant: TestTenant
let admin: Browser
/** The pages of every site, by host and path. A URL is a redirect to it. */
let pages: Record<string, string>

beforeAll(async () => {
  dns = await startDnsServer()
  site = await startReceiver(certificate)
  site.respond = (response, { headers, path }: Received) => {
    const page = pages[`${headers.host}${path}`]
    if (page === undefined) response.writeHead(404).end()
    else if (page.startsWith('https://')) response.writeHead(301, { location: page }).end()
    else response.end(page)
  }
  for (const name of [DOMAIN, `www.${DOMAIN}`, 'elsewhere.example']) dns.zone.set(name, ['127.0.0.1'])
  const outbound = { resolve: dns.resolve, ca: certificate.certificate, sitePort: site.port }
  service = await startTestService({ CDS_WEBHOOK_ALLOW_PRIVATE: 'on' }, { dnsServers: [dns.server], outbound })
})
beforeEach(async () => {
  pages = {}
  dns.texts.clear()
  site.received.length = 0
  tenant = await createTestTenant(service)
  admin = await signedIn(service, tenant.id, 'admin')
})
afterAll(async () => {
  await service.close()
  await site.close()
  dns.close()
})

const add = async (domain: string, who = admin) => (await who.call('POST', '/v1/domains', { domain })).body.domain
const verify = (domainId: string, who = admin) => who.call('POST', `/v1/domains/${domainId}/verify`)
/** What a response says about each place. */
const outcomes = ({ body }: { body: { check: { attempts: { method: string; outcome: string }[] } } }) =>
  Object.fromEntries(body.check.attempts.map(({ method, outcome }) => [method, outcome]))

describe('a domain', () => {
  test('is verified by its TXT record, and events from its pages are accepted from then on', async () => {
    const added = await admin.call('POST', '/v1/domains', { domain: 'Shop.Example.org' })
    const { domain } = added.body
    expect([added.status, domain.domain, domain.verified_at, domain.verified_by]).toEqual([201, DOMAIN, null, null])
    expect(domain).toMatchObject({
      txt_name: `_cds-verification.${DOMAIN}`,
      file_url: `https://${DOMAIN}${FILE}`,
      file_content: domain.txt_value,
      meta_tag: `<meta name="cds-verification" content="${domain.txt_value}">`,
    })
    expect(await add(DOMAIN)).toEqual(domain)
    const none = await verify(domain.domain_id)
    expect(none.body.check).toMatchObject({ verified: false, method: null })
    expect(outcomes(none)).toEqual({ dns: 'nothing', file: 'unreachable', meta: 'unreachable' })
    dns.texts.set(domain.txt_name, ['v=spf1 -all', 'x'.repeat(700)])
    const [attempt] = (await verify(domain.domain_id)).body.check.attempts
    expect(attempt).toEqual({ method: 'dns', outcome: 'other_value', found: ['v=spf1 -all', 'x'.repeat(300)] })
    const page = { origin: `https://${DOMAIN}` }
    const track = () => tenant.track({ visitor_id: 'v', events: [{ event: 'e' }] }, page)
    expect((await track()).status).not.toBe(200)
    dns.texts.set(domain.txt_name, ['v=spf1 -all', domain.txt_value])
    const found = (await verify(domain.domain_id)).body
    expect(found.check).toMatchObject({ verified: true, method: 'dns' })
    expect(found.domain).toMatchObject({ verified_at: expect.any(String), verified_by: 'dns' })
    await until(async () => expect((await track()).status).toBe(200))
    expect((await admin.call('DELETE', `/v1/domains/${domain.domain_id}`)).status).toBe(200)
  })

  test('is verified by one tenant only', async () => {
    const domain = await add(DOMAIN)
    dns.texts.set(domain.txt_name, [domain.txt_value])
    expect((await verify(domain.domain_id)).body.check.verified).toBe(true)
    const stranger = await signedIn(service, (await createTestTenant(service)).id, 'admin')
    const theirs = await add(DOMAIN, stranger)
    expect(theirs.txt_value).not.toBe(domain.txt_value)
    dns.texts.set(domain.txt_name, [theirs.txt_value])
    const conflicting = await verify(theirs.domain_id, stranger)
    expect([conflicting.status, conflicting.body.error.code]).toEqual([409, 'domain_taken'])
    expect((await admin.call('DELETE', `/v1/domains/${domain.domain_id}`)).status).toBe(200)
    expect((await verify(theirs.domain_id, stranger)).body.check.verified).toBe(true)
    await stranger.call('DELETE', `/v1/domains/${theirs.domain_id}`)
  })

  test.each([
    ['file', FILE, (value: string) => `${value}\n`],
    ['meta', '/', (value: string) => `<html><head><META content='${value}' name=cds-verification /></head></html>`],
  ])('is verified by its %s, which redirects may lead to within the domain', async (method, path, content) => {
    const domain = await add(DOMAIN)
    pages = { [`${DOMAIN}${path}`]: content('another'), [`${DOMAIN}/other`]: content(domain.txt_value) }
    expect(outcomes(await verify(domain.domain_id))[method]).toBe('other_value')
    pages[`${DOMAIN}${path}`] = `https://www.${DOMAIN}/there`
    pages[`www.${DOMAIN}/there`] = content(domain.txt_value)
    const { body } = await verify(domain.domain_id)
    expect([body.check.method, body.domain.verified_by]).toEqual([method, method])
    const { entries } = (await admin.call('GET', '/v1/audit-log?subject_kind=domain')).body
    expect(entries[0]).toMatchObject({ action: 'domain.verified', details: { domain: DOMAIN, verified_by: method } })
    await admin.call('DELETE', `/v1/domains/${domain.domain_id}`)
  })

  test.each([
    [
      'on another domain',
      (value: string) => ({ [DOMAIN + FILE]: 'https://elsewhere.example/f', 'elsewhere.example/f': value }),
    ],
    ['on another port', (value: string) => ({ [DOMAIN + FILE]: `https://${DOMAIN}:8443/f`, [`${DOMAIN}/f`]: value })],
    [
      'after too many redirects',
      (value: string) => ({
        [DOMAIN + FILE]: `https://${DOMAIN}/1`,
        [`${DOMAIN}/1`]: `https://${DOMAIN}/2`,
        [`${DOMAIN}/2`]: `https://${DOMAIN}/3`,
        [`${DOMAIN}/3`]: `https://${DOMAIN}/4`,
        [`${DOMAIN}/4`]: value,
      }),
    ],
    ['after a megabyte', (value: string) => ({ [DOMAIN + FILE]: `${' '.repeat(1_000_000)}${value}` })],
    [
      'in the body of the page',
      (value: string) => ({
        [`${DOMAIN}/`]: `<head></head><body><meta name="cds-verification" content="${value}">`,
      }),
    ],
    [
      'in a comment',
      (value: string) => ({
        [`${DOMAIN}/`]: `<head><!-- <meta name="cds-verification" content="${value}"> --></head>`,
      }),
    ],
    ['in a page that goes on', (value: string) => ({ [DOMAIN + FILE]: `${value} and more` })],
  ])('is not verified by a proof %s', async (_, pagesWith) => {
    const domain = await add(DOMAIN)
    pages = pagesWith(domain.txt_value)
    const { body } = await verify(domain.domain_id)
    expect([body.check.verified, body.domain.verified_at]).toEqual([false, null])
    await admin.call('DELETE', `/v1/domains/${domain.domain_id}`)
  })

  test.each([[''], ['https://example.com'], ['exa mple.com'], ['x'.repeat(501)]])('cannot be %j', async (domain) => {
    expect((await admin.call('POST', '/v1/domains', { domain })).status).toBe(400)
  })
})

test('a site in a private network is not asked', async () => {
  const sites = createSitePages({ allowPrivate: false, resolve: dns.resolve, sitePort: site.port })
  pages = { [`${DOMAIN}/`]: 'secret', '127.0.0.1/': 'secret' }
  expect(await sites.read(DOMAIN, '/', 100)).toBeNull()
  expect(await sites.read('127.0.0.1', '/', 100)).toBeNull()
  expect(site.received).toEqual([])
  await sites.close()
})

describe('a domain that means this machine', () => {
  const LOCAL = ['localhost', 'shop.localhost', '127.0.0.1', '[::1]'] as const

  test.each(LOCAL)('%s is verified at once while the service runs there', async (name) => {
    const domain = await add(name === '[::1]' ? '::1' : name)
    expect(domain).toMatchObject({ domain: name, verified_by: 'local', verified_at: expect.any(String) })
    const { body } = await verify(domain.domain_id)
    expect(body.check).toEqual({ verified: true, method: 'local', attempts: [] })
    const origin = `http://${name}:3000`
    await until(async () => expect((await tenant.track({ events: [{ event: 'e' }] }, { origin })).status).toBe(200))
    const stranger = await signedIn(service, (await createTestTenant(service)).id, 'admin')
    const taken = await stranger.call('POST', '/v1/domains', { domain: name })
    expect([taken.status, taken.body.error.code]).toEqual([409, 'domain_taken'])
    await admin.call('DELETE', `/v1/domains/${domain.domain_id}`)
  })

  test('is refused by a service on a public URL, which no longer accepts events of one added before', async () => {
    await add('localhost')
    const { PORT: _, ...database } = { PORT: '0', DATABASE_URL: service.config.databaseUrl ?? '' }
    const elsewhere = await startTestService({ ...database, CDS_PUBLIC_URL: 'https://cdp.example.com' })
    const send = { method: 'POST', headers: { origin: 'http://localhost:3000' }, body: '{"events":[{"event":"e"}]}' }
    expect((await fetch(`${service.url}/track`, send)).status).toBe(200)
    expect((await fetch(`${elsewhere.url}/track`, send)).status).toBe(403)
    for (const [path, body] of [['/v1/domains', { domain: 'a.localhost' }]] as const) {
      const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'application/json' }
      const response = await fetch(elsewhere.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
        400,
        'local_domain',
      ])
    }
    await elsewhere.close()
  })

  test('is verified at once by the command line too', async () => {
    const session = commandSession(service)
    const values = { tenant: tenant.id, domain: 'cli.localhost' }
    const added = await DATABASE_COMMANDS['domain add']?.run(session, values, new Date())
    expect(added).toMatchObject({ domain: { verified_by: 'local' } })
    const { domain } = added as { domain: { domain_id: string } }
    const verified = { tenant: tenant.id, 'domain-id': domain.domain_id }
    const result = await DATABASE_COMMANDS['domain verify']?.run(session, verified, new Date())
    expect(result).toMatchObject({ check: { verified: true, method: 'local' } })
  })
})
