import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { importWithCommand } from '../../test/imports.ts'
import { CHROME, call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

const ADA = 'ada@example.com'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const keys = (from: number, count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${from + n}`, n]))
const create = (properties: object) => tenant.call('POST', '/v1/contacts', { email: ADA, properties })
const put = (id: string, properties: object) => tenant.call('PUT', `/v1/contacts/${id}`, { properties })
const push = async (record: object) =>
  (await tenant.call('POST', '/v1/sources/crm/contacts', { records: [record] })).body.results[0]
const identify = (body: object) => tenant.call('POST', '/v1/identify', body)
const submit = (properties: object) =>
  call(service, 'POST', `/v1/public/form-submission/${tenant.id}/contact-us`, {
    headers: { origin: `https://${tenant.site}`, 'user-agent': CHROME },
    body: JSON.stringify({ contact_data: { email: ADA, ...properties } }),
  })
const countOf = async (id: string) =>
  Object.keys((await tenant.call('GET', `/v1/contacts/${id}`)).body.contact.properties).length

const TOO_MANY = {
  status: 400,
  body: {
    error: {
      code: 'validation_error',
      details: [{ path: 'properties', message: expect.stringMatching(/more than 500 keys.*email/) }],
    },
  },
}

describe('a contact has at most 500 properties, including its email', () => {
  test('created with its email', async () => {
    expect(await create(keys(0, 500))).toMatchObject(TOO_MANY)
    expect((await tenant.call('GET', '/v1/contacts?count_only=1')).body.count).toBe(0)
    const { status, body } = await create(keys(0, 499))
    expect(status).toBe(201)
    expect(Object.keys(body.contact.properties)).toHaveLength(500)
  })

  test('the email counts once, whether sent as a field, as a property or both', async () => {
    expect((await create({ ...keys(0, 499), email: ADA })).status).toBe(201)
    tenant = await createTestTenant(service)
    expect(await create({ ...keys(0, 500), email: ADA })).toMatchObject(TOO_MANY)
    expect(await push({ external_id: '1', properties: { ...keys(0, 500), email: ADA } })).toMatchObject({
      status: 'failed',
      error: { code: 'validation_error', message: expect.stringContaining('more than 500 keys') },
    })
    expect(await push({ external_id: '1', properties: { ...keys(0, 499), email: ADA } })).toMatchObject({
      status: 'created',
    })
  })

  test('one key too many is 400, unless the same change removes another one', async () => {
    const id = (await create(keys(0, 499))).body.contact.contact_id
    expect(await put(id, keys(499, 1))).toMatchObject(TOO_MANY)
    expect((await put(id, { ...keys(499, 1), k0: null })).status).toBe(200)
    expect(await countOf(id)).toBe(500)
    const all = Object.fromEntries(Object.keys(keys(1, 499)).map((key) => [key, null]))
    const { status, body } = await put(id, { ...all, ...keys(1000, 499) })
    expect(status).toBe(200)
    expect(Object.keys(body.contact.properties).sort()).toEqual(['email', ...Object.keys(keys(1000, 499))].sort())
  })

  test('a change with more than 500 values is 400, however many it removes', async () => {
    const id = (await create({})).body.contact.contact_id
    const { status, body } = await put(id, keys(0, 501))
    expect([status, body.error.details[0].message]).toEqual([400, expect.stringContaining('501')])
  })

  test('also by POST /v1/identify, where a first email can be one key too many', async () => {
    const { status, body } = await identify({ user_id: 'ada', properties: keys(0, 500) })
    expect(status).toBe(200)
    expect(await identify({ user_id: 'ada', email: ADA })).toMatchObject(TOO_MANY)
    await put(body.contact_id, { k0: null })
    expect((await identify({ user_id: 'ada', email: ADA })).status).toBe(200)
    expect(await countOf(body.contact_id)).toBe(500)
  })

  test('a record of a source fails alone', async () => {
    const id = (await create(keys(0, 499))).body.contact.contact_id
    expect(await push({ external_id: '1', email: ADA, properties: keys(499, 1) })).toMatchObject({
      status: 'failed',
      error: { code: 'validation_error', message: expect.stringContaining('more than 500 keys') },
    })
    expect(await countOf(id)).toBe(500)
  })

  test('an imported row fails alone', async () => {
    await create(keys(0, 499))
    const content = `email,k0,more\n${ADA},1,1\nbob@example.com,1,1\n${ADA},2,\n`
    const summary = await importWithCommand(service, tenant, content)
    expect(summary).toMatchObject({ rows: 3, created: 1, updated: 1, failed: 1 })
    expect(summary.failed_rows).toMatchObject([
      { row: 1, message: expect.stringContaining('more than 500 properties') },
    ])
  })

  test('a form may fill up to 400, including the email', async () => {
    expect((await submit(keys(0, 400))).body.error?.code).toBe('validation_error')
    expect((await submit(keys(0, 399))).status).toBe(200)
  })

  test('the tracker ignores an identification with a warning, and records the events', async () => {
    const id = (await create(keys(0, 499))).body.contact.contact_id
    const traits = { email: ADA, one_more: 1 }
    const response = await tenant.track({ visitor_id: 'v', identify: { traits }, events: [{ event: 'kept' }] })
    expect([response.status, response.body.accepted]).toEqual([200, 1])
    expect(response.body.warnings).toEqual([expect.stringContaining('more than 400 keys')])
    expect((await tenant.call('GET', '/v1/events?event_type=kept&count_only=1')).body.count).toBe(1)
    expect(await countOf(id)).toBe(500)
  })
})
