import { beforeAll, beforeEach, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

/** Sends a text of JSON, because JSON.stringify cannot write every number. */
const send = (method: string, path: string, body: string) =>
  call(service, method, path, { headers: { authorization: `Bearer ${tenant.key}` }, body })

const KEPT = 'properties.account was kept as text: as a number, it would lose digits.'
const LEFT_OUT = 'properties.huge was left out: it is a number that is too large to be stored.'
const PROPERTIES =
  '"properties":{"account":1234567890123456781,"huge":-1E400,"price":0.1,"list":[1e400,9007199254740993]}'
const STORED = { account: '1234567890123456781', price: 0.1, list: ['9007199254740993'] }

test.each([
  ['POST', '/v1/contacts', '"email":"ada@example.com",', 'contact'],
  ['POST', '/v1/companies', '"domain":"ae.example",', 'company'],
])('%s %s keeps long numbers as text and leaves out those that are too large', async (method, path, more, name) => {
  const created = await send(method, path, `{${more}${PROPERTIES}}`)
  expect(created.status).toBe(201)
  expect(created.body.warnings.slice(0, 2)).toEqual([KEPT, LEFT_OUT])
  const record = created.body[name]
  expect(record.properties).toMatchObject(STORED)
  expect(record.properties).not.toHaveProperty('huge')
  const changed = await send('PUT', `${path}/${record._id}`, '{"properties":{"account":1234567890123456782}}')
  expect([changed.status, changed.body.warnings]).toEqual([200, [KEPT]])
  expect(changed.body[name].properties).toMatchObject({ ...STORED, account: '1234567890123456782' })
})

test('POST /v1/identify does, too, but a user_id is a text', async () => {
  const { status, body } = await send('POST', '/v1/identify', `{"user_id":"u",${PROPERTIES}}`)
  expect([status, body.warnings.slice(0, 2)]).toEqual([200, [KEPT, LEFT_OUT]])
  const { contact } = (await tenant.call('GET', `/v1/contacts/${body.contact_id}`)).body
  expect(contact.properties).toMatchObject(STORED)
  for (const id of ['5', '1234567890123456781', '1e400']) {
    const refused = await send('POST', '/v1/identify', `{"user_id":${id}}`)
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [{ path: 'user_id', message: 'must be a string of 1 to 200 characters' }],
    ])
  }
})

test('neighboring numbers are found one by one, by a list, a segment and a bulk change', async () => {
  for (const digit of [1, 2]) {
    await send(
      'POST',
      '/v1/contacts',
      `{"email":"p${digit}@example.com","properties":{"account":123456789012345678${digit}}}`,
    )
  }
  const filter = '{"match":"all","conditions":[{"property":"account","operator":"equals","value":1234567890123456781}]}'
  const listed = await tenant.call('GET', `/v1/contacts?filter=${encodeURIComponent(filter)}`)
  expect(listed.body.contacts.map((each: { properties: { email: string } }) => each.properties.email)).toEqual([
    'p1@example.com',
  ])
  const previewed = await send('POST', '/v1/segments/preview', `{"filter":${filter}}`)
  expect([previewed.status, previewed.body.count]).toEqual([200, 1])
  const changed = await send(
    'POST',
    '/v1/contacts/bulk',
    `{"matching":{"filter":${filter}},"set":{"properties":{"vip":true}}}`,
  )
  expect(changed.body.done).toBe(1)
})

test('a number where a setting must be a number is checked as before', async () => {
  for (const value of ['1e400', '12345678901234567890', '-1e400']) {
    const { status, body } = await send('POST', '/v1/batch/activity', `{"contact_ids":["x"],"events_limit":${value}}`)
    expect([status, body.error.details]).toEqual([
      400,
      [{ path: 'events_limit', message: 'must be a whole number from 1 to 20' }],
    ])
  }
})

test('400 digits are a text, and more than a text may have are refused', async () => {
  const digits = '7'.repeat(400)
  const kept = await send('POST', '/v1/contacts', `{"email":"d@example.com","properties":{"account":${digits}}}`)
  expect([kept.status, kept.body.contact.properties.account]).toEqual([201, digits])
  const refused = await send(
    'POST',
    '/v1/contacts',
    `{"email":"e@example.com","properties":{"account":${'7'.repeat(70_000)}}}`,
  )
  expect([refused.status, refused.body.error.details[0].path]).toEqual([400, 'properties.account'])
})

test('an id that cannot be stored, among many, names no record', async () => {
  const id = await tenant.contact('ada@example.com')
  const changed = await tenant.call('POST', '/v1/contacts/bulk', {
    contact_ids: [`${id}\0`, id, '\ud800'],
    set: { properties: { plan: 'pro' } },
  })
  expect([changed.status, changed.body.done]).toEqual([200, 1])
  expect(changed.body.failed.map(({ error }: { error: { code: string } }) => error.code)).toEqual([
    'not_found',
    'not_found',
  ])
  const read = await tenant.call('POST', '/v1/batch/details', { entity_type: 'contacts', ids: [`${id}\0`, id] })
  expect([read.status, read.body.contacts.length]).toEqual([200, 1])
})
