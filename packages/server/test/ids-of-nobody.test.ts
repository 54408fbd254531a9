import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { isUuid } from '../src/platform/ids.ts'
import { type EventFiles, jsonLines, openEventFiles } from './event-files.ts'
import {
  call,
  createTestTenant,
  sharedService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from './service.ts'
import { createSource } from './sources.ts'

/** Ids that name nobody, at every door: left out with the warning `ignored_id`, and the rest of the call counts. */

let service: TestService
let tenant: TestTenant
let serverKey: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  serverKey = await createSource(tenant, 'server')
})

/** One that is listed, and one that only looks like it: platform/ids-of-nobody.test.ts has all spellings. */
const NOBODY = ['undefined', '%22ｎｕ\u200bｌｌ%22']

/** Sends like an SDK on a server. */
const sdk = (path: string, body: object): Promise<TestResponse> =>
  call(service, 'POST', path, {
    headers: { authorization: `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}` },
    body: JSON.stringify(body),
  })

const contacts = async () => (await tenant.call('GET', '/v1/contacts')).body.contacts
/** The external user ids of the contacts. */
const userIds = async () => {
  const rows = await tenant.handle.db.selectFrom('contacts').select('external_id').orderBy('external_id').execute()
  return rows.map(({ external_id }) => external_id)
}
const eventsOf = async (query: string) =>
  (await tenant.call('GET', `/v1/events?sort_dir=asc&limit=100&${query}`)).body.events
const visitorsOf = async (id: string) =>
  (await tenant.call('GET', `/v1/contacts/${id}/visitors`)).body.visitors.map(
    ({ visitor_id }: { visitor_id: string }) => visitor_id,
  )
const ignored = (name: string) => expect.stringMatching(`^(\\w+\\[\\d+\\]: )?ignored_id: ${name} `)
const setOwn = (ignored_ids: string[]) => tenant.call('PATCH', '/v1/tenant', { ignored_ids })

describe.each(NOBODY)('three people identified as %j', (id) => {
  test('by an SDK are three anonymous visitors', async () => {
    for (const name of ['ann', 'bob', 'cid']) {
      await sdk('/v1/page', { anonymousId: `s-${name}`, name: `Page of ${name}` })
      const { status, body } = await sdk('/v1/identify', {
        anonymousId: `s-${name}`,
        userId: id,
        traits: { city: name },
      })
      expect([status, body.success]).toEqual([200, true])
      expect(body.warnings).toContainEqual(ignored('the user id'))
    }
    expect(await contacts()).toEqual([])
    for (const name of ['ann', 'bob', 'cid']) {
      expect(await eventsOf(`visitor_id=s-${name}`)).toMatchObject([
        { internal_contact_id: null, data: { name: `Page of ${name}` } },
      ])
    }
  })

  test('by a page are three anonymous visitors', async () => {
    for (const name of ['ann', 'bob', 'cid']) {
      const events = [{ event: 'page_view' }]
      const named = {
        visitor_id: name,
        external_contact_id: id,
        identify: { external_user_id: id, traits: { city: name } },
      }
      const { status, body } = await tenant.track({ ...named, events })
      expect([status, body.accepted, body.visitor_id]).toEqual([200, 1, name])
      expect(body.warnings).toContainEqual(ignored('identify.external_user_id'))
      expect(body.warnings).toContainEqual(ignored('external_contact_id'))
    }
    expect(await contacts()).toEqual([])
    // Nor does a contact get them later.
    await tenant.call('POST', '/v1/identify', { user_id: id, email: 'ada@example.com' })
    for (const name of ['ann', 'bob', 'cid']) {
      expect(await eventsOf(`visitor_id=${name}`)).toMatchObject([{ internal_contact_id: null }])
    }
  })
})

