import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { createSource } from '../../../test/sources.ts'

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

/** Sends a text of JSON as an SDK on a server does. */
const send = (path: string, text: string) =>
  call(service, 'POST', path, {
    headers: { authorization: `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}` },
    body: text,
  })
const events = async () => (await tenant.call('GET', '/v1/events?sort_dir=asc&limit=100')).body.events
const contacts = async () => (await tenant.call('GET', '/v1/contacts?limit=100')).body.contacts
const contactOf = async (user_id: string) => {
  const { body } = await tenant.call('POST', '/v1/identify', { user_id })
  expect([user_id, body.created]).toEqual([user_id, false])
  return (await tenant.call('GET', `/v1/contacts/${body.contact_id}`)).body.contact
}
const SUCCESS = { status: 'success', success: true }
const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

describe('numeric ids beyond 2^53', () => {
  test('that differ in the last digits are two people', async () => {
    // The file from the field.
    const calls = [
      '{"userId":1234567890123456781,"traits":{"email":"snow1@example.com"}}',
      '{"userId":1234567890123456789,"traits":{"plan":"second person"}}',
    ]
    for (const text of calls) expect((await send('/v1/identify', text)).body).toEqual(SUCCESS)
    expect(await contacts()).toHaveLength(2)
    const [first, second] = [await contactOf('1234567890123456781'), await contactOf('1234567890123456789')]
    expect(first.properties).toMatchObject({ email: 'snow1@example.com' })
    expect(first.properties).not.toHaveProperty('plan')
    expect(second.properties).toMatchObject({ plan: 'second person' })
  })

  test('are the digits that were sent, as every id of a call and in a batch', async () => {
    const { body } = await send(
      '/v1/batch',
      `{"context":{"app":{"build":1}},"batch":[
        {"type":"track","anonymousId":1234567890123456781,"event":"a","messageId":9234567890123456781},
        {"type":"track","anonymousId":1234567890123456782,"event":"b","messageId":9234567890123456782},
        {"type":"identify","userId":1234567890123456783,"traits":{"email":"ada@example.com"}},
        {"type":"alias","previousId":1234567890123456781,"userId":1234567890123456783},
        {"type":"group","userId":1234567890123456783,"groupId":1234567890123456784},
        {"type":"group","userId":"other","groupId":1234567890123456785}]}`,
    )
    expect(body).toEqual(SUCCESS)
    const contact = await contactOf('1234567890123456783')
    const recorded = await events()
    expect(
      recorded
        .map((each: Record<string, unknown>) => [each.event, each.visitor_id, each.internal_contact_id])
        .toSorted(),
    ).toEqual([
      ['a', '1234567890123456781', contact.contact_id],
      ['b', '1234567890123456782', null],
    ])
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies.map((company: { external_id: string }) => company.external_id).toSorted()).toEqual([
      '1234567890123456784',
      '1234567890123456785',
    ])
  })

  test.each([
    ['1.234567890123456781e18', '1.234567890123456789e18'],
    ['12345678901234567.1', '12345678901234567.9'],
    ['0.1234567890123456781', '0.1234567890123456789'],
    ['1e-400', '2e-400'],
  ])('or have an exponent or a fraction, are the digits that were sent, as every id: %s', async (one, other) => {
    for (const id of [one, other]) {
      const { body } = await send(
        '/v1/batch',
        `{"batch":[
          {"type":"track","anonymousId":${id},"event":"seen","messageId":${id}},
          {"type":"identify","userId":${id},"traits":{"of":"${id}"}},
          {"type":"group","userId":${id},"groupId":${id}}]}`,
      )
      expect(body).toEqual(SUCCESS)
    }
    expect(await contacts()).toHaveLength(2)
    for (const id of [one, other]) expect((await contactOf(id)).properties).toMatchObject({ of: id })
    const seen = (await events()).map((each: { visitor_id: string }) => each.visitor_id)
    expect(seen.toSorted()).toEqual([one, other])
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies.map((company: { external_id: string }) => company.external_id).toSorted()).toEqual([one, other])
  })

  test('that are too long are an error of the call, and a fraction is its shortest form', async () => {
    const long = await send('/v1/track', `{"userId":${'1'.repeat(400)},"event":"e"}`)
    expect([long.status, long.body.error.message]).toEqual([400, expect.stringMatching(/userId/)])
    expect((await send('/v1/track', '{"userId":1.50,"event":"e"}')).body).toEqual(SUCCESS)
    await contactOf('1.5')
    const huge = await send('/v1/track', '{"userId":1e400,"event":"e"}')
    expect([huge.status, huge.body.error.message]).toEqual([400, expect.stringMatching(/userId: is required/)])
  })
})

