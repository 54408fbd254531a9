import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/** External ids that only a page has claimed (decision 3.9). */
let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const visit = (visitor_id: string, event: string, more: object = {}) =>
  tenant.track({ visitor_id, events: [{ event, url: `https://${tenant.site}/${event}` }], ...more })

/** Identifies a visitor from its page. */
async function claim(visitor_id: string, external_user_id: string | null, traits: object = {}) {
  const identify = { ...(external_user_id === null ? {} : { external_user_id }), traits }
  const response = await tenant.track({ visitor_id, events: [], identify })
  expect(response.status).toBe(200)
}

/** Identifies a person from a server. @returns the contact's id. */
async function identify(body: object): Promise<string> {
  const response = await tenant.call('POST', '/v1/identify', body)
  expect(response.status).toBe(200)
  return response.body.contact_id
}

const contactOf = async (id: string) => (await tenant.call('GET', `/v1/contacts/${id}`)).body.contact

async function eventsOf(contactId: string): Promise<string[]> {
  const { body } = await tenant.call('GET', `/v1/events?contact_id=${contactId}&sort_dir=asc&limit=100`)
  return body.events.map(({ event }: { event: string }) => event)
}

const idOf = async (email: string): Promise<string> =>
  (await tenant.call('GET', `/v1/contacts?search=${email}`)).body.contacts[0].contact_id

describe('an external id that a page claimed first', () => {
  test('moves, with later events that carry it, to the contact that a server identifies with it', async () => {
    await claim('mallorys', 'u1', { email: 'mallory@example.com' })
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    const mallory = await idOf('mallory@example.com')
    expect(ada).not.toBe(mallory)
    await visit('adas', 'as_ada', { external_contact_id: 'u1' })
    await visit('adas_phone', 'as_ada_too', { identify: { external_user_id: 'u1' } })
    expect(await eventsOf(ada)).toEqual(['as_ada', 'as_ada_too'])
    expect(await identify({ user_id: 'u1' })).toBe(ada)
    expect((await contactOf(mallory)).properties).toEqual({ email: 'mallory@example.com' })
  })

  test('moves to an existing contact, and to one with another id from a page', async () => {
    const ada = await tenant.contact('ada@example.com')
    await claim('m', 'not_hers', { email: 'ada@example.com' })
    await claim('m', 'u1', { email: 'mallory@example.com' })
    expect(await identify({ user_id: 'u1', email: 'ada@example.com' })).toBe(ada)
    expect(await identify({ user_id: 'u1' })).toBe(ada)
    expect(await identify({ user_id: 'not_hers' })).not.toBe(ada)
  })

  test('moves the visitors that carry it, with their later events; earlier events stay', async () => {
    await claim('m', 'u1', { email: 'mallory@example.com' })
    const mallory = await idOf('mallory@example.com')
    await visit('carrier', 'before', { external_contact_id: 'u1' })
    await visit('m', 'mallorys')
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    await visit('carrier', 'after', { external_contact_id: 'u1' })
    await visit('m', 'mallorys_too')
    expect(await eventsOf(mallory)).toEqual(['before', 'mallorys', 'mallorys_too'])
    expect(await eventsOf(ada)).toEqual(['after'])
  })

  test('is confirmed when a server sends the same one, and no longer moves', async () => {
    await claim('v', 'u1', { email: 'ada@example.com' })
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    expect(await idOf('ada@example.com')).toBe(ada)
    const bob = await identify({ user_id: 'u1', email: 'bob@example.com' })
    expect(bob).not.toBe(ada)
    expect(await identify({ user_id: 'u1' })).toBe(ada)
  })

  test('identifies the contact whose email a server sends, if the page sent none', async () => {
    await visit('v', 'early')
    await claim('v', 'u1')
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    expect(await eventsOf(ada)).toEqual(['early'])
    await identify({ user_id: 'u1', email: 'bob@example.com' })
    expect(await identify({ user_id: 'u1' })).toBe(ada)
  })

  test('does not let a page choose the existing contact that a server writes to', async () => {
    const boss = await tenant.contact('boss@example.com', { firstname: 'Grace' })
    await claim('m', 'u1', { email: 'boss@example.com' })
    const other = await identify({ user_id: 'u1', properties: { firstname: 'Ada' } })
    expect(other).not.toBe(boss)
    expect((await contactOf(boss)).properties.firstname).toBe('Grace')
    expect(await identify({ user_id: 'u1' })).toBe(other)
  })

  test('identifies the contact that pages created, until a server sends another one', async () => {
    await claim('v', 'u1', { email: 'ada@example.com' })
    const ada = await idOf('ada@example.com')
    expect(await identify({ user_id: 'u1', properties: { plan: 'pro' } })).toBe(ada)
    const real = await identify({ user_id: 'u1', email: 'real@example.com' })
    expect(real).not.toBe(ada)
    expect(await identify({ user_id: 'u1' })).toBe(real)
  })
})