describe('POST /track', () => {
  test.each([['undefined'], ['   '], [0], [false], [-1]])(
    'with the user id %j identifies by the email',
    async (external_user_id) => {
      const identify = { external_user_id, traits: { email: 'ada@example.com', firstname: 'Ada' } }
      const { body } = await tenant.track({ visitor_id: 'v', identify, events: [{ event: 'page_view' }] })
      expect(body.warnings).toEqual([ignored('identify.external_user_id')])
      const [contact] = await contacts()
      expect(contact.properties).toMatchObject({ email: 'ada@example.com', firstname: 'Ada' })
      expect(await userIds()).toEqual([null])
      expect(await visitorsOf(contact.contact_id)).toEqual(['v'])
    },
  )

  test('an empty user id is absent, as pages send it for a visitor who is not signed in', async () => {
    const identify = { external_user_id: '', traits: { email: 'ada@example.com' } }
    const { body } = await tenant.track({ visitor_id: 'v', identify, events: [{ event: 'page_view' }] })
    expect(body).not.toHaveProperty('warnings')
  })

  test('gives each visitor without an id a new one, whether the id is in the body or in the cookie', async () => {
    const events = [{ event: 'page_view' }]
    const sent = [
      await tenant.track({ visitor_id: 'undefined', session_id: 'null', events }),
      await tenant.track({ visitor_id: ' Undefined ', events }),
      await tenant.track({ events }, { cookie: 'service_visitor_id=undefined; service_session_id=null' }),
    ]
    expect(sent.map(({ status }) => status)).toEqual([200, 200, 200])
    const ids = sent.flatMap(({ body }) => [body.visitor_id, body.session_id])
    expect([ids.every(isUuid), new Set(ids).size]).toEqual([true, 6])
    expect(sent.map(({ body }) => body.warnings)).toEqual([
      [ignored('visitor_id'), ignored('session_id')],
      [ignored('visitor_id')],
      [ignored('the cookie service_visitor_id'), ignored('the cookie service_session_id')],
    ])
  })

  test('uses the cookie if the id in the body names nobody', async () => {
    const cookie = 'service_visitor_id=from-cookie; service_session_id=s-cookie'
    const { body } = await tenant.track(
      { visitor_id: 'null', session_id: 'none', events: [{ event: 'x' }] },
      { cookie },
    )
    expect(body).toMatchObject({ visitor_id: 'from-cookie', session_id: 's-cookie' })
  })

  test('an identification without anything else is refused, and external_contact_id counts', async () => {
    await tenant.call('POST', '/v1/identify', { user_id: 'user-42', email: 'ada@example.com' })
    const identify = { external_user_id: 'undefined' }
    const { body } = await tenant.track({
      visitor_id: 'v',
      external_contact_id: 'user-42',
      identify,
      events: [{ event: 'x' }],
    })
    expect(body.warnings).toEqual([
      ignored('identify.external_user_id'),
      'identify was ignored: it needs an external_user_id or traits.email',
    ])
    const [contact] = await contacts()
    expect(await visitorsOf(contact.contact_id)).toEqual(['v'])
  })
})

test('POST /recover-visitor proposes a new visitor instead of an id that names nobody', async () => {
  const recover = (fingerprint: string) =>
    call(service, 'POST', '/recover-visitor', {
      headers: { origin: `https://${tenant.site}` },
      body: JSON.stringify({ fingerprint: fingerprint.repeat(32), visitor_id: 'undefined' }),
    })
  const [one, other] = [await recover('ab'), await recover('cd')]
  expect([one.body.visitor_id, other.body.visitor_id].every(isUuid)).toBe(true)
  expect(one.body.visitor_id).not.toBe(other.body.visitor_id)
  expect(one.body.warnings).toEqual([ignored('visitor_id')])
})

test('a form writes to its contact, and links no visitor', async () => {
  const submit = (email: string, visitor_id: string) =>
    call(service, 'POST', `/v1/public/form-submission/${tenant.id}/signup`, {
      headers: { origin: `https://${tenant.site}` },
      body: JSON.stringify({ visitor_id, contact_data: { email } }),
    })
  const { status, body } = await submit('ada@example.com', 'undefined')
  expect([status, body.warnings]).toEqual([200, [ignored('visitor_id')]])
  const other = await submit('bob@example.com', 'undefined')
  for (const { contact_id } of [body, other.body]) expect(await visitorsOf(contact_id)).toEqual([])
  expect(await eventsOf(`contact_id=${body.contact_id}`)).toMatchObject([{ event: 'form_submission' }])
  expect((await submit('ada@example.com', '')).body).not.toHaveProperty('warnings')
})

