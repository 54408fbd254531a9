import { beforeAll, describe, expect, test } from 'vitest'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** One character each: one code point, two code units. */
const emoji = (count: number) => '🎉'.repeat(count)
const encoded = (count: number) => encodeURIComponent(emoji(count))

describe('a limit in characters counts code points', () => {
  test('for the name of an event, tracked and queried', async () => {
    expect((await tenant.track({ visitor_id: 'v', events: [{ event: emoji(200) }] })).status).toBe(200)
    const contactId = await tenant.contact('named@example.com', {}, { visitor_id: 'v' })
    const { status, body } = await tenant.call('GET', `/v1/events?event_type=${encoded(200)}`)
    expect([status, body.events?.length]).toEqual([200, 1])
    const having = await tenant.call('GET', `/v1/contacts?has_event_type=${encoded(200)}`)
    expect(having.body.contacts?.map((contact: { contact_id: string }) => contact.contact_id)).toEqual([contactId])
    expect((await tenant.track({ events: [{ event: emoji(201) }] })).status).toBe(400)
    expect((await tenant.call('GET', `/v1/events?event_type=${encoded(201)}`)).status).toBe(400)
  })

  test('for the event of a webhook', async () => {
    // No page sends this event, so nothing is delivered.
    const subscribe = (event: string) => tenant.call('POST', '/v1/webhooks', { event, url: 'https://1.1.1.1/' })
    expect((await subscribe(emoji(200))).status).toBe(201)
    expect((await subscribe(emoji(201))).status).toBe(400)
  })

  test('for a property: its key, its text and the filters on it', async () => {
    const id = await tenant.contact('keyed@example.com', { [emoji(128)]: emoji(1_000), city: emoji(1_000) })
    const { body } = await tenant.call('GET', `/v1/contacts?city=${encoded(1_000)}`)
    expect(body.contacts?.map((contact: { contact_id: string }) => contact.contact_id)).toEqual([id])
    expect(body.contacts[0].properties[emoji(128)]).toBe(emoji(1_000))
    const condition = { property: emoji(128), operator: 'equals', value: emoji(1_000) }
    const agent = { name: emoji(200), monitoring: { filter: { match: 'all', conditions: [condition] } } }
    expect((await tenant.call('POST', '/v1/agents', agent)).status).toBe(201)
    const long = await tenant.call('PUT', `/v1/contacts/${id}`, { properties: { [emoji(129)]: 1 } })
    expect([long.status, long.body.error.details[0].path]).toEqual([400, `properties.${emoji(128)}`])
  })

  test('for a name that an error repeats', async () => {
    const sent = { email: 'repeated@example.com', [`x${emoji(200)}`]: 1 }
    const { status, body } = await tenant.call('POST', '/v1/contacts', sent)
    expect([status, body.error.details[0].path]).toEqual([400, `x${emoji(127)}`])
  })

  test('for a note', async () => {
    const notes = `/v1/contacts/${await tenant.contact('noted@example.com')}/notes`
    const { status, body } = await tenant.call('POST', notes, { content: emoji(100_000) })
    expect([status, body.note?.content]).toEqual([201, emoji(100_000)])
    expect((await tenant.call('POST', notes, { content: emoji(100_001) })).status).toBe(400)
  })

  test('for ids that pages choose', async () => {
    const claim = { external_user_id: emoji(200), traits: { email: 'paged@example.com' } }
    const { body } = await tenant.track({ visitor_id: emoji(200), events: [{ event: 'x' }], identify: claim })
    expect(body).not.toHaveProperty('warnings')
    const found = await tenant.call('POST', '/v1/identify', { user_id: emoji(200) })
    expect(found.body.created).toBe(false)
    const submit = (form: string) =>
      call(service, 'POST', `/v1/public/form-submission/${tenant.id}/${form}`, {
        headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
        body: JSON.stringify({ contact_data: { email: 'form@example.com' } }),
      })
    expect((await submit(encoded(200))).status).toBe(200)
    expect((await submit(encoded(201))).status).toBe(400)
  })
})
