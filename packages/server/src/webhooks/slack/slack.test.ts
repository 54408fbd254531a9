import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import {
  arrived,
  attempted,
  deliveriesOf,
  startWebhookBench,
  until,
  type WebhookBench,
} from '../../../test/webhooks.ts'
import { createSecretBox } from '../../platform/crypto/secret-box.ts'
import { eventCatalogue } from '../catalogue.ts'
import { asText } from './value.ts'

let bench: WebhookBench
let tenant: TestTenant
beforeAll(async () => {
  bench = await startWebhookBench()
  tenant = await createTestTenant(bench.service)
})
afterAll(() => bench.close())

const SECRET = 'T000/B000/a-secret-of-the-channel'

/** Subscribes a URL of its own to an event with messages. */
async function subscribeSlack(event: string, template?: string, of = tenant) {
  const path = `/services/${SECRET}/${crypto.randomUUID()}`
  const settings = { event, url: bench.receiver.url(path), format: 'slack' as const, ...(template ? { template } : {}) }
  return { path, ...(await bench.subscribe(of, settings)) }
}

async function messagesAt(path: string, count = 1): Promise<string[]> {
  const requests = await arrived(bench.receiver, path, count)
  return requests.map(({ body }) => {
    const sent = JSON.parse(String(body))
    expect(Object.keys(sent)).toEqual(['text'])
    return sent.text
  })
}

test('a message has the values of the event, of its contact and of the company, and nothing for those that are missing', async () => {
  const template =
    '{{contact.name}} at {{contact.email}} of {{ company.name }}/{{contact.properties.plan}}/{{contact.properties.tags}}: {{event.name}} {{event.data.plan}} {{event.data.seats.count}} {{event.data.seats.free}}|{{event.path}}'
  const { path } = await subscribeSlack('upgraded', template)
  const { company } = (await tenant.call('POST', '/v1/companies', { domain: 'acme.example', name: 'Acme & Sons' })).body
  const properties = { firstname: 'Zoë', lastname: 'Müller', plan: 'free' }
  const { company_id } = company
  await tenant.contact('zoe@acme.example', properties, { visitor_id: 'zoe', company_id })
  await tenant.track({
    visitor_id: 'zoe',
    events: [
      { event: 'upgraded', url: `https://${tenant.site}/plans`, data: { plan: 'Pro <1>', seats: { count: 3 } } },
    ],
  })
  const [text] = await messagesAt(path)
  expect(text).toBe('Zoë Müller at zoe@acme.example of Acme &amp; Sons/free/: upgraded Pro &lt;1&gt; 3 |/plans')
})

test('an event of an anonymous visitor and one whose contact is deleted have messages too', async () => {
  const [anonymous, deleted] = [await subscribeSlack('viewed_anonymously'), await subscribeSlack('contact_deleted')]
  await tenant.track({ visitor_id: 'nobody', events: [{ event: 'viewed_anonymously' }] })
  expect(await messagesAt(anonymous.path)).toEqual(['viewed_anonymously: An anonymous visitor, '])
  const contactId = await tenant.contact('leaves@example.com')
  await tenant.call('DELETE', `/v1/contacts/${contactId}`)
  expect(await messagesAt(deleted.path)).toEqual([`The contact ${contactId} was deleted`])
})

test('a contact that enters and leaves a segment is announced', async () => {
  const own = await createTestTenant(bench.service)
  const [entered, exited] = [
    await subscribeSlack('segment_entered', undefined, own),
    await subscribeSlack('segment_exited', '{{contact.firstname}} left {{event.data.segment_name}}', own),
  ]
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Ulm' }] }
  await own.call('POST', '/v1/segments', { name: 'Ulm <only>', filter })
  const contactId = await own.contact('ada@example.com', { firstname: 'Ada', city: 'Berlin' })
  await own.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Ulm' } })
  expect(await messagesAt(entered.path)).toEqual(['Ada entered the segment Ulm &lt;only&gt;: ada@example.com'])
  await own.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Berlin' } })
  expect(await messagesAt(exited.path)).toEqual(['Ada left Ulm &lt;only&gt;'])
})

