import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const visit = (visitor_id: string, event = 'page_view', more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event, url: `https://${tenant.site}/${event}` }], ...more })

async function identify(body: object) {
  const response = await tenant.call('POST', '/v1/identify', body)
  if (response.status !== 200) throw new Error(JSON.stringify(response.body))
  return response.body as { contact_id: string; created: boolean; linked_visitors: number }
}

/** Names of a contact's events, in order of time. */
async function eventsOf(contactId: string): Promise<string[]> {
  const { body } = await tenant.call('GET', `/v1/events?contact_id=${contactId}&sort_dir=asc&limit=100`)
  return body.events.map(({ event }: { event: string }) => event)
}

const contactOf = async (contactId: string) =>
  (await tenant.call('GET', `/v1/contacts/${contactId}?include=provenance`)).body

describe('POST /v1/identify', () => {
  test("creates the contact and moves the visitor's earlier events to it, without copies", async () => {
    await visit('v1', 'first')
    await visit('v1', 'second')
    await visit('other', 'not_his')
    const response = await identify({ visitor_id: 'v1', email: ' Ada@Example.com ', user_id: 'u1' })
    expect(response).toMatchObject({ created: true, linked_visitors: 1 })
    expect(await eventsOf(response.contact_id)).toEqual(['first', 'second'])
    await visit('v1', 'third')
    expect(await eventsOf(response.contact_id)).toEqual(['first', 'second', 'third'])
    const all = await tenant.call('GET', '/v1/events?count_only=true')
    expect(all.body.count).toBe(4)
    const identified = await tenant.call('GET', '/v1/events?identified_only=true&count_only=true')
    expect(identified.body.count).toBe(3)
    const { contact } = await contactOf(response.contact_id)
    expect(contact).toMatchObject({ creation_source: 'identify', properties: { email: 'ada@example.com' } })
  })

  test('links several visitors to one contact', async () => {
    await visit('a', 'one')
    await visit('b', 'two')
    const { contact_id, linked_visitors } = await identify({ visitor_id: ['a', 'b', 'a'], email: 'ada@example.com' })
    expect(linked_visitors).toBe(2)
    expect(await eventsOf(contact_id)).toEqual(['one', 'two'])
  })

  test('becomes a source of the email that identifies the contact, whichever source created the contact', async () => {
    const id = await tenant.contact('ada@example.com')
    const emailOf = async (contactId: string) => {
      const { contact, unified_profile } = await contactOf(contactId)
      const { all_sources, has_conflict } = unified_profile.profile.email
      expect([unified_profile.source_count, has_conflict]).toEqual([all_sources.length, false])
      return [all_sources, contact.properties_provenance.email.source]
    }
    await identify({ email: 'ADA@example.com' })
    expect(await emailOf(id)).toEqual([['manual', 'identify'], 'manual'])
    await identify({ email: 'ada@example.com', user_id: 'u1', visitor_id: 'v' })
    expect(await emailOf(id)).toEqual([['manual', 'identify'], 'manual'])
    // From then on, a page's email counts as the server's.
    await visit('w', 'page_view', { identify: { traits: { email: 'bob@example.com' } } })
    const bob = await identify({ email: 'bob@example.com' })
    expect(await emailOf(bob.contact_id)).toEqual([['tracker', 'identify'], 'identify'])
  })

  test('finds by email first, then by user id, and is idempotent', async () => {
    const first = await identify({ user_id: 'u1', email: 'ada@example.com' })
    expect(await identify({ user_id: 'u1' })).toEqual({ ...first, created: false, linked_visitors: 0 })
    expect((await identify({ email: 'ada@example.com' })).contact_id).toBe(first.contact_id)
    expect((await identify({ email: 'ada@example.com', user_id: 'u1' })).created).toBe(false)
  })

  test('sets the email of a contact that has only a user id', async () => {
    const { contact_id } = await identify({ user_id: 'u1', properties: { firstname: 'Ada' } })
    expect((await identify({ user_id: 'u1', email: 'ada@example.com' })).contact_id).toBe(contact_id)
    const { contact } = await contactOf(contact_id)
    expect(contact.properties).toMatchObject({ email: 'ada@example.com', firstname: 'Ada' })
  })

  test('never changes an existing email or user id, and never merges contacts', async () => {
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    const bob = await identify({ user_id: 'u1', email: 'bob@example.com' })
    expect(bob.created).toBe(true)
    expect(bob.contact_id).not.toBe(ada.contact_id)
    expect((await identify({ user_id: 'u1' })).contact_id).toBe(ada.contact_id)
    await identify({ user_id: 'u2', email: 'ada@example.com' })
    expect((await identify({ user_id: 'u1' })).contact_id).toBe(ada.contact_id)
    expect((await contactOf(ada.contact_id)).contact.properties.email).toBe('ada@example.com')
  })

  test('moves a visitor to another contact for its later events only', async () => {
    await visit('v', 'as_ada')
    const ada = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    const bob = await identify({ visitor_id: 'v', email: 'bob@example.com' })
    await visit('v', 'as_bob')
    expect(await eventsOf(ada.contact_id)).toEqual(['as_ada'])
    expect(await eventsOf(bob.contact_id)).toEqual(['as_bob'])
  })

  test('after its contact is deleted, a visitor is anonymous, and its new events belong to the next identified contact', async () => {
    await visit('v', 'as_ada')
    const ada = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    await tenant.call('DELETE', `/v1/contacts/${ada.contact_id}`)
    await visit('v', 'anonymous')
    const bob = await identify({ visitor_id: 'v', email: 'bob@example.com' })
    await visit('v', 'as_bob')
    expect(await eventsOf(ada.contact_id)).toEqual(['as_ada'])
    expect(await eventsOf(bob.contact_id)).toEqual(['anonymous', 'as_bob'])
  })

  test('the identity log records visitor, contact, time and source of each link, and cannot be changed', async () => {
    const ada = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    await tenant.contact('bob@example.com', {}, { visitor_id: 'v' })
    await tenant.call('DELETE', `/v1/contacts/${ada.contact_id}`)
    const log = await tenant.handle.db.selectFrom('visitor_links').selectAll().orderBy('link_id').execute()
    expect(log).toMatchObject([
      { visitor_id: 'v', contact_id: ada.contact_id, previous_contact_id: null, source: 'identify' },
      { visitor_id: 'v', previous_contact_id: ada.contact_id, source: 'manual' },
    ])
    const forge = tenant.handle.db.updateTable('visitor_links').set({ source: 'form' }).execute()
    await expect(forge).rejects.toThrow('append-only')
  })

  test('records contact_identified', async () => {
    const { contact_id } = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    const { body } = await tenant.call('GET', '/v1/events?event_type=contact_identified')
    expect(body.events).toMatchObject([
      { internal_contact_id: contact_id, data: { visitor_ids: ['v'], source: 'identify' } },
    ])
  })

  test.each([
    [{}, 'email'],
    [{ visitor_id: 'v' }, 'email'],
    [{ email: 'a@' }, 'email'],
    [{ email: 42 }, 'email'],
    [{ user_id: '' }, 'user_id'],
    [{ user_id: 7 }, 'user_id'],
    [{ user_id: 'u', visitor_id: [''] }, 'visitor_id'],
    [{ user_id: 'u', visitor_id: 'v'.repeat(201) }, 'visitor_id'],
    [{ email: 'a@example.com', properties: { email: 'b@example.com' } }, 'properties.email'],
    [{ email: 'a@example.com', properties: { email: { a: 1 } } }, 'properties.email'],
    [{ email: 'a@example.com', properties: { lifecyclestage: 'x' } }, 'properties.lifecyclestage'],
    [{ email: 'a@example.com', nonsense: 1 }, 'nonsense'],
  ])('%j is 400 and names %s', async (body, path) => {
    const response = await tenant.call('POST', '/v1/identify', body)
    expect([response.status, response.body.error.code]).toEqual([400, 'validation_error'])
    expect(response.body.error.details[0].path).toContain(path)
    const { body: none } = await tenant.call('GET', '/v1/contacts?count_only=true')
    expect(none.count).toBe(0)
    expect(await tenant.handle.db.selectFrom('visitors').select('visitor_id').execute()).toEqual([])
  })

  test('concurrent requests for one new person create one contact', async () => {
    const responses = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        identify({ visitor_id: `v${n % 4}`, email: 'ada@example.com', user_id: 'u' }),
      ),
    )
    expect(new Set(responses.map(({ contact_id }) => contact_id)).size).toBe(1)
    expect(responses.filter(({ created }) => created)).toHaveLength(1)
  })
})

