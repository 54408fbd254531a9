import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from '../src/config.ts'
import { createRateLimiter } from '../src/platform/http/rate-limits.ts'
import { CommandLine } from './command-line.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'

const LIMIT = 3
let now = new Date()

/** The limit by address that requires nothing but an address. */
const loadScript = async (service: TestService, forwardedFor: string) =>
  (await call(service, 'GET', '/tracker.js', { headers: { 'x-forwarded-for': forwardedFor } })).status

describe('behind one proxy', () => {
  let service: TestService
  beforeAll(async () => {
    const limits = { CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_SCRIPT_PER_IP_PER_MINUTE: String(LIMIT) }
    service = await startTestService({ ...limits, CDS_TRUST_PROXY: '1' }, { clock: () => now })
  })
  afterAll(() => service.close())

  test.each<[string, (index: number) => string]>([
    ['an IPv4 address', () => '192.0.2.1'],
    ['an IPv4 address with different ports', (index) => `192.0.2.2:${5_000 + index}`],
    [
      'an IPv4 address, written as IPv6 and not',
      (index) => ['192.0.2.3', '::ffff:192.0.2.3', '::FFFF:c000:203'][index % 3] ?? '',
    ],
    ['an IPv4 address through NAT64', (index) => ['192.0.2.4', '64:ff9b::192.0.2.4'][index % 2] ?? ''],
    ['the addresses of one /64', (index) => `2001:db8:0:1:${index}::${index}`],
    ['the addresses of one /64 with ports', (index) => `[2001:db8:0:2:${index}::1]:4711`],
    ['invented addresses before the one that the proxy added', (index) => `198.51.100.${index}, 192.0.2.5`],
    ['texts that are not addresses', (index) => `invented-${index}`],
  ])('%s share one limit', async (_what, addressOf) => {
    const statuses: number[] = []
    for (let index = 0; index <= LIMIT; index++) statuses.push(await loadScript(service, addressOf(index)))
    expect(statuses).toEqual([...Array(LIMIT).fill(200), 429])
  })

  test('another address and another /64 have separate limits', async () => {
    for (let index = 0; index <= LIMIT; index++) {
      expect(await loadScript(service, `203.0.113.${index}`)).toBe(200)
      expect(await loadScript(service, `2001:db8:1:${index}::1`)).toBe(200)
    }
  })
})

describe('without a proxy', () => {
  let service: TestService
  let tenant: TestTenant
  beforeAll(async () => {
    service = await startTestService({
      CDS_RATE_LIMITS: 'on',
      CDS_RATE_LIMIT_SCRIPT_PER_IP_PER_MINUTE: String(LIMIT),
    })
    tenant = await createTestTenant(service)
  })
  afterAll(() => service.close())

  test('X-Forwarded-For is ignored', async () => {
    const statuses: number[] = []
    for (let index = 0; index <= LIMIT; index++) statuses.push(await loadScript(service, `192.0.2.${index}`))
    expect(statuses.at(-1)).toBe(429)
    // The log reports it once, without the value of the header.
    const warnings = service.logged.filter((line) => line.includes('CDS_TRUST_PROXY'))
    expect(warnings.map((line) => JSON.parse(line))).toMatchObject([{ level: 40 }])
    expect(warnings[0]).not.toContain('192.0.2')
  })

  test('cdsctl doctor reports it when clients use https', async () => {
    const { databaseUrl, dataDirectory } = service.config
    const environment = { DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }
    const doctor = (more: Record<string, string>) => new CommandLine({ ...environment, ...more }).json('doctor')
    const https = { CDS_PUBLIC_URL: 'https://cdp.example.com' }
    expect((await doctor(https)).proxy).toContain('CDS_TRUST_PROXY is 0')
    expect(await doctor({ ...https, CDS_TRUST_PROXY: '1' })).not.toHaveProperty('proxy')
    expect(await doctor({})).not.toHaveProperty('proxy')
  })

  test('X-Forwarded-Proto is ignored', async () => {
    const headers = { origin: `http://${tenant.site}`, 'x-forwarded-proto': 'https' }
    const visit = await tenant.track({ events: [{ event: 'x' }] }, headers)
    expect(visit.headers.get('set-cookie')).not.toContain('Secure')
  })
})

