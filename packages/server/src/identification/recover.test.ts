import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { deleteOldOf } from '../../test/retention.ts'
import { call, createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { deleteRowsOfTenant } from '../closing/delete-rows.ts'
import { DAY_MS } from '../platform/time.ts'

const HASH = 'ab'.repeat(32)
/** Addresses in two networks: a household's and a distant one. */
const [HOME, ELSEWHERE] = ['203.0.113.7', '198.51.100.7']

let service: TestService
let tenant: TestTenant
/** How far the service's clock is ahead. */
let ahead = 0

beforeAll(async () => {
  const clock = () => new Date(Date.now() + ahead)
  service = await startTestService({ CDS_TRUST_PROXY: '1' }, { clock })
})
afterAll(() => service?.close())
beforeEach(async () => {
  ahead = 0
  tenant = await createTestTenant(service)
})

async function recover(from: string, visitor_id?: string, fingerprint = HASH, headers: Record<string, string> = {}) {
  const { status, body } = await call(service, 'POST', '/recover-visitor', {
    headers: { origin: `https://${tenant.site}`, 'x-forwarded-for': from, ...headers },
    body: JSON.stringify({ fingerprint, visitor_id }),
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body as { visitor_id: string; recovered: boolean }
}
const see = (visitor_id: string, from: string, more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event: 'page_view' }], ...more }, { 'x-forwarded-for': from })
const identify = (visitor_id: string) =>
  tenant.call('POST', '/v1/identify', { visitor_id, email: `${visitor_id}@example.com` })

/** An identified visitor with a fingerprint, seen at home. */
async function identified(visitorId: string, fingerprint = HASH): Promise<void> {
  await recover(HOME, visitorId, fingerprint)
  await see(visitorId, HOME)
  await identify(visitorId)
}

