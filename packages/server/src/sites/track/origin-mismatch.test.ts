import { beforeAll, expect, test } from 'vitest'
import { signedIn } from '../../../test/people.ts'
import {
  CHROME,
  call,
  createTestTenant,
  sharedService,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** Sends an event and reads it back. */
async function sent(url: string | undefined, headers: Record<string, string> = {}) {
  const event = crypto.randomUUID()
  await tenant.track({ visitor_id: 'v', events: [{ event, url }] }, headers)
  return (await tenant.call('GET', `/v1/events?event_type=${event}`)).body.events[0]
}

test.each([
  ['its own page', (site: string) => `https://${site}/pricing`, false],
  ['another port and scheme of its host', (site: string) => `http://${site}:8080/`, false],
  ['its host in capitals and with a root dot', (site: string) => `https://${site.toUpperCase()}./`, false],
  ['a foreign host', () => 'https://evil.example/', true],
  ['a subdomain', (site: string) => `https://www.${site}/`, true],
  ['the domain above', (site: string) => `https://${site.replace(/^[^.]+\./, '')}/`, true],
  ['no page of the web', () => 'about:blank', false],
  ['no address', () => undefined, false],
])('an event that says it happened on %s', async (_, urlOf, expected) => {
  expect(await sent(urlOf(tenant.site))).toMatchObject({ origin_mismatch: expected })
})

test('without an Origin, the Referer counts', async () => {
  const { site } = tenant
  const send = async (url: string) => {
    const event = crypto.randomUUID()
    const body = JSON.stringify({ visitor_id: 'v', events: [{ event, url }] })
    await call(service, 'POST', '/track', { headers: { referer: `https://www.${site}/a`, 'user-agent': CHROME }, body })
    return (await tenant.call('GET', `/v1/events?event_type=${event}`)).body.events[0]
  }
  expect(await send(`https://www.${site}/b`)).toMatchObject({ origin_mismatch: false })
  expect(await send(`https://${site}/b`)).toMatchObject({ origin_mismatch: true })
})

test("a form's event is flagged when Origin and Referer name two hosts", async () => {
  const submit = (referer: string) =>
    call(service, 'POST', `/v1/public/form-submission/${tenant.id}/f`, {
      headers: { origin: `https://${tenant.site}`, referer, 'user-agent': CHROME },
      body: JSON.stringify({ contact_data: { email: 'ada@example.com' } }),
    })
  await submit(`https://${tenant.site}/contact`)
  await submit('https://evil.example/')
  const { events } = (await tenant.call('GET', '/v1/events?event_type=form_submission&sort_dir=asc')).body
  expect(events.map(({ origin_mismatch }: { origin_mismatch: boolean }) => origin_mismatch)).toEqual([false, true])
})

test('lists, counts, aggregation and CSV files filter by it, not by data of that name', async () => {
  const own = await createTestTenant(service)
  const data = { origin_mismatch: 'mine' }
  const urls = [`https://${own.site}/`, 'https://evil.example/', 'https://evil.example/again']
  await own.track({ visitor_id: 'v', events: urls.map((url) => ({ event: 'page_view', url, data })) })
  const { body } = await own.call('GET', '/v1/events?origin_mismatch=true')
  expect(body.events).toMatchObject([
    { domain: 'evil.example', origin_mismatch: true, data },
    { domain: 'evil.example', origin_mismatch: true, data },
  ])
  expect((await own.call('GET', '/v1/events?origin_mismatch=false&count_only=1')).body.count).toBe(1)
  const group = { entity: 'events', group_by: 'domain', metric: 'count', filters: { origin_mismatch: false } }
  const { buckets } = (await own.call('POST', '/v1/aggregate', group)).body
  expect(buckets).toMatchObject([{ key: own.site, value: 1 }])
  const wrong = await own.call('GET', '/v1/events?origin_mismatch=maybe')
  expect([wrong.status, wrong.body.error.code]).toEqual([400, 'validation_error'])
  const admin = await signedIn(service, own.id, 'admin')
  const file = await admin.call('GET', '/v1/events/export.csv?origin_mismatch=true&columns=domain,origin_mismatch')
  expect(String(file.body).trim().split('\r\n').slice(1)).toEqual(['evil.example,true', 'evil.example,true'])
})

test('system events have no page', async () => {
  const id = await tenant.contact('system@example.com')
  const { events } = (await tenant.call('GET', `/v1/events?contact_id=${id}&include=system`)).body
  expect(events).toMatchObject([{ event: 'contact_created', origin_mismatch: false }])
})
