import { describe, expect, test } from 'vitest'
import { type AnalyticsPeer, daysAgo, deviceId, threeDays, useAnalytics } from '../../../test/analytics.ts'
import { testAnalyticsConnector } from '../../../test/analytics-matrix.ts'
import { connectSystem } from '../../../test/connection.ts'
import { clickhouseTime, createPostHog, personId, uuidOf } from '../../../test/posthog.ts'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import { EVENTS_PER_PAGE } from '../event-lines.ts'

const posthog = createPostHog(() => bench.service.stores.clickhouse)

const peer: AnalyticsPeer = {
  connector: 'posthog',
  label: 'PostHog',
  settings: { project_id: '7' },
  credentials: { personal_api_key: 'phx_first_0123456789' },
  otherCredentials: { personal_api_key: 'phx_other_0123456789' },
  signedInWith: ({ headers }) => {
    if (headers.authorization === 'Bearer phx_first_0123456789') return 'first'
    return headers.authorization === 'Bearer phx_other_0123456789' ? 'other' : 'none'
  },
  unauthorized: {
    status: 401,
    body: { type: 'authentication_error', code: 'authentication_failed', detail: 'Invalid personal API key.' },
  },
  delayMs: 0,
  findsLateAtOnce: true,
  readsEvents: ({ body }) => body.includes('SELECT toString(uuid)'),
  respond: posthog.respond,
  add: posthog.add,
  addBad: async (at) => {
    const row = { event: 'Bad', properties: '{}', created_at: clickhouseTime(at), person_id: '' }
    await posthog.insert(
      'events',
      { ...row, uuid: uuidOf('nobody', ''), timestamp: clickhouseTime(at), distinct_id: '' },
      { ...row, uuid: uuidOf('long', ''), timestamp: clickhouseTime(at), distinct_id: 'x'.repeat(300) },
    )
  },
  reset: posthog.reset,
}

const bench = useAnalytics(peer)
testAnalyticsConnector(peer, bench)