test('values are never mentions, links or lines of their own', async () => {
  const { path } = await subscribeSlack('greeted', '{{contact.firstname}}')
  const hostile = '<!channel> <@U1|x> @here\n> *now*: https://evil.example [x](y) \u202egnp.exe & ada@everyone'
  await tenant.contact('hostile@example.com', { firstname: hostile }, { visitor_id: 'hostile' })
  await tenant.track({ visitor_id: 'hostile', events: [{ event: 'greeted' }] })
  const [text = ''] = await messagesAt(path)
  expect(text).not.toMatch(/[<>\n\u202e]|@here|@everyone|@U1|:\/\/|evil\.example|\]\(|&(?!amp;|lt;|gt;)/)
  expect(text.replaceAll('\u200b', '')).toBe(
    '&lt;!channel&gt; &lt;@U1|x&gt; @here &gt; *now*: https://evil.example [x](y) gnp.exe &amp; ada@everyone',
  )
})

test.each([
  ['an address stays as it is', 'ada.lovelace@mail.example.com', 'ada.lovelace@mail.example.com'],
  ['numbers and ends of sentences too', 'Version 1.5. Done', 'Version 1.5. Done'],
  ['a bare domain is not a link', 'see www.evil.example', 'see www.evil\u200b.example'],
  ['a mention at the start of a value', '@channel', '@\u200bchannel'],
  ['an entity is not one', '&lt;!here&gt;', '&amp;lt;!here&amp;gt;'],
  ['a list', ['a', 1, { b: 2 }], 'a, 1, {"b":2}'],
  ['an object', { __proto__: null, a: '<' }, '{"a":"&lt;"}'],
  ['a lone surrogate', 'x\ud83d', 'x\ufffd'],
  ['a NUL', 'a\0b', 'ab'],
  ['a long value', '😀'.repeat(300), `${'😀'.repeat(200)}…`],
])('%s', (_, value, text) => {
  expect(asText(value)).toBe(text)
})

test("an author's link keeps values within its URL", async () => {
  const template = '<https://crm.example.com/?q={{contact.email}}|Open {{contact.firstname}}>'
  const { path } = await subscribeSlack('linked', template)
  const firstname = 'Bob|x> <!here>'
  await tenant.contact("bob+'a'@example.com", { firstname }, { visitor_id: 'bob' })
  await tenant.track({ visitor_id: 'bob', events: [{ event: 'linked' }] })
  const [text] = await messagesAt(path)
  expect(text).toBe(
    '<https://crm.example.com/?q=bob%2b%27a%27%40example.com|Open Bob|x&gt; &lt;!here&gt;>'.replace('%2b', '%2B'),
  )
})

test('a < that begins no link is text, before and after values', async () => {
  const { path } = await subscribeSlack(
    'hearts',
    'We <3 {{event.data.who}}: {{event.data.n}} <= 9 <- {{event.data.who}}',
  )
  await tenant.track({ visitor_id: 'v', events: [{ event: 'hearts', data: { who: '<b>', n: 7 } }] })
  expect(await messagesAt(path)).toEqual(['We <3 &lt;b&gt;: 7 <= 9 <- &lt;b&gt;'])
  const long = await subscribeSlack('long hearts', `<3 ${'{{event.data.a}}'.repeat(50)}`)
  await tenant.track({ visitor_id: 'v', events: [{ event: 'long hearts', data: { a: 'x'.repeat(200) } }] })
  expect((await messagesAt(long.path))[0]).toHaveLength(2_000)
})

test('a long message is cut, but never within a link or an escaped character', async () => {
  const { path } = await subscribeSlack('long', `${'{{event.data.a}}'.repeat(50)}`)
  await tenant.track({ visitor_id: 'v', events: [{ event: 'long', data: { a: '&'.repeat(200) } }] })
  const [text = ''] = await messagesAt(path)
  expect(text).toMatch(/^(&amp;)+…$/)
  expect(text.length).toBeGreaterThan(1_990)
  expect(text.length).toBeLessThanOrEqual(2_000)
})