describe('the API', () => {
  test('POST /v1/identify links the visitors that are named, and uses the email', async () => {
    const visitor_id = ['undefined', 'v1', 'null', 'undefined']
    const { status, body } = await tenant.call('POST', '/v1/identify', {
      visitor_id,
      user_id: 'NULL',
      email: 'ada@example.com',
    })
    expect([status, body.linked_visitors]).toEqual([200, 1])
    expect(body.warnings).toEqual([ignored('user_id'), ignored('visitor_id'), ignored('visitor_id')])
    expect(await visitorsOf(body.contact_id)).toEqual(['v1'])
    expect(await userIds()).toEqual([null])
  })

  test('POST /v1/identify refuses a request whose only key names nobody, and creates no visitor', async () => {
    const { status, body } = await tenant.call('POST', '/v1/identify', { visitor_id: 'v1', user_id: 'undefined' })
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(body.error.details).toEqual([{ path: 'user_id', message: expect.stringContaining('ignored_id') }])
    expect(await contacts()).toEqual([])
    expect(await tenant.handle.db.selectFrom('visitors').selectAll().execute()).toEqual([])
  })

  test('POST and PUT /v1/contacts link no visitor that names nobody', async () => {
    const made = await tenant.call('POST', '/v1/contacts', {
      email: 'ada@example.com',
      visitor_id: ['[object Object]', 'v1'],
    })
    expect([made.status, made.body.warnings]).toEqual([201, [ignored('visitor_id')]])
    const path = `/v1/contacts/${made.body.contact.contact_id}`
    const changed = await tenant.call('PUT', path, { properties: { firstname: 'Ada' }, visitor_id: 'undefined' })
    expect([changed.status, changed.body.warnings]).toEqual([200, [ignored('visitor_id')]])
    expect(changed.body.contact.properties.firstname).toBe('Ada')
    expect(await visitorsOf(made.body.contact.contact_id)).toEqual(['v1'])
  })

  test('POST /v1/events: an event keeps its other person; one without any fails alone', async () => {
    const { status, body } = await tenant.call('POST', '/v1/events', {
      events: [
        { event: 'a', user_id: 'undefined', visitor_id: 'v1' },
        { event: 'b', user_id: 'null', email: 'ada@example.com' },
        { event: 'c', user_id: 'none' },
        { event: 'd', visitor_id: 'undefined' },
        { event: 'e', user_id: 'user-42', visitor_id: 'undefined', session_id: 'null' },
      ],
    })
    expect([status, body.failed]).toEqual([200, 2])
    const [a, b, c, d, e] = body.results
    expect([a, b, e]).toMatchObject([
      { status: 'accepted', contact_id: null },
      { status: 'accepted', contact_id: expect.any(String) },
      { status: 'accepted', contact_id: expect.any(String) },
    ])
    for (const { error } of [c, d]) {
      expect(error).toEqual({ code: 'validation_error', message: expect.stringContaining('ignored_id') })
    }
    expect(body.warnings).toEqual([
      expect.stringMatching(/^events\[0\]: ignored_id: the user id "undefined"/),
      expect.stringMatching(/^events\[1\]: ignored_id: the user id "null"/),
      expect.stringMatching(/^events\[4\]: ignored_id: the visitor id "undefined"/),
      expect.stringMatching(/^events\[4\]: ignored_id: the session id "null"/),
    ])
    expect(await eventsOf('visitor_id=v1')).toMatchObject([{ event: 'a' }])
    expect(await visitorsOf(e.contact_id)).toEqual([])
    expect(await contacts()).toHaveLength(2)
  })

  test('POST /v1/sources: a record counts by its email; one without an email fails alone', async () => {
    const { body } = await tenant.call('POST', '/v1/sources/crm/contacts', {
      records: [
        { external_id: 'undefined', email: 'ada@example.com', properties: { firstname: 'Ada' } },
        { external_id: 'undefined', email: 'bob@example.com' },
        { external_id: 'N/A', properties: { firstname: 'Nobody' } },
        { external_id: '701', properties: { firstname: 'Cid' } },
      ],
    })
    expect(body.results).toMatchObject([
      { status: 'created', external_id: 'undefined' },
      { status: 'created' },
      {
        status: 'failed',
        external_id: 'N/A',
        error: { code: 'validation_error', message: expect.stringContaining('ignored_id') },
      },
      { status: 'created', external_id: '701' },
    ])
    expect(body.results[0].contact_id).not.toBe(body.results[1].contact_id)
    expect(body.warnings).toEqual([
      expect.stringMatching(/^records\[0\]: ignored_id: external_id "undefined"/),
      expect.stringMatching(/^records\[1\]: ignored_id: external_id "undefined"/),
    ])
  })

  test('POST /v1/sources: the contact of a conversation counts by its email', async () => {
    const conversation = (thread_key: string, contact: object) => ({
      thread_key,
      contact,
      messages: [
        {
          message_id: `m-${thread_key}`,
          direction: 'inbound',
          from: {},
          to: [],
          sent_at: '2026-01-31T08:00:00Z',
          text: 'Hi',
        },
      ],
    })
    const { body } = await tenant.call('POST', '/v1/sources/helpdesk/conversations', {
      records: [
        conversation('t1', { external_id: 'null', email: 'ada@example.com' }),
        conversation('t2', { external_id: 'null', email: 'bob@example.com' }),
        conversation('t3', { external_id: 'null' }),
      ],
    })
    expect(body.results).toMatchObject([
      { status: 'created' },
      { status: 'created' },
      {
        status: 'failed',
        error: { message: expect.stringContaining('contact.external_id: "null" names nobody (ignored_id)') },
      },
    ])
    expect(body.warnings).toEqual([ignored('contact.external_id'), ignored('contact.external_id')])
  })
})