describe('visitor_id on a contact', () => {
  test('moves earlier events on POST and on PUT', async () => {
    await visit('v1', 'before_post')
    await visit('v2', 'before_put')
    const id = await tenant.contact('ada@example.com', {}, { visitor_id: 'v1' })
    expect(await eventsOf(id)).toEqual(['before_post'])
    await tenant.call('PUT', `/v1/contacts/${id}`, { visitor_id: ['v2'] })
    expect(await eventsOf(id)).toEqual(['before_post', 'before_put'])
  })
})

describe('identify in /track', () => {
  test('links the visitor before its events are recorded, with or without events', async () => {
    await visit('v', 'before')
    await visit('v', 'with', {
      identify: { external_user_id: 'u1', traits: { email: 'ada@example.com', plan: 'pro' } },
    })
    const found = await identify({ user_id: 'u1' })
    expect(found.created).toBe(false)
    expect(await eventsOf(found.contact_id)).toEqual(['before', 'with'])
    const { contact } = await contactOf(found.contact_id)
    expect(contact).toMatchObject({ creation_source: 'tracker', properties: { plan: 'pro' } })
    const alone = await tenant.track({ visitor_id: 'w', events: [], identify: { external_user_id: 'u1' } })
    expect(alone.body).toMatchObject({ status: 'success', accepted: 0 })
    await visit('w', 'later')
    expect(await eventsOf(found.contact_id)).toContain('later')
  })

  test('traits are mapped to properties like form fields; an exact name wins', async () => {
    const traits = {
      Email: 'ada@example.com',
      firstName: 'Ada',
      'Last Name': 'Wrong',
      lastname: 'Lovelace',
      Plan: 'pro',
    }
    await visit('v', 'seen', { identify: { traits } })
    const { contact_id } = await identify({ email: 'ada@example.com' })
    const { contact } = await contactOf(contact_id)
    expect(contact.properties).toMatchObject({ firstname: 'Ada', lastname: 'Lovelace', Plan: 'pro' })
    expect(Object.keys(contact.properties)).not.toContain('firstName')
    expect(Object.keys(contact.properties)).not.toContain('Last Name')
  })

  test.each([
    [{ traits: { email: 'a@' } }, 'traits.email'],
    [{ external_user_id: '' }, 'external_user_id'],
    [{ external_user_id: ['u'] }, 'external_user_id'],
    [{ external_user_id: 'u'.repeat(201) }, 'external_user_id'],
    [{ external_user_id: 'u', traits: [] }, 'traits'],
    [7, 'object'],
    [{}, 'external_user_id'],
  ])('%j cannot be used: the events are kept, with a warning', async (claim, named) => {
    const response = await visit('v', 'kept', { identify: claim })
    expect(response.status).toBe(200)
    expect(response.body.warnings).toEqual([expect.stringContaining(named)])
    const { body } = await tenant.call('GET', '/v1/events')
    expect(body.events).toMatchObject([{ event: 'kept', internal_contact_id: null }])
  })
})