describe('an anonymous visitor', () => {
  test('is registered with its fingerprint and recovered afterwards, from anywhere', async () => {
    expect(await recover(HOME, 'v')).toEqual({ status: 'success', visitor_id: 'v', recovered: false })
    expect(await recover(HOME, 'w', HASH.toUpperCase())).toMatchObject({ visitor_id: 'v', recovered: true })
    expect(await recover(ELSEWHERE, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
    const fresh = await recover(HOME, undefined, 'cd'.repeat(32))
    expect(fresh.visitor_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('with an external id counts as identified, even if no contact has that id yet', async () => {
    await recover(HOME, 'v')
    await see('v', HOME, { external_contact_id: 'user-42' })
    expect(await recover(ELSEWHERE, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
  })

  test("another tenant's fingerprints are unknown", async () => {
    await recover(HOME, 'v')
    tenant = await createTestTenant(service)
    expect(await recover(HOME)).toMatchObject({ recovered: false })
  })
})

describe('an identified visitor', () => {
  test.each([
    ['203.0.113.7', '203.0.113.200'],
    ['203.0.113.7', '::ffff:203.0.113.8'],
    ['2001:db8:7:1::1', '2001:db8:7:ffff::2'],
  ])('seen from %s is recovered from %s', async (seenFrom, asksFrom) => {
    await see('v', seenFrom)
    await recover(seenFrom, 'v')
    await identify('v')
    expect(await recover(asksFrom, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
  })

  test.each([
    ['203.0.113.7', '203.0.112.7'],
    ['2001:db8:7:1::1', '2001:db8:8:1::1'],
    ['203.0.113.7', '2001:db8:7:1::1'],
    ['no address', 'no address'],
  ])('seen from %s is not recovered from %s', async (seenFrom, asksFrom) => {
    await see('v', seenFrom)
    await recover(seenFrom, 'v')
    await identify('v')
    expect(await recover(asksFrom, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
  })

  test('is recovered for 30 days after it was seen; a recovery request does not count as seen', async () => {
    await identified('v')
    ahead = 29 * DAY_MS
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
    ahead = 31 * DAY_MS
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
  })

  test('stays recoverable where it is seen again', async () => {
    await identified('v')
    ahead = 20 * DAY_MS
    await see('v', HOME)
    ahead = 45 * DAY_MS
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
  })

  test('is recovered from each of several networks', async () => {
    await identified('v')
    await see('v', ELSEWHERE)
    expect(await recover(ELSEWHERE, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'v', recovered: true })
  })

  // A visitor's networks were once stored in 16 slots, chosen by hash: two of them could share one, and did here.
  test('is recovered from each of many networks', async () => {
    const networks = Array.from({ length: 24 }, (_, n) => `203.0.${n}.7`)
    await identified('v')
    await Promise.all(networks.map((network) => see('v', network)))
    const responses = []
    for (const network of networks) responses.push(await recover(network, 'w'))
    expect(responses).toEqual(networks.map(() => ({ status: 'success', visitor_id: 'v', recovered: true })))
  })
})

test('a fingerprint that two visitors share recovers neither', async () => {
  await identified('v')
  expect(await recover(ELSEWHERE, 'twin')).toMatchObject({ visitor_id: 'twin', recovered: false })
  expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
  expect(await recover(ELSEWHERE, 'x')).toMatchObject({ visitor_id: 'x', recovered: false })
})

describe('a fingerprint that two known visitors send', () => {
  test('recovers neither from then on: each stays itself, and a new device is new', async () => {
    for (const visitor of ['v1', 'v2']) await see(visitor, HOME)
    expect(await recover(HOME, 'v1')).toMatchObject({ visitor_id: 'v1', recovered: false })
    expect(await recover(HOME, 'v2')).toMatchObject({ visitor_id: 'v2', recovered: false })
    for (const visitor of ['v1', 'v2', 'v3', 'v1']) {
      expect(await recover(HOME, visitor)).toMatchObject({ visitor_id: visitor, recovered: false })
    }
  })

  test('recovers neither if they send it at the same time', async () => {
    const visitors = Array.from({ length: 8 }, (_, n) => `v${n}`)
    await Promise.all(visitors.map((visitor) => see(visitor, HOME)))
    const responses = await Promise.all(visitors.map((visitor) => recover(HOME, visitor)))
    expect(responses.map(({ visitor_id }) => visitor_id)).toEqual(visitors)
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
  })

  test('recovers neither if the second is identified, or known only by its own fingerprint', async () => {
    await recover(HOME, 'v1')
    await identify('v2')
    expect(await recover(HOME, 'v2')).toMatchObject({ visitor_id: 'v2', recovered: false })
    expect(await recover(HOME, 'w')).toMatchObject({ visitor_id: 'w', recovered: false })
    const other = 'cd'.repeat(32)
    await recover(HOME, 'v3', other)
    await recover(HOME, 'v4', 'ef'.repeat(32))
    expect(await recover(HOME, 'v4', other)).toMatchObject({ visitor_id: 'v4', recovered: false })
    expect(await recover(HOME, 'w', other)).toMatchObject({ visitor_id: 'w', recovered: false })
  })

  test('recovers neither if the second is known by its cookie alone, as for events', async () => {
    await recover(HOME, 'v1')
    for (const visitor of ['v1', 'v2']) await see(visitor, HOME)
    const cookie = 'service_session_id=s; service_visitor_id=v2'
    expect(await recover(HOME, undefined, HASH, { cookie })).toMatchObject({ visitor_id: 'v2', recovered: false })
    for (const visitor of ['w', undefined]) expect((await recover(HOME, visitor)).recovered).toBe(false)
    expect(await recover(HOME, 'v1')).toMatchObject({ visitor_id: 'v1', recovered: false })
  })

  test('the id in the body comes before the cookie, unless it names nobody', async () => {
    await see('v2', HOME)
    const cookie = 'service_visitor_id=v2'
    const [first, second] = ['cd'.repeat(32), 'ef'.repeat(32)]
    expect((await recover(HOME, 'v1', first, { cookie })).visitor_id).toBe('v1')
    expect((await recover(HOME, 'undefined', second, { cookie })).visitor_id).toBe('v2')
    const junk = await recover(HOME, undefined, HASH, { cookie: 'service_visitor_id=null' })
    expect(junk.visitor_id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('recovers the only visitor of a device that lost its cookie, however often', async () => {
    await see('v1', HOME)
    await recover(HOME, 'v1')
    for (const fresh of ['w1', 'w2', 'w1']) {
      expect(await recover(HOME, fresh)).toMatchObject({ visitor_id: 'v1', recovered: true })
      await see('v1', HOME)
    }
    expect(await recover(HOME, 'v1')).toMatchObject({ visitor_id: 'v1', recovered: true })
  })
})

test('only one of many concurrent requests registers a new fingerprint', async () => {
  const visitors = Array.from({ length: 40 }, (_, n) => `v${n}`)
  const responses = await Promise.all(visitors.map((visitor) => recover(HOME, visitor)))
  expect(new Set(responses.map(({ visitor_id }) => visitor_id)).size).toBe(1)
  expect(responses.filter(({ recovered }) => !recovered)).toHaveLength(1)
})

test('registering a fingerprint in advance links nobody to that contact', async () => {
  await recover(ELSEWHERE, 'attacker')
  await see('attacker', ELSEWHERE)
  await identify('attacker')
  expect(await recover(HOME, 'victim')).toMatchObject({ visitor_id: 'victim', recovered: false })
})

test('the response does not reveal whether a fingerprint is unknown or withheld', async () => {
  await identified('v')
  await identified('shared', 'cd'.repeat(32))
  await recover(ELSEWHERE, 'twin', 'cd'.repeat(32))
  for (const fingerprint of ['ef'.repeat(32), HASH, 'cd'.repeat(32)]) {
    expect(await recover(ELSEWHERE, 'mine', fingerprint)).toEqual({
      status: 'success',
      visitor_id: 'mine',
      recovered: false,
    })
  }
})

describe('a network', () => {
  const rows = () => tenant.handle.db.selectFrom('visitor_networks').selectAll().orderBy('seen_at').execute()

  test('is stored as a hash that does not reveal whether two visitors share it', async () => {
    await see('v', HOME)
    await see('w', HOME)
    const stored = await rows()
    expect(stored).toHaveLength(2)
    expect(stored[0]?.network).not.toEqual(stored[1]?.network)
    expect(JSON.stringify(stored)).not.toContain('203.0')
  })

  test('is stored at most once a day', async () => {
    await see('v', HOME)
    const [first] = await rows()
    ahead = DAY_MS / 2
    await see('v', HOME)
    expect(await rows()).toEqual([first])
    ahead = 2 * DAY_MS
    await see('v', HOME)
    const [renewed] = await rows()
    expect(renewed?.seen_at.getTime()).toBeGreaterThan(first?.seen_at.getTime() ?? 0)
  })

  test('is stored for each of many concurrent visitors', async () => {
    const visitors = Array.from({ length: 30 }, (_, n) => `v${n}`)
    const responses = await Promise.all(visitors.map((visitor) => see(visitor, HOME)))
    expect(responses.map(({ status }) => status)).toEqual(visitors.map(() => 200))
    expect(await rows()).toHaveLength(30)
  })

  test('is deleted after 30 days, a fingerprint after 400', async () => {
    await identified('v')
    const counts = async () => [
      (await rows()).length,
      (await tenant.handle.db.selectFrom('fingerprints').selectAll().execute()).length,
    ]
    const { database } = service.stores
    const after = (days: number) =>
      deleteOldOf(['visitor_networks', 'fingerprints'], database, new Date(Date.now() + days * DAY_MS))
    await after(29)
    expect(await counts()).toEqual([1, 1])
    await after(31)
    expect(await counts()).toEqual([0, 1])
    await after(401)
    expect(await counts()).toEqual([0, 0])
  })

  test('is deleted with its tenant', async () => {
    await see('v', HOME)
    await deleteRowsOfTenant(service.stores.database, tenant.id)
    expect(await rows()).toEqual([])
  })
})

test('a page of an unknown site is 403', async () => {
  const response = await call(service, 'POST', '/recover-visitor', {
    headers: { origin: 'https://nobody.example' },
    body: JSON.stringify({ fingerprint: HASH }),
  })
  expect([response.status, response.body.error.code]).toEqual([403, 'domain_not_allowed'])
})

test.each([[{}], [{ fingerprint: 'xyz' }], [{ fingerprint: 'g'.repeat(64) }], [{ fingerprint: 1 }]])(
  '%j is 400',
  async (body) => {
    const response = await call(service, 'POST', '/recover-visitor', {
      headers: { origin: `https://${tenant.site}` },
      body: JSON.stringify(body),
    })
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
  },
)