describe("an SDK's call", () => {
  test('with an anonymousId is that visitor’s', async () => {
    const { body } = await sdk('/v1/track', { userId: 'undefined', anonymousId: 'a', event: 'Order Completed' })
    expect(body.warnings).toEqual([ignored('the user id')])
    expect(await eventsOf('visitor_id=a')).toMatchObject([{ event: 'Order Completed', internal_contact_id: null }])
    expect(await contacts()).toEqual([])
  })

  test('with a userId and no visitor links none', async () => {
    for (const userId of ['ada', 'bob']) {
      const { body } = await sdk('/v1/track', { userId, anonymousId: 'undefined', event: 'x' })
      expect(body.warnings).toEqual([ignored('the visitor id')])
    }
    const two = await contacts()
    expect(two).toHaveLength(2)
    for (const { contact_id } of two) expect(await visitorsOf(contact_id)).toEqual([])
  })

  test('without any id that names somebody is 400, and fails alone in a batch', async () => {
    const nobody = {
      type: 'track',
      userId: 'undefined',
      anonymousId: '00000000-0000-0000-0000-000000000000',
      event: 'x',
    }
    const alone = await sdk('/v1/track', nobody)
    expect([alone.status, alone.body.error.code]).toEqual([400, 'validation_error'])
    expect(alone.body.error.message).toContain('ignored_id')
    const { status, body } = await sdk('/v1/batch', { batch: [nobody, { ...nobody, anonymousId: 'a' }] })
    expect(status).toBe(200)
    expect(body.warnings).toEqual([
      expect.stringMatching(/^batch\[0\]: the record: needs a person.*ignored_id: the user id/),
      expect.stringMatching(/^batch\[1\]: ignored_id: the user id/),
    ])
    expect(await eventsOf('')).toMatchObject([{ visitor_id: 'a' }])
  })

  test('with an email counts by it', async () => {
    await sdk('/v1/identify', { anonymousId: 'a', userId: 'null', traits: { email: 'ada@example.com' } })
    await sdk('/v1/identify', { anonymousId: 'b', userId: 'null', traits: { email: 'bob@example.com' } })
    expect(await userIds()).toEqual([null, null])
  })

  test('of a group without an id names the company by its domain, else none', async () => {
    const group = (userId: string, traits: object) => sdk('/v1/group', { userId, groupId: 'undefined', traits })
    expect((await group('ada', { domain: 'acme.example', name: 'Acme' })).body.warnings).toEqual([
      ignored('the id of the company'),
    ])
    await group('bob', { domain: 'globex.example', name: 'Globex' })
    expect((await group('cid', { name: 'Initech' })).status).toBe(200)
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies.map(({ domain }: { domain: string }) => domain).sort()).toEqual(['acme.example', 'globex.example'])
    expect((await contacts()).map(({ company_id }: { company_id: string | null }) => company_id)).toContain(null)
  })

  test('of an alias joins nobody', async () => {
    await sdk('/v1/track', { anonymousId: 'a', event: 'x' })
    for (const userId of ['ada', 'bob']) {
      const { status, body } = await sdk('/v1/alias', { userId, previousId: 'undefined' })
      expect([status, body.warnings]).toEqual([200, [ignored('the previous id')]])
    }
    for (const { contact_id } of await contacts()) expect(await visitorsOf(contact_id)).toEqual([])
  })

  test('with an id that is an object, true or blank says so, and null or an empty text is absent', async () => {
    for (const userId of [{ id: 1 }, true, '  ']) {
      const { status, body } = await sdk('/v1/track', { userId, anonymousId: 'a', event: 'x' })
      expect([status, body.warnings]).toEqual([200, [ignored('userId')]])
    }
    for (const userId of [null, '']) {
      expect((await sdk('/v1/track', { userId, anonymousId: 'a', event: 'x' })).body).not.toHaveProperty('warnings')
    }
    expect(await contacts()).toEqual([])
  })

  test('with a messageId that is none is recorded each time', async () => {
    for (let n = 0; n < 3; n++) {
      const { body } = await sdk('/v1/track', { anonymousId: 'a', event: 'x', messageId: 'undefined' })
      expect(body.warnings).toEqual([ignored('messageId')])
    }
    expect(await eventsOf('visitor_id=a')).toHaveLength(3)
  })
})