describe('an external id from a server', () => {
  test('cannot be moved by a page', async () => {
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    await claim('m', 'u1', { email: 'mallory@example.com' })
    await claim('m', 'u1')
    await claim('m', 'u2', { email: 'ada@example.com' })
    expect(await identify({ user_id: 'u1' })).toBe(ada)
    expect(await identify({ user_id: 'u2' })).not.toBe(ada)
    expect((await contactOf(ada)).properties.email).toBe('ada@example.com')
  })

  test('moves when the server sends another email than the page did', async () => {
    const known = await identify({ user_id: 'u1' })
    await claim('m', 'u1', { email: 'mallory@example.com' })
    expect((await contactOf(known)).properties.email).toBe('mallory@example.com')
    const ada = await identify({ user_id: 'u1', email: 'ada@example.com' })
    expect(ada).not.toBe(known)
    expect(await identify({ user_id: 'u1' })).toBe(ada)
  })
})

describe('an email from a page on a contact with a user id from a server', () => {
  let known: string
  beforeEach(async () => {
    known = await identify({ user_id: 'u1' })
    await claim('m', 'u1', { email: 'ada@example.com', city: 'Oslo' })
    expect((await contactOf(known)).properties).toEqual({ email: 'ada@example.com', city: 'Oslo' })
  })

  test.each([
    ['alone', {}],
    ['with another user id', { user_id: 'u2' }],
  ])('moves to the contact that a server identifies with it, %s', async (_what, more) => {
    const ada = await identify({ email: 'ada@example.com', ...more })
    expect(ada).not.toBe(known)
    expect((await contactOf(ada)).properties).toEqual({ email: 'ada@example.com' })
    const contacts = tenant.handle.db.selectFrom('contacts').where('contact_id', '=', known)
    const row = await contacts.select(['properties', 'properties_provenance']).executeTakeFirstOrThrow()
    expect([row.properties, Object.keys(row.properties_provenance ?? {})]).toEqual([{ city: 'Oslo' }, ['city']])
    const { body } = await tenant.call('GET', `/v1/contacts/${known}?include=unified_profile`)
    expect(JSON.stringify(body)).not.toContain('ada@example.com')
    expect([await identify({ user_id: 'u1' }), await identify({ email: 'ada@example.com' })]).toEqual([known, ada])
    const { events } = (await tenant.call('GET', `/v1/events?contact_id=${known}&event_type=contact_updated`)).body
    expect(events[0].data).toMatchObject({ changed: ['email'], source: 'identify' })
    // The page cannot move it back.
    await claim('m', 'u1', { email: 'ada@example.com' })
    expect((await contactOf(ada)).properties.email).toBe('ada@example.com')
    expect((await contactOf(known)).properties.email).toBeUndefined()
  })

  test('moves to a contact that has another user id from the server and no email', async () => {
    const other = await identify({ user_id: 'u2' })
    expect(await identify({ user_id: 'u2', email: 'ada@example.com' })).toBe(other)
    expect((await contactOf(known)).properties.email).toBeUndefined()
  })

  test('stays if the server sends both, and is then permanent', async () => {
    expect(await identify({ user_id: 'u1', email: 'ada@example.com' })).toBe(known)
    expect(await identify({ email: 'ada@example.com' })).toBe(known)
  })

  test('moves to one contact under concurrent requests from servers', async () => {
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, n) => identify({ email: 'ada@example.com', ...(n % 2 ? { user_id: 'u2' } : {}) })),
    )
    expect(new Set(ids).size).toBe(1)
    expect(ids[0]).not.toBe(known)
  })
})

test('concurrent requests from pages and servers end with the contact that the servers identify', async () => {
  await claim('first', 'u1', { email: 'mallory@example.com' })
  await Promise.all(
    Array.from({ length: 6 }, (_, n) => [
      claim(`m${n}`, 'u1', { email: `mallory${n}@example.com` }),
      identify({ user_id: 'u1', email: 'ada@example.com' }),
    ]).flat(),
  )
  expect(await identify({ user_id: 'u1' })).toBe(await idOf('ada@example.com'))
})
