import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type AnalyticsBench, type AnalyticsPeer, daysAgo, deviceId, threeDays } from './analytics.ts'
import type { SystemRequest } from './connected-system.ts'

/** What a run did with events; a system without profiles reads what it knows of people with the events. */
function eventsOf({ counts }: { counts: Record<string, Record<string, number>> }): Record<string, number> {
  const { identified: _, ...events } = counts.events ?? {}
  return events
}

/** What every product-analytics connector must do; each test is a cell of the matrix of connectors. */
export function testAnalyticsConnector(peer: AnalyticsPeer, bench: AnalyticsBench): void {
  const { connector, label } = peer
  const eventRequests = () => bench.system.requests.filter((request) => peer.readsEvents(request)).length

  describe(`${label}, like every product-analytics system`, () => {
    test('first read: events belong to people and visitors, and what is known of a person is a guess of the source', async () => {
      const { tenant } = bench
      const created = await tenant.call('POST', '/v1/contacts', {
        email: 'ada@example.com',
        properties: { city: 'London' },
      })
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      expect(await bench.countEvents()).toBe(9)
      // The visitor identifies nobody, so it is not a contact.
      const contacts = await bench.contacts()
      expect(contacts).toHaveLength(1)
      const { contact_id } = created.body.contact
      const { contact, unified_profile } = (await tenant.call('GET', `/v1/contacts/${contact_id}?include=provenance`))
        .body
      expect(contact.properties).toMatchObject({ email: 'ada@example.com', city: 'London', plan: 'pro' })
      expect(contact.properties_provenance.plan.source).toBe(connector)
      expect(contact.properties_provenance.city.source).toBe('manual')
      expect(unified_profile.profile.city.all_sources).toContain(connector)
      expect(unified_profile.sources.identify.external_id).toBe('user-1')
      const { events } = (await tenant.call('GET', `/v1/contacts/events/${contact_id}?limit=100`)).body
      expect(events.filter(({ event }: { event: string }) => event === 'Order paid')).toHaveLength(6)
      expect((await connection.read()).error).toBeNull()
    })

    test('first read: nothing is read before the date that it begins at', async () => {
      const [old] = threeDays()
      if (!old) throw new Error('There is no event.')
      await peer.add({ ...old, id: 'old', at: daysAgo(8) }, ...threeDays())
      await (await bench.connect()).firstRun()
      expect(await bench.countEvents()).toBe(9)
    })

    test('increment: the next pull brings new events and those that came late, and doubles nothing', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      const { run_id } = await connection.firstRun()
      const receivedAt = new Date(Date.now() - peer.delayMs)
      await peer.add(
        { id: 'new', name: 'New', at: receivedAt, userId: 'user-1', receivedAt },
        { id: 'late', name: 'Late', at: daysAgo(2), deviceId: deviceId(3), receivedAt },
      )
      // The pull must begin after it.
      await sleep(20)
      expect((await connection.pull()).run_id).not.toBe(run_id)
      expect(await bench.countEvents('New')).toBe(1)
      expect(await bench.countEvents('Late')).toBe(peer.findsLateAtOnce ? 1 : 0)
      expect(await bench.countEvents('Order paid')).toBe(6)
    })

    test('reading everything again doubles nothing', async () => {
      await peer.add(...threeDays(), { id: '', name: 'No id', at: daysAgo(2), userId: 'user-1' })
      const connection = await bench.connect()
      await connection.firstRun()
      const before = { events: await bench.countEvents(), contacts: await bench.contacts() }
      expect(before.events).toBe(10)
      const run = await connection.reread(daysAgo(4).toISOString())
      expect(await bench.countEvents()).toBe(before.events)
      expect(await bench.contacts()).toEqual(before.contacts)
      expect(eventsOf(run)).toEqual({ unchanged: 10 })
    })

    test('rate limit: the request is repeated when the system says, and the pull goes on', async () => {
      await peer.add(...threeDays())
      let refusals = 0
      bench.system.intercept = (request) =>
        peer.readsEvents(request) && refusals++ === 0 ? { status: 429, headers: { 'retry-after': '1' } } : undefined
      await (await bench.connect()).firstRun()
      expect(refusals).toBeGreaterThan(1)
      expect(await bench.countEvents()).toBe(9)
    })

    test('token refresh: new credentials of the same project continue, and read nothing again', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      const { run_id } = await connection.firstRun()
      bench.accept('other')
      const body = { credentials: peer.otherCredentials, settings: peer.settings }
      expect((await bench.tenant.call('PATCH', `/v1/connections/${connection.id}`, body)).status).toBe(200)
      expect((await connection.nextRun(run_id)).counts.events?.accepted).toBeUndefined()
      expect(await bench.countEvents()).toBe(9)
    })

    test('expired sign-in: the connection waits for a person, who signs in again', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      bench.accept('other')
      await connection.order()
      const { error } = await connection.until('signed_out')
      expect(error).toContain(`${label} responded with status 401`)
      for (const secret of Object.values(peer.credentials)) expect(error).not.toContain(secret)
      const body = { credentials: peer.otherCredentials }
      expect((await bench.tenant.call('PATCH', `/v1/connections/${connection.id}`, body)).status).toBe(200)
      expect((await connection.until('waiting')).error).toBeNull()
    })

    test('server error: a read is repeated, and an error that lasts is shown until the next pull succeeds', async () => {
      await peer.add(...threeDays())
      let failures = 1
      bench.system.intercept = (request) =>
        peer.readsEvents(request) && failures-- > 0 ? { status: 503, body: {} } : undefined
      const connection = await bench.connect()
      await connection.firstRun()
      expect(await bench.countEvents()).toBe(9)
      failures = 100
      await connection.order()
      expect((await connection.until('failed')).error).toBe(`${label} responded with status 503.`)
      failures = 0
      await connection.order()
      expect((await connection.until('waiting')).error).toBeNull()
    })

    test('bad record: it is among the errors, and the others are read', async () => {
      await peer.add(...threeDays())
      await peer.addBad(daysAgo(1))
      const connection = await bench.connect()
      expect(eventsOf(await connection.firstRun())).toEqual({ accepted: 9, failed: 2 })
      expect(await connection.errors()).toEqual([
        expect.objectContaining({ object: 'events', code: 'validation_error', message: expect.any(String) }),
        expect.objectContaining({ object: 'events', code: 'validation_error', message: expect.any(String) }),
      ])
    })

    test('restart in the middle: a cut connection continues after the last page', async () => {
      await peer.add(...threeDays())
      let cut: SystemRequest | undefined
      bench.system.intercept = (request) => {
        if (cut || !peer.readsEvents(request) || eventRequests() < 3) return undefined
        cut = request
        return null
      }
      const connection = await bench.connect()
      expect((await connection.until('failed')).last_run).toMatchObject({ finished_at: null })
      await connection.order()
      expect((await connection.until('waiting')).last_run).toMatchObject({ finished_at: expect.any(String) })
      expect(await bench.countEvents()).toBe(9)
      // The first request after the cut asks for the page that was cut, which is not the first page.
      const asked = bench.system.requests.filter((request) => peer.readsEvents(request))
      const pages = asked.map(({ path, query, body }) => `${path}?${query} ${body}`)
      const cutAt = asked.indexOf(cut as SystemRequest)
      expect(pages[cutAt + 1]).toBe(pages[cutAt])
      expect(pages[cutAt + 1]).not.toBe(pages[0])
    })

    test('deletion: a person of whom the system no longer says anything stays until it is erased here', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      await peer.reset(bench.service)
      await connection.pull()
      expect(await bench.contacts()).toHaveLength(1)
      expect(await bench.countEvents()).toBe(9)
    })

    test('erase: an erased person and its events do not come back with the next pull', async () => {
      await peer.add(...threeDays())
      const connection = await bench.connect()
      await connection.firstRun()
      const contact = await bench.contactOf('ada@example.com')
      const { body } = await bench.tenant.call('POST', '/v1/erasures', { contact_id: contact?.contact_id })
      await expect
        .poll(
          async () => (await bench.tenant.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)).body.receipt.status,
          { timeout: 60_000, interval: 20 },
        )
        .not.toBe('running')
      await peer.add({ id: 'new', name: 'New', at: new Date(Date.now() - peer.delayMs), deviceId: deviceId(3) })
      await connection.pull()
      expect(await bench.contacts()).toEqual([])
      expect(await bench.countEvents('Order paid')).toBe(0)
    })

    test('wrong credentials are refused with what the system says, and nothing is connected', async () => {
      const { settings, otherCredentials: credentials } = peer
      const response = await bench.tenant.call('POST', '/v1/connections', { connector, settings, credentials })
      expect(response.status).toBe(400)
      expect(response.body.error.code).toBe('connection_refused')
      expect((await bench.tenant.call('GET', '/v1/connections')).body.connections).toEqual([])
    })
  })
}