test('behind two proxies, the address before the second one counts, and the scheme that the nearest one reports', async () => {
  const service = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_SCRIPT_PER_IP_PER_MINUTE: String(LIMIT),
    CDS_TRUST_PROXY: '2',
  })
  try {
    const statuses: number[] = []
    for (let index = 0; index <= LIMIT; index++) {
      statuses.push(await loadScript(service, `198.51.100.${index}, 192.0.2.5, 10.0.0.${index}`))
    }
    expect(statuses.at(-1)).toBe(429)
    const tenant = await createTestTenant(service)
    const cookieFor = async (proto: string) => {
      const headers = { origin: `http://${tenant.site}`, 'x-forwarded-proto': proto }
      const visit = await tenant.track({ events: [{ event: 'x' }] }, headers)
      return visit.headers.get('set-cookie')
    }
    expect(await cookieFor('http, https')).toContain('Secure')
    expect(await cookieFor('https, http')).not.toContain('Secure')
  } finally {
    await service.close()
  }
})

test.each(['on', 'off', 'true', '-1', '1.5', '11'])(
  'CDS_TRUST_PROXY=%s is rejected with the allowed values',
  (value) => {
    const read = () => readConfig({ CDS_TRUST_PROXY: value })
    expect(read).toThrow(ConfigError)
    expect(read).toThrow(/number of proxies.*1 instead of on, 0 instead of off/)
  },
)

describe('a flood', () => {
  const FLOOD = 100_001
  const minuteLimits = readConfig({}).rateLimits
  const reply = { headers: () => reply } as unknown as Parameters<ReturnType<typeof createRateLimiter>['checkUser']>[1]
  const isRefused = (check: () => void) => {
    try {
      check()
      return false
    } catch {
      return true
    }
  }
  const address = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

  test('of addresses evicts no window of another limit', () => {
    now = new Date()
    const limiter = createRateLimiter(minuteLimits, () => now)
    const guess = () => limiter.checkSignInOf('victim@example.com', '192.0.2.1', 'none', reply)
    for (let guesses = 0; guesses < 5; guesses++) guess()
    limiter.checkApiKey('key', reply)
    for (let index = 0; index < FLOOD; index++) limiter.checkScript(address(index), reply)
    expect(limiter.usedByApiKey('key')).toBe(1)
    expect(isRefused(guess)).toBe(true)
  })

  test('evicts the least recently used windows, and none that is in use', () => {
    now = new Date()
    const limiter = createRateLimiter({ ...minuteLimits, scriptPerIpPerMinute: 2 } as typeof minuteLimits, () => now)
    const load = (ip: string) => isRefused(() => limiter.checkScript(ip, reply))
    for (const ip of ['192.0.2.1', '192.0.2.2']) expect([load(ip), load(ip), load(ip)]).toEqual([false, false, true])
    for (let index = 0; index < FLOOD; index++) {
      // A rejected request uses its window too, so a client that keeps trying stays rejected.
      if (index % 40_000 === 0) expect(load('192.0.2.2')).toBe(true)
      load(address(index))
    }
    expect(load('192.0.2.2')).toBe(true)
    expect(load('192.0.2.1')).toBe(false)
  })
})

test('an address that sends many invalid API keys is rejected, except with a key that was accepted before', async () => {
  const service = await startTestService({
    CDS_RATE_LIMITS: 'on',
    CDS_RATE_LIMIT_INVALID_KEY_PER_IP_PER_MINUTE: '5',
    CDS_TRUST_PROXY: '1',
  })
  try {
    const tenant = await createTestTenant(service)
    const ask = async (key: string, ip = '192.0.2.1') => {
      const headers = { authorization: `Bearer ${key}`, 'x-forwarded-for': ip }
      const { status, body, headers: received } = await call(service, 'GET', '/v1/contacts', { headers })
      return { status, code: body.error?.code, retryAfter: Number(received.get('retry-after')) }
    }
    expect((await ask(tenant.key)).status).toBe(200)
    const codes: string[] = []
    for (let index = 0; index < 7; index++) codes.push((await ask(index % 2 ? `cds_wrong${index}` : 'not a key')).code)
    expect(codes).toEqual([...Array(5).fill('invalid_api_key'), 'rate_limited', 'rate_limited'])
    expect(await ask('cds_wrong')).toMatchObject({ status: 429, retryAfter: expect.toSatisfy((s: number) => s > 0) })
    expect((await ask(tenant.key)).status).toBe(200)
    // A key that this process has not accepted yet is limited like the rest of its address.
    const fresh = await tenant.keyWith('contacts:read')
    expect((await ask(fresh)).status).toBe(429)
    expect((await ask(fresh, '192.0.2.2')).status).toBe(200)
    expect((await ask(fresh)).status).toBe(200)
  } finally {
    await service.close()
  }
})