test.each([
  ['an unknown placeholder', '{{contact.password}}'],
  ['an inherited name', '{{constructor.name}}'],
  ['no field', '{{event}}'],
  ['properties without a name', '{{contact.properties}}'],
  ['an empty name', '{{event.data..x}}'],
  ['a brace that is not closed', 'Hello {{contact.name}'],
  ['a value as the whole of a link', '<{{event.url}}|Open>'],
  ['a value as a mention', '<!{{event.data.group}}>'],
  ['nothing', '   '],
  ['too much', 'x'.repeat(1_001)],
])('a template with %s is refused', async (_, template) => {
  const url = bench.receiver.url()
  const made = await tenant.call('POST', '/v1/webhooks', { event: 'x', url, format: 'slack', template })
  expect([made.status, made.body.error.code, made.body.error.details[0].path]).toEqual([
    400,
    'validation_error',
    'template',
  ])
  const preview = await tenant.call('GET', `/v1/webhooks/preview?event=x&template=${encodeURIComponent(template)}`)
  expect([preview.status, preview.body.error.code]).toEqual([400, 'validation_error'])
})

test('a template needs the format slack, which an existing subscription cannot change', async () => {
  const url = bench.receiver.url()
  const template = '{{event.name}}'
  const refused = await tenant.call('POST', '/v1/webhooks', { event: 'x', url, template })
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'template'])
  const { body } = await tenant.call('POST', '/v1/webhooks', { event: 'x', url })
  expect(body.webhook).toMatchObject({ format: 'json', template: null, url })
  const path = `/v1/webhooks/${body.subscription_id}`
  expect((await tenant.call('PATCH', path, { template })).status).toBe(400)
  expect((await tenant.call('PATCH', path, { format: 'slack' })).status).toBe(400)
})

test('a changed template counts from the next message; null brings the default text back', async () => {
  const { subscriptionId, path } = await subscribeSlack('changing', 'first')
  const view = () => tenant.track({ visitor_id: 'v', events: [{ event: 'changing' }] })
  const change = async (template: string | null) => {
    const { body } = await tenant.call('PATCH', `/v1/webhooks/${subscriptionId}`, { template })
    expect(body).toMatchObject({ changed: ['template'], webhook: { template } })
  }
  await view()
  await messagesAt(path)
  await change('second')
  await until(async () => {
    await view()
    expect((await messagesAt(path)).at(-1)).toBe('second')
  })
  await change(null)
  await until(async () => {
    await view()
    expect((await messagesAt(path)).at(-1)).toBe('changing: An anonymous visitor, ')
  })
})

test('the URL is stored encrypted; its beginning, sent back, changes nothing, and another one counts', async () => {
  const url = bench.receiver.url(`/services/${SECRET}/${crypto.randomUUID()}`)
  const settings = { event: 'moved', url, format: 'slack', template: '{{event.name}} by {{contact.name}}' }
  const made = await tenant.call('POST', '/v1/webhooks', settings)
  expect([made.status, made.body.webhook.format]).toEqual([201, 'slack'])
  const subscriptionId = made.body.subscription_id
  const stored = () =>
    tenant.handle.db
      .selectFrom('webhook_subscriptions')
      .selectAll()
      .where('subscription_id', '=', subscriptionId)
      .executeTakeFirstOrThrow()
  expect(JSON.stringify(await stored())).not.toContain('a-secret-of-the-channel')
  const path = `/v1/webhooks/${subscriptionId}`
  const { url: shown } = (await tenant.call('GET', path)).body.webhook
  expect(shown).toBe(`${new URL(bench.receiver.url()).origin}/…`)
  for (const url of [shown, new URL(shown).href])
    expect((await tenant.call('PATCH', path, { url })).body.changed).toEqual([])
  const moved = `/services/T000/B000/another/${crypto.randomUUID()}`
  const change = { url: bench.receiver.url(moved) }
  expect((await tenant.call('PATCH', path, change)).body.changed).toEqual(['url'])
  expect((await tenant.call('PATCH', path, change)).body.changed).toEqual([])
  await until(async () => {
    await tenant.track({ visitor_id: 'v', events: [{ event: 'moved' }] })
    expect((await messagesAt(moved))[0]).toBe('moved by An anonymous visitor')
  })
})