test('numbers in properties and traits keep their digits as text, with a warning', async () => {
  const track = await send(
    '/v1/track',
    '{"userId":"u","event":"e","properties":{"order":1234567890123456781,"huge":1e400}}',
  )
  expect(track.body.warnings).toEqual([
    'properties.order was kept as text: as a number, it would lose digits.',
    'properties.huge was left out: it is a number that is too large to be stored.',
  ])
  const batch = await send(
    '/v1/batch',
    '{"batch":[{"type":"track","userId":"u","event":"f"},{"type":"identify","userId":"u","traits":{"account":1234567890123456782,"a":{"b":-1e400}}}]}',
  )
  expect(batch.body.warnings).toEqual([
    'batch[1].traits.account was kept as text: as a number, it would lose digits.',
    'batch[1].traits.a.b was left out: it is a number that is too large to be stored.',
  ])
  expect((await events()).map(({ data }: { data: object }) => data)).toEqual([{ order: '1234567890123456781' }, {}])
  expect((await contactOf('u')).properties).toMatchObject({ account: '1234567890123456782' })
})

describe('a value that cannot be stored', () => {
  const BAD = [
    ['{"type":"track","userId":"u","event":"bad","properties":{"x":"\\u0000"}}', 'properties.x'],
    ['{"type":"track","userId":"u","event":"bad","properties":{"__proto__":1}}', 'properties.__proto__'],
    [`{"type":"track","userId":"u","event":"bad","properties":{"x":${DEEP}}}`, 'properties.x[0]'],
    ['{"type":"track","userId":"u\\ud800","event":"bad"}', 'userId'],
    ['{"type":"page","userId":"u","name":"bad\\u0000"}', 'name'],
    ['{"type":"track","userId":"u","event":"bad","messageId":"\\u0000"}', 'messageId'],
    ['{"type":"track","userId":"u","event":"bad","x\\u0000":1}', 'the body: a key'],
    ['"\\u0000"', 'the body: contains a NUL'],
    [DEEP, 'the body: must be an object'],
  ] as const

  test.each(['/v1/batch', '/v1/b', '/v1/import', '/beacon/v1/batch'])('fails its call of %s alone', async (path) => {
    const good = '{"type":"track","userId":"u","event":"good"}'
    const { status, body } = await send(path, `{"batch":[${good},${BAD.map(([call]) => `${call},${good}`).join(',')}]}`)
    expect(status).toBe(200)
    if (path !== '/beacon/v1/batch') {
      expect(body.warnings).toEqual(BAD.map(([, named], n) => expect.stringContaining(`batch[${2 * n + 1}]: ${named}`)))
    }
    const names = (await events()).map(({ event }: { event: string }) => event)
    expect(names).toEqual(Array(BAD.length + 1).fill('good'))
  })

  test.each(BAD.slice(0, 7))('in a single call is 400: %#', async (text, named) => {
    const { status, body } = await send('/v1/track', text)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect(body.error.message).toContain(named)
    expect(await events()).toEqual([])
  })

  test('in a trait is left out, and the identification counts', async () => {
    const traits = `"traits":{"email":"ada@example.com","bio":"a\\u0000b","plan":"pro","deep":{"x":${DEEP}},"__proto__":{"a":1}}`
    const single = await send('/v1/identify', `{"userId":"u",${traits}}`)
    expect([single.status, single.body.success]).toEqual([200, true])
    expect(single.body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
      'traits.bio',
      'traits.deep',
      'traits.__proto__',
    ])
    const batch = await send(
      '/v1/batch',
      `{"batch":[{"type":"identify","userId":"w",${traits.replace('ada', 'eve')}}]}`,
    )
    expect(batch.body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
      'batch[0].traits.bio',
      'batch[0].traits.deep',
      'batch[0].traits.__proto__',
    ])
    for (const id of ['u', 'w']) {
      const { properties } = await contactOf(id)
      expect(properties).toMatchObject({ plan: 'pro' })
      expect(Object.keys(properties)).not.toContain('bio')
    }
  })

  test('in the traits of a group is left out, and the company counts', async () => {
    const { body } = await send('/v1/group', '{"userId":"u","groupId":"g","traits":{"name":"AE","motto":"\\ud800"}}')
    expect(body.warnings).toEqual([expect.stringMatching(/^traits\.motto was left out/)])
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([{ external_id: 'g', name: 'AE' }])
  })

  test('in the context is left out, of a call and of a whole batch', async () => {
    const context =
      '"context":{"locale":"de","page":{"title":"cut \\ud83d","url":"https://a.example/"},"traits":{"plan":"pro","bio":"\\u0000"}}'
    const single = await send('/v1/track', `{"userId":"u","event":"e",${context}}`)
    expect(single.body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
      'context.page.title',
      'context.traits.bio',
    ])
    const batch = await send(
      '/v1/batch',
      `{"batch":[{"type":"track","userId":"u","event":"f"}],${context},"x":"\\u0000"}`,
    )
    expect(batch.body.warnings.map((text: string) => text.split(' ')[0])).toEqual([
      'context.page.title',
      'context.traits.bio',
      'x',
    ])
    expect(await events()).toMatchObject([
      { event: 'e', url: 'https://a.example/' },
      { event: 'f', url: 'https://a.example/' },
    ])
    expect((await contactOf('u')).properties).toMatchObject({ plan: 'pro' })
  })

  test('in a field that is not read is left out, of a call and of a batch', async () => {
    const unread = '"integrations":{"All":true,"x":"\\u0000"},"channel":"\\ud800","_metadata":{"__proto__":1}'
    const expected = ['integrations.x', 'channel', '_metadata.__proto__']
    const single = await send('/v1/track', `{"userId":"u","event":"e",${unread}}`)
    expect([single.status, single.body.warnings.map((text: string) => text.split(' ')[0])]).toEqual([200, expected])
    const batch = await send('/v1/batch', `{"batch":[{"type":"track","userId":"u","event":"f",${unread}}]}`)
    expect(batch.body.warnings.map((text: string) => text.split(' ')[0])).toEqual(
      expected.map((name) => `batch[0].${name}`),
    )
    expect((await events()).map(({ event }: { event: string }) => event)).toEqual(['e', 'f'])
  })

  test('in a call with a context shared by its batch still fails it', async () => {
    const { body } = await send(
      '/v1/batch',
      '{"context":{"locale":"de"},"batch":[{"type":"track","userId":"u","event":"bad","properties":{"x":"\\u0000"}},{"type":"track","userId":"u","event":"good"}]}',
    )
    expect(body.warnings).toEqual([expect.stringMatching(/^batch\[0\]: properties\.x: contains a NUL/)])
    expect(await events()).toMatchObject([{ event: 'good' }])
  })

  test('in the URL of a pixel rejects the call, but in its context it is left out', async () => {
    const key = await createSource(tenant, 'browser')
    const load = (query: string) =>
      call(service, 'GET', `/pixel/v1/track?writeKey=${key}&anonymousId=v&${query}`, {
        headers: { referer: `https://${tenant.site}/`, 'user-agent': CHROME },
      })
    expect((await load('event=bad&properties.x=%00')).status).toBe(400)
    expect((await load('event=bad%00')).status).toBe(400)
    expect((await load('event=good&context.locale=%00&properties.n=1234567890123456781')).status).toBe(200)
    expect(await events()).toMatchObject([{ event: 'good', data: { n: '1234567890123456781' } }])
  })

  test('and its neighbors are seen in the debugger, even if the body is too deep to be shown', async () => {
    await send('/v1/track', `{"userId":"u","event":"bad","properties":{"x":${DEEP}}}`)
    await expect
      .poll(async () => (await tenant.call('GET', '/v1/tracker/problems')).body.problems)
      .toMatchObject([{ path: '/v1/track', status: 400, code: 'validation_error' }])
  })
})

test('RudderStack’s batch of 2,501 calls that cannot be stored is 400 as a whole', async () => {
  const { status, body } = await send('/v1/batch', `{"batch":[${Array(2_501).fill('{"a":"\\u0000"}').join(',')}]}`)
  expect([status, body.error.details[0].path]).toEqual([400, 'batch'])
})