describe('parts of an identification', () => {
  test('that are invalid are ignored with a warning, and the rest applies', async () => {
    const traits = {
      email: 'ada@example.com',
      plan: 'pro',
      lifecyclestage: 'nonsense',
      address: { city: 'Köln', geo: { lat: 50 }, tags: ['a'] },
      orders: [{ id: 1 }],
      ['k'.repeat(129)]: 1,
    }
    const response = await visit('v', 'kept', { identify: { external_user_id: 'u1', traits, more: 1 } })
    expect(response.status).toBe(200)
    const named = ['more', 'traits.lifecyclestage', 'traits.address.geo', 'traits.orders', `traits.${'k'.repeat(128)}`]
    expect(response.body.warnings.map((warning: string) => warning.split(' ')[0]).sort()).toEqual(
      named.map((name) => `identify.${name}`).sort(),
    )
    const { contact_id, created } = await identify({ user_id: 'u1' })
    expect(created).toBe(false)
    expect(await eventsOf(contact_id)).toEqual(['kept'])
    const { contact } = await contactOf(contact_id)
    expect(contact.properties).toMatchObject({ plan: 'pro', 'address.city': 'Köln', 'address.tags': ['a'] })
    expect(Object.keys(contact.properties)).not.toContain('orders')
  })

  test('that are blank are ignored', async () => {
    const blankEmail = await visit('v', 'kept', {
      identify: { external_user_id: 'u1', traits: { email: ' ', plan: 'pro' } },
    })
    expect(blankEmail.body.warnings).toBeUndefined()
    const { contact_id } = await identify({ user_id: 'u1' })
    expect(await eventsOf(contact_id)).toEqual(['kept'])
    const blankId = await visit('w', 'also', {
      identify: { external_user_id: '', traits: { email: 'ada@example.com' } },
    })
    expect(blankId.body.warnings).toBeUndefined()
    expect((await identify({ email: 'ada@example.com' })).created).toBe(false)
    const nobody = await visit('x', 'nobody', { identify: { external_user_id: '', traits: { email: '' } } })
    expect(nobody.body.warnings).toEqual([expect.stringContaining('needs an external_user_id or traits.email')])
  })

  test('are listed in at most twenty warnings', async () => {
    const wrong = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`wrong${n}`, [{}]]))
    const { body } = await visit('v', 'kept', { identify: { traits: { email: 'ada@example.com', ...wrong } } })
    expect(body.warnings).toHaveLength(21)
    expect(body.warnings[20]).toContain('10 more')
  })

  test('a key with a dot wins over a nested one', async () => {
    const traits = { email: 'ada@example.com', 'address.city': 'Bonn', address: { city: 'Köln' } }
    await visit('v', 'kept', { identify: { traits } })
    const { contact_id } = await identify({ email: 'ada@example.com' })
    expect((await contactOf(contact_id)).contact.properties['address.city']).toBe('Bonn')
  })

  test('may be nested by one level by a server as well; deeper is 400', async () => {
    const { contact_id } = await identify({ email: 'ada@example.com', properties: { address: { city: 'Köln' } } })
    expect((await contactOf(contact_id)).contact.properties['address.city']).toBe('Köln')
    const deep = { email: 'ada@example.com', properties: { a: { b: { c: 1 } } } }
    const { status, body } = await tenant.call('POST', '/v1/identify', deep)
    expect([status, body.error.details[0].path]).toEqual([400, 'properties.a.b'])
  })

  test('/track accepts an identification without events, and rejects an empty request', async () => {
    const alone = await tenant.track({ visitor_id: 'v', identify: { traits: { email: 'ada@example.com' } } })
    expect([alone.status, alone.body.accepted]).toEqual([200, 0])
    const { created } = await identify({ email: 'ada@example.com' })
    expect(created).toBe(false)
    for (const body of [{}, { events: null }, { events: [], identify: null }]) {
      expect((await tenant.track({ visitor_id: 'v', ...body })).status).toBe(400)
    }
  })
})

