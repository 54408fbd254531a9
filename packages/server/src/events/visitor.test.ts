import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestTenant } from '../../test/service.ts'
import { MINUTE_MS } from '../platform/time.ts'

let tenant: TestTenant
let stranger: TestTenant

beforeAll(async () => {
  const service = await sharedService()
  tenant = await createTestTenant(service)
  stranger = await createTestTenant(service)
})

const read = (id: string, who = tenant) => who.call('GET', `/v1/visitors/${encodeURIComponent(id)}`)

test('a visitor is what its events say about it, and has its contact once it is identified', async () => {
  const at = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS).toISOString()
  const view = (path: string, minutes: number, referrer?: string) => {
    const url = `https://${tenant.site}${path}`
    return { event: 'page_view', url, timestamp: at(minutes), ...(referrer === undefined ? {} : { referrer }) }
  }
  const id = 'visitor / ü'
  await tenant.track({ visitor_id: id, session_id: 's2', events: [view('/second', 5)] })
  const context = { screen: '1920x1080' }
  const first = view('/first', 9, 'https://www.google.com/')
  await tenant.track({ visitor_id: id, session_id: 's1', context, events: [first] })
  await tenant.track({ visitor_id: 'another', events: [view('/other', 1)] })
  const anonymous = await read(id)
  expect(anonymous.status).toBe(200)
  expect(anonymous.body.visitor).toEqual({
    visitor_id: id,
    contact: null,
    first_seen_at: first.timestamp,
    last_seen_at: expect.any(String),
    events: 2,
    sessions: expect.any(Number),
    first_url: first.url,
    first_referrer: 'https://www.google.com/',
    browser: 'Chrome',
    os: expect.any(String),
    country: null,
    region: null,
    city: null,
    device_type: 'desktop',
    screen: null,
    is_bot: false,
  })
  const contactId = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: id })
  expect((await read(id)).body.visitor).toMatchObject({
    events: 2,
    contact: { _id: contactId, email: 'ada@example.com', firstname: 'Ada', lastname: null },
  })
})

test("an unknown visitor, another tenant's and an impossible id are 404", async () => {
  await tenant.track({ visitor_id: 'mine', events: [{ event: 'e' }] })
  for (const response of [read('unknown'), read('mine', stranger), read('x'.repeat(201)), read('\u0000')]) {
    const { status, body } = await response
    expect([status, body.error.code]).toEqual([404, 'not_found'])
  }
})