describe('an import of events', () => {
  let files: EventFiles
  beforeEach(async () => {
    files = await openEventFiles(service, tenant)
  })
  afterAll(() => files?.remove())
  const AT = '2025-03-01T10:00:00.000Z'

  test.each<[string, object[], number]>([
    ['native', [{ event: 'e', timestamp: AT, user_id: 'undefined', visitor_id: 'v' }], 0],
    [
      'segment',
      [{ type: 'track', event: 'e', timestamp: AT, userId: 'undefined', anonymousId: 'v', messageId: 'm' }],
      0,
    ],
    [
      'mixpanel',
      [{ event: 'e', properties: { time: 1_740_823_200, $user_id: 'undefined', $device_id: 'v', distinct_id: 'x' } }],
      0,
    ],
    [
      'amplitude',
      [{ event_type: 'e', event_time: '2025-03-01 10:00:00', user_id: 'undefined', device_id: 'v', amplitude_id: 1 }],
      0,
    ],
    [
      'posthog',
      [{ event: 'e', distinct_id: 'undefined', timestamp: AT, uuid: crypto.randomUUID(), properties: {} }],
      1,
    ],
  ])('of %s joins no strangers', async (format, lines, failed) => {
    const summary = await files.import(await files.write(`${format}.jsonl`, jsonLines(...lines)))
    expect(summary).toMatchObject({ format, failed, recorded: 1 - failed })
    expect(await contacts()).toEqual([])
    if (failed === 0) {
      expect(summary.warnings).toMatchObject([{ lines: 1, message: ignored('the user id') }])
      expect(await eventsOf('visitor_id=v')).toMatchObject([{ event: 'e', internal_contact_id: null }])
    }
  })

  test("uses the tenant's own words", async () => {
    await setOwn(['demo'])
    const line = { event: 'e', timestamp: AT, user_id: 'Demo', visitor_id: 'v' }
    expect(await files.import(await files.write('own.jsonl', jsonLines(line)))).toMatchObject({
      recorded: 1,
      warned: 1,
    })
    expect(await contacts()).toEqual([])
  })
})

describe("a tenant's own words", () => {
  test('count at once, at every door, for this tenant only', async () => {
    const other = await createTestTenant(service)
    const events = [{ event: 'x' }]
    expect((await tenant.track({ visitor_id: 'demo', events })).body.visitor_id).toBe('demo')
    await setOwn(['Demo', 'Kiosk'])
    expect((await tenant.track({ visitor_id: ' DEMO ', events })).body.visitor_id).not.toBe(' DEMO ')
    expect((await sdk('/v1/track', { userId: 'kiosk', anonymousId: 'a', event: 'x' })).body.warnings).toEqual([
      ignored('the user id'),
    ])
    expect((await tenant.call('POST', '/v1/identify', { user_id: 'demo' })).status).toBe(400)
    const pushed = await tenant.call('POST', '/v1/sources/crm/contacts', { records: [{ external_id: 'kiosk' }] })
    expect(pushed.body.results).toMatchObject([{ status: 'failed' }])
    expect(await contacts()).toEqual([])
    expect((await other.track({ visitor_id: 'demo', events })).body.visitor_id).toBe('demo')
    expect((await other.call('POST', '/v1/identify', { user_id: 'kiosk' })).status).toBe(200)
  })

  test('change nothing that is already linked, and count as ids again once they are removed', async () => {
    const { contact_id } = (await tenant.call('POST', '/v1/identify', { visitor_id: 'v1', user_id: 'kiosk' })).body
    await setOwn(['kiosk'])
    expect(await userIds()).toEqual(['kiosk'])
    await tenant.track({ visitor_id: 'v1', events: [{ event: 'later' }] })
    expect(await eventsOf('event_type=later')).toMatchObject([{ internal_contact_id: contact_id }])
    await setOwn([])
    expect((await tenant.call('POST', '/v1/identify', { user_id: 'kiosk' })).body).toMatchObject({
      contact_id,
      created: false,
    })
  })

  test('are read once for many requests', async () => {
    const events = [{ event: 'x' }]
    await setOwn(['demo'])
    await tenant.track({ visitor_id: 'demo', events })
    // Not announced, as a change by another process would be: only a query would see it.
    await tenant.handle.db
      .updateTable('identification_settings')
      .set({ ignored_ids: ['kiosk'] })
      .execute()
    expect((await tenant.track({ visitor_id: 'kiosk', events })).body.visitor_id).toBe('kiosk')
    expect((await sdk('/v1/track', { anonymousId: 'kiosk', event: 'x' })).status).toBe(200)
  })
})