describe('the external contact id', () => {
  const claim = (visitor: string, external_contact_id: string, event = 'page_view') =>
    visit(visitor, event, { external_contact_id })

  test('identifies a contact by external user id, else by contact_id', async () => {
    const { contact_id } = await identify({ user_id: 'u1' })
    await visit('v', 'before')
    await claim('v', 'u1', 'by_user_id')
    await claim('w', contact_id, 'by_contact_id')
    expect(await eventsOf(contact_id)).toEqual(['before', 'by_user_id', 'by_contact_id'])
  })

  test('is stored if it matches no contact yet, and resolved once one appears', async () => {
    await claim('v', 'u1', 'early')
    await claim('w', 'u1', 'early_too')
    await visit('x', 'not_his')
    const { contact_id, created } = await identify({ user_id: 'u1', email: 'ada@example.com' })
    expect(created).toBe(true)
    expect(await eventsOf(contact_id)).toEqual(['early', 'early_too'])
    await claim('v', 'u2', 'later')
    const known = await identify({ email: 'bob@example.com' })
    await claim('y', 'u2', 'bobs')
    await identify({ email: 'bob@example.com', user_id: 'u2' })
    expect(await eventsOf(known.contact_id)).toEqual(['bobs'])
  })

  test('takes effect when it changes: it does not undo later identifications, and follows a sign-in as another user', async () => {
    const ada = await identify({ user_id: 'ada' })
    const bob = await identify({ user_id: 'bob' })
    await claim('v', 'ada', 'one')
    await identify({ visitor_id: 'v', user_id: 'bob' })
    await claim('v', 'ada', 'two')
    await claim('v', 'bob', 'three')
    await claim('v', 'ada', 'four')
    expect(await eventsOf(ada.contact_id)).toEqual(['one', 'four'])
    expect(await eventsOf(bob.contact_id)).toEqual(['two', 'three'])
  })

  test("does not match another tenant's contact", async () => {
    const other = await createTestTenant(service)
    const theirs = await other.contact('theirs@example.com')
    await claim('v', theirs)
    const { body } = await tenant.call('GET', '/v1/events')
    expect(body.events).toMatchObject([{ internal_contact_id: null }])
  })
})