test('a webhook whose URL was encrypted with a lost key can be changed, and gets a new URL', async () => {
  const { subscriptionId } = await subscribeSlack('restored')
  const otherKey = createSecretBox([randomBytes(32)])
  await tenant.handle.db
    .updateTable('webhook_subscriptions')
    .set({ url_sealed: otherKey.seal('https://hooks.example/old', `${tenant.id}/${subscriptionId}/url`) })
    .where('subscription_id', '=', subscriptionId)
    .execute()
  const change = async (changes: object) => {
    const { status, body } = await tenant.call('PATCH', `/v1/webhooks/${subscriptionId}`, changes)
    return [status, body.changed]
  }
  expect(await change({ template: 'New' })).toEqual([200, ['template']])
  const path = `/services/T000/B000/${crypto.randomUUID()}`
  expect(await change({ url: bench.receiver.url(path) })).toEqual([200, ['url']])
  await until(async () => {
    await tenant.track({ visitor_id: 'v', events: [{ event: 'restored' }] })
    expect((await messagesAt(path))[0]).toBe('New')
  })
})

test('the whole URL is in no response and in no audit entry', async () => {
  const { subscriptionId } = await subscribeSlack('secretive')
  const path = `/v1/webhooks/${subscriptionId}`
  await tenant.call('PATCH', path, { template: 'x' })
  await tenant.call('POST', `${path}/test`)
  await attempted(tenant, subscriptionId, 1)
  const paths = [path, '/v1/webhooks?limit=200', `${path}/deliveries`, `${path}/health`, '/v1/audit-log?limit=100']
  for (const each of paths) {
    const { status, body } = await tenant.call('GET', each)
    expect([each, status]).toEqual([each, 200])
    expect(JSON.stringify(body)).not.toContain(SECRET.slice(0, 12))
  }
  const { body } = await tenant.call('GET', path)
  expect(body.webhook.url).toBe(`https://hooks.example:${bench.receiver.port}/…`)
  expect(JSON.stringify(bench.service.logged)).not.toContain(SECRET.slice(0, 12))
})

test('test messages, retries and re-sent ones have the same bytes', async () => {
  const { subscriptionId, path } = await subscribeSlack('form_submission')
  bench.receiver.respond = (response) => response.writeHead(500).end('no_service')
  await tenant.call('POST', `/v1/webhooks/${subscriptionId}/test`)
  const delivery = await attempted(tenant, subscriptionId, 1)
  expect(delivery).toMatchObject({ is_test: true, attempts: [{ status_code: 500, body: 'no_service' }] })
  bench.receiver.respond = (response) => response.end('ok')
  bench.pass(61_000)
  await attempted(tenant, subscriptionId, 2)
  await tenant.call('POST', `/v1/webhooks/${subscriptionId}/deliveries/${delivery.delivery_id}/resend`)
  const requests = await arrived(bench.receiver, path, 3)
  const message = '{"text":"Ada Lovelace submitted the form contact: ada@example.com"}'
  expect(requests.map(({ body }) => String(body))).toEqual([message, message, message])
})

test('erasing a contact deletes the messages about it, although they name only its first name', async () => {
  const { subscriptionId, path } = await subscribeSlack('erased_event', '{{contact.firstname}}')
  const contactId = await tenant.contact('forget@example.com', { firstname: 'Forgotten' }, { visitor_id: 'forget' })
  await tenant.track({ visitor_id: 'forget', events: [{ event: 'erased_event' }] })
  await tenant.track({ visitor_id: 'stays', events: [{ event: 'erased_event' }] })
  await messagesAt(path, 2)
  const { body } = await tenant.call('POST', '/v1/erasures', { contact_id: contactId })
  await until(async () => {
    const { body: read } = await tenant.call('GET', `/v1/erasures/${body.receipt.erasure_id}`)
    expect(read.receipt.status).not.toBe('running')
  })
  const left = await deliveriesOf(tenant.handle, subscriptionId)
  expect(left.map(({ payload }) => payload)).toEqual(['{"text":""}'])
})

test('every known event has a default text without gaps', async () => {
  for (const { event } of eventCatalogue(tenant.id, new Date())) {
    const { status, body } = await tenant.call('GET', `/v1/webhooks/preview?event=${event}`)
    expect([event, status]).toEqual([event, 200])
    expect(body.text).not.toMatch(/\{\{|undefined|null|: ?$|“”|\(\)|, \(|: ,/)
    if (!['page_view', 'contact_deleted', 'alert_triggered'].includes(event))
      expect(body.text).toContain('Ada Lovelace')
  }
  const { body } = await tenant.call('GET', '/v1/webhooks/preview?event=of_my_own')
  expect(body).toMatchObject({ text: 'of_my_own: Ada Lovelace, ada@example.com' })
})