describe('PostHog', () => {
  test('pages end between events of the same time, without a gap and without an overlap', async () => {
    const at = daysAgo(1)
    const count = EVENTS_PER_PAGE + 10
    const many = Array.from({ length: count }, (_, index) => ({
      id: `m${index}`,
      name: 'Many',
      at,
      deviceId: deviceId(index % 5),
    }))
    await posthog.add(...many)
    const { counts } = await (await bench.connect()).firstRun()
    expect(counts.events).toEqual({ accepted: count })
    expect(await bench.countEvents('Many')).toBe(count)
  })

  test('days without events are skipped by one query', async () => {
    await posthog.add(...threeDays(), { id: 'old', name: 'Old', at: daysAgo(300), userId: 'user-1' })
    const { connector, settings, credentials } = peer
    await (await connectSystem(bench.tenant, { connector, settings, credentials })).firstRun()
    expect(await bench.countEvents()).toBe(10)
    expect(posthog.queries.length).toBeLessThan(30)
  })

  test('late events are found by the time at which PostHog received them', async () => {
    await posthog.add(...threeDays())
    const connection = await bench.connect()
    await connection.firstRun()
    await posthog.add({ id: 'late', name: 'Late', at: daysAgo(20), userId: 'user-1', receivedAt: new Date() })
    await new Promise((resolve) => setTimeout(resolve, 5))
    await connection.pull()
    expect(await bench.countEvents('Late')).toBe(1)
  })

  test('a person is identified by an id that is not a device; their devices are visitors, and a device alone identifies nobody', async () => {
    await posthog.insert(
      'persons',
      {
        id: personId(1),
        properties: '{"email":"ada@example.com","plan":"pro","$os":"Linux","account":1234567890123456781}',
      },
      { id: personId(2), properties: JSON.stringify({ email: 'nobody@example.com' }) },
    )
    await posthog.insert(
      'person_distinct_ids',
      { person_id: personId(1), distinct_id: 'user-1' },
      { person_id: personId(1), distinct_id: deviceId(1) },
      { person_id: personId(2), distinct_id: deviceId(2) },
    )
    await posthog.add({ id: 'v', name: 'Visited', at: daysAgo(1), deviceId: deviceId(1) })
    const { connector, settings, credentials } = peer
    await (await connectSystem(bench.tenant, { connector, settings, credentials })).firstRun()
    expect(await bench.countEvents('Visited')).toBe(1)
    expect(await bench.contacts()).toHaveLength(1)
    const contact = await bench.contactOf('ada@example.com')
    expect(contact?.properties).toEqual({ email: 'ada@example.com', plan: 'pro', account: '1234567890123456781' })
    const { events } = (await bench.tenant.call('GET', `/v1/contacts/events/${contact?.contact_id}`)).body
    expect(events.some(({ event }: { event: string }) => event === 'Visited')).toBe(true)
  })

  test('a person whose address is none is an error of the record, and keeps the contact of their id', async () => {
    const users = ['n/a', 'ada@', 'unknown', 'ada at example.com'].map((address, index) => {
      const corrected = { email: `ada${index}@example.com`, plan: 'pro' }
      return { address, userId: `user-${index + 2}`, person: personId(index + 2), corrected }
    })
    await posthog.add({ id: 'p', name: 'Order paid', at: daysAgo(1), userId: 'user-1' })
    for (const { address, userId } of users) {
      await posthog.add({ id: userId, name: 'Order paid', at: daysAgo(1), userId, person: { email: address } })
    }
    const connection = await bench.connect()
    const { counts } = await connection.firstRun()
    expect(counts.persons).toEqual({ identified: 1, failed: users.length })
    const errors = (await connection.errors()).toSorted((one, other) => (one.external_id < other.external_id ? -1 : 1))
    expect(errors).toMatchObject(
      users.map(({ address, person }) => {
        const message = expect.stringContaining(`'${address}' is not an email address`)
        return { object: 'persons', external_id: person, code: 'invalid_email', message }
      }),
    )
    // Their events say who caused them, so there is a contact of each id.
    expect(await bench.contacts()).toHaveLength(1 + users.length)
    const contactIds: string[] = []
    for (const { userId } of users) {
      const { created, contact_id } = (await bench.tenant.call('POST', '/v1/identify', { user_id: userId })).body
      expect(created).toBe(false)
      const { contact } = (await bench.tenant.call('GET', `/v1/contacts/${contact_id}`)).body
      expect(contact.properties).toEqual({})
      contactIds.push(contact_id)
    }

    // Corrected in PostHog, each person is the contact of that id.
    await posthog.reset()
    for (const { userId, corrected } of users) {
      await posthog.add({ id: `${userId} r`, name: 'Order paid', at: new Date(), userId, person: corrected })
    }
    await connection.pull()
    for (const [index, { corrected }] of users.entries()) {
      const contact_id = contactIds[index]
      expect(await bench.contactOf(corrected.email)).toMatchObject({ contact_id, properties: corrected })
    }
    expect(await bench.contacts()).toHaveLength(1 + users.length)
  })

  test('an address in another spelling is the known contact', async () => {
    const contactId = await bench.tenant.contact('kim@xn--bcher-kva.example')
    const person = { email: 'Kim@bu\u0308cher.example', plan: 'pro' }
    await posthog.add({ id: 'p', name: 'Order paid', at: daysAgo(1), userId: 'user-1', person })
    const { counts } = await (await bench.connect()).firstRun()
    expect(counts.persons).toEqual({ identified: 1 })
    const properties = { email: 'kim@xn--bcher-kva.example', plan: 'pro' }
    expect(await bench.contacts()).toMatchObject([{ contact_id: contactId, properties }])
  })

  test('an address that turns into none later takes neither the address nor the id from the contact', async () => {
    const event = { name: 'Order paid', userId: 'user-1' }
    await posthog.add({ ...event, id: 'a', at: daysAgo(1), person: { email: 'ada@example.com' } })
    const connection = await bench.connect()
    await connection.firstRun()
    await posthog.reset()
    await posthog.add({ ...event, id: 'b', at: new Date(), person: { email: 'ada@' } })
    await connection.pull()
    expect(await connection.errors()).toMatchObject([{ external_id: personId(1), code: 'invalid_email' }])
    const [contact, ...others] = await bench.contacts()
    expect([contact, others]).toMatchObject([{ properties: { email: 'ada@example.com' } }, []])
    const known = await bench.tenant.call('POST', '/v1/identify', { user_id: 'user-1' })
    expect(known.body).toMatchObject({ created: false, contact_id: contact?.contact_id })
  })

  test('a refused key is reported with PostHog’s message', async () => {
    const { settings } = peer
    const credentials = { personal_api_key: 'phx_wrong_0123456789' }
    const response = await bench.tenant.call('POST', '/v1/connections', { connector: 'posthog', settings, credentials })
    expect(response.body.error.message).toBe('PostHog responded with status 401: Invalid personal API key.')
  })

  test('a host that is not public is refused', async () => {
    const service = await sharedService()
    const tenant = await createTestTenant(service)
    const connect = async (host: string) => {
      const body = { connector: 'posthog', settings: { project_id: '7', host }, credentials: peer.credentials }
      return (await tenant.call('POST', '/v1/connections', body)).body.error
    }
    for (const host of ['10.0.0.1', '127.0.0.1:8443', 'localhost', '169.254.169.254', '[::1]']) {
      expect(await connect(host), host).toMatchObject({ code: 'url_not_allowed' })
    }
    for (const host of ['https://eu.posthog.com', 'eu.posthog.com/x', 'user@eu.posthog.com', 'a b', 'x.com?y', '']) {
      expect(await connect(host), host).toMatchObject({
        code: 'validation_error',
        details: [{ path: 'settings.host' }],
      })
    }
  })
})