describe('first touch', () => {
  const landing = (path: string, more: object = {}) => ({
    event: 'page_view',
    url: `https://${tenant.site}${path}`,
    ...more,
  })

  test('referrer, landing page and campaign of the first visit are stored once', async () => {
    const first = '/?utm_source=news&utm_medium=email&utm_campaign=autumn&utm_term=t&utm_content=c'
    await tenant.track({ visitor_id: 'v', events: [landing(first, { referrer: 'https://google.com/' })] })
    await tenant.track({ visitor_id: 'v', events: [landing('/?utm_source=ads', { referrer: 'https://bing.com/' })] })
    const { contact_id } = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    const touch = {
      first_referrer: 'https://google.com/',
      first_landing_page: `https://${tenant.site}${first}`,
      first_utm_source: 'news',
      first_utm_medium: 'email',
      first_utm_campaign: 'autumn',
      first_utm_term: 't',
      first_utm_content: 'c',
    }
    expect((await contactOf(contact_id)).contact.properties).toMatchObject(touch)
    await tenant.track({ visitor_id: 'w', events: [landing('/?utm_source=other')] })
    await identify({ visitor_id: 'w', email: 'ada@example.com', properties: { first_utm_source: 'forged' } })
    const { contact } = await contactOf(contact_id)
    expect(contact.properties).toMatchObject(touch)
    expect(contact.properties_provenance.first_utm_source.source).toBe('tracker')
  })

  test('a contact without events gets them with its first event', async () => {
    const id = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
    await visit('v', 'no_page')
    await tenant.track({ visitor_id: 'v', events: [landing('/pricing?utm_source=x')] })
    const { contact } = await contactOf(id)
    expect(contact.properties).not.toHaveProperty('first_utm_source')
    expect(contact.properties.first_landing_page).toBe(`https://${tenant.site}/no_page`)
  })

  test('first_seen_at is the earliest of creation and first event', async () => {
    const at = '2020-05-05T05:05:05.000Z'
    await tenant.track({ visitor_id: 'v', events: [{ event: 'x', timestamp: at }] })
    const { contact_id } = await identify({ visitor_id: 'v', email: 'ada@example.com' })
    expect((await contactOf(contact_id)).contact.first_seen_at).toBe(at)
    const earlier = '2019-05-05T05:05:05.000Z'
    await tenant.track({ visitor_id: 'v', events: [{ event: 'y', timestamp: earlier }] })
    expect((await contactOf(contact_id)).contact.first_seen_at).toBe(earlier)
  })
})
