import { beforeAll, describe, expect, test } from 'vitest'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { DAY_MS } from '../platform/time.ts'
import { listAudit } from './audit-list.ts'
import { routeOf } from './declare.ts'

let service: TestService
let tenant: TestTenant
/** What alerts are about. */
let reportId: string
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  const report = { name: 'Events', kind: 'trend', question: { series: [{}] } }
  reportId = (await tenant.call('POST', '/v1/reports', report)).body.report.report_id
})

let made = 0
/** Records with an ETag, each with two changes that differ from each other and from the created record. */
const RECORDS = [
  {
    noun: 'contact',
    path: '/v1/contacts',
    method: 'PUT',
    // PostgreSQL stores the keys in another order.
    create: () => ({ email: `contact-${++made}@example.com`, properties: { zeta: 1, city: 'Paris', b: 2 } }),
    changes: [{ properties: { city: 'Rome', yard: 1, c: 2 } }, { properties: { city: 'Bern' } }],
  },
  {
    noun: 'company',
    path: '/v1/companies',
    method: 'PUT',
    create: () => ({ name: 'Engines', properties: { city: 'Paris' } }),
    changes: [{ name: 'Analytical Engines' }, { properties: { city: 'Bern' } }],
  },
  {
    noun: 'agent',
    path: '/v1/agents',
    method: 'PATCH',
    create: () => ({ name: 'Follow-up', playbook: { variables: { b: '1', a: '2' } } }),
    changes: [{ name: 'Pricing follow-up' }, { playbook: { require_approval: false } }],
  },
  {
    noun: 'report',
    path: '/v1/reports',
    method: 'PATCH',
    create: () => ({ name: 'Events', kind: 'trend', question: { series: [{}], interval: 'day' } }),
    changes: [{ name: 'All events' }, { question: { series: [{}], interval: 'week' } }],
  },
  {
    noun: 'dashboard',
    path: '/v1/dashboards',
    method: 'PATCH',
    create: () => ({ name: 'Growth', tiles: [{ text: 'Hello', x: 0, y: 0, width: 12, height: 1 }] }),
    changes: [{ name: 'Growth of all' }, { range: { last: { value: 7, unit: 'day' } } }],
  },
  {
    noun: 'alert',
    path: '/v1/alerts',
    method: 'PATCH',
    create: () => ({
      ...{ name: 'Many', report_id: reportId, at: { series: 'A' }, enabled: false },
      condition: { value: 10, operator: 'above' },
    }),
    changes: [{ name: 'Very many' }, { condition: { operator: 'above', value: 20 } }],
  },
  {
    noun: 'computed_property',
    path: '/v1/computed-properties',
    method: 'PATCH',
    create: () => ({ name: `orders ${++made}`, entity: 'contacts', function: 'count', event: 'order' }),
    changes: [{ within_days: 30 }, { event: 'refund' }],
  },
] as const

describe.each(RECORDS)('the ETag of a $noun', ({ noun, path, method, create, changes: [first, second] }) => {
  async function createOne() {
    const response = await tenant.call('POST', path, create())
    expect(response.status).toBe(201)
    return { url: `${path}/${response.body[noun][`${noun}_id`]}`, etag: etagOf(response) }
  }
  const read = (url: string) => tenant.call('GET', url)
  function write(url: string, body: unknown, ifMatch?: string) {
    const matching: Record<string, string> = ifMatch === undefined ? {} : { 'if-match': ifMatch }
    const headers = { authorization: `Bearer ${tenant.key}`, ...matching }
    return call(service, method, url, { headers, body: JSON.stringify(body) })
  }

  test('is the same for the same content, and differs after each change', async () => {
    const { url, etag } = await createOne()
    expect(etag).toMatch(/^"[\w-]{43}"$/)
    expect(etagOf(await read(url))).toBe(etag)
    expect(etagOf(await write(url, {}))).toBe(etag)
    const changed = etagOf(await write(url, first))
    expect(changed).not.toBe(etag)
    expect(etagOf(await read(url))).toBe(changed)
    expect([etag, changed]).not.toContain(etagOf(await write(url, second)))
  })

  test('lets a writer with the latest version make one change after another', async () => {
    const { url, etag } = await createOne()
    const changed = await write(url, first, etag)
    expect(changed.status).toBe(200)
    expect((await write(url, second, etagOf(changed))).status).toBe(200)
  })

  test('rejects a writer with an earlier version, and changes nothing', async () => {
    const { url, etag } = await createOne()
    await write(url, first)
    const seen = async () => ({
      stored: (await read(url)).body[noun],
      audited: (await listAudit(tenant.handle, {}, { page: 1, limit: 1 })).total,
      events: (await tenant.call('GET', '/v1/events?include=system&limit=1')).body.pagination.total_items,
    })
    const before = await seen()
    const stale = await write(url, second, etag)
    expect([stale.status, stale.body.error.code]).toEqual([412, 'changed_meanwhile'])
    expect(stale.headers.has('etag')).toBe(false)
    expect(await seen()).toEqual(before)
  })

  test('lets one of two concurrent writers succeed, and rejects the other', async () => {
    const { url, etag } = await createOne()
    const responses = await Promise.all([write(url, first, etag), write(url, second, etag)])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412])
    const winner = responses.find(({ status }) => status === 200)
    expect(winner && etagOf(winner)).toBe(etagOf(await read(url)))
  })

  test('may be one of several, or any, or missing', async () => {
    const { url, etag } = await createOne()
    for (const header of [`"another", ${etag}`, '*', undefined]) {
      expect((await write(url, {}, header)).status).toBe(200)
    }
  })

  test.each(['W/', 'without quotes', 'empty'])('does not match if it is sent wrongly: %s', async (kind) => {
    const { url, etag } = await createOne()
    const sent = { 'W/': `W/${etag}`, 'without quotes': etag.replaceAll('"', ''), empty: '""' }[kind]
    expect((await write(url, first, sent)).status).toBe(412)
  })

  test('lets only someone with the latest version delete it', async () => {
    const { url, etag } = await createOne()
    const changed = etagOf(await write(url, first))
    const remove = (ifMatch: string) =>
      call(service, 'DELETE', url, { headers: { authorization: `Bearer ${tenant.key}`, 'if-match': ifMatch } })
    const stale = await remove(etag)
    expect([stale.status, stale.body.error.code]).toEqual([412, 'changed_meanwhile'])
    expect(etagOf(await read(url))).toBe(changed)
    expect((await remove(changed)).status).toBe(200)
    expect((await read(url)).status).toBe(404)
  })

  test('is checked after the record was found', async () => {
    const { url, etag } = await createOne()
    await tenant.call('DELETE', url)
    expect((await write(url, first, etag)).status).toBe(404)
  })
})

test('changes to visitors, notes and segments leave the ETag of a contact unchanged', async () => {
  const id = await tenant.contact('visited@example.com', { city: 'Oslo' }, { visitor_id: 'etag-visitor' })
  const url = `/v1/contacts/${id}`
  await tenant.track({ visitor_id: 'etag-visitor', events: [{ event: 'first', url: `https://${tenant.site}/` }] })
  await expect
    .poll(async () => (await tenant.call('GET', url)).body.contact.properties)
    .toHaveProperty('first_landing_page')
  const { body, headers } = await tenant.call('GET', url)
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Oslo' }] }
  await tenant.call('POST', '/v1/segments', { name: 'In Oslo', filter })
  await tenant.call('POST', `${url}/notes`, { content: 'Asked for pricing.' })
  await tenant.call('PUT', url, { visitor_id: 'another-etag-visitor' })
  await tenant.track({ visitor_id: 'etag-visitor', events: [{ event: 'later', url: `https://${tenant.site}/b` }] })
  await expect.poll(async () => (await tenant.call('GET', url)).body.contact.segment_ids).toHaveLength(1)
  const after = await tenant.call('GET', url)
  expect(after.body.total_events).toBeGreaterThan(body.total_events)
  expect(after.body.contact.notes).toHaveLength(1)
  expect(after.headers.get('etag')).toBe(headers.get('etag'))
})

test('the next run of an agent leaves its ETag unchanged', async () => {
  const monitoring = { schedule_cron: '0 9 * * *' }
  const { body, headers } = await tenant.call('POST', '/v1/agents', { name: 'Daily', enabled: true, monitoring })
  const { agent_id, next_run_at } = body.agent
  const nextRun = new Date(Date.parse(next_run_at) + DAY_MS)
  await tenant.handle.db.updateTable('agents').set({ next_run_at: nextRun }).where('agent_id', '=', agent_id).execute()
  const after = await tenant.call('GET', `/v1/agents/${agent_id}`)
  expect(after.body.agent.next_run_at).toBe(nextRun.toISOString())
  expect(after.headers.get('etag')).toBe(headers.get('etag'))
})

function etagOf({ headers }: { headers: Headers }): string {
  return headers.get('etag') ?? ''
}

test('a merge checks the ETag of the contact that is merged, an unmerge that of the survivor', async () => {
  const [from, into] = [await tenant.contact('from@example.com'), await tenant.contact('into@example.com')]
  const url = `/v1/contacts/${from}`
  const send = (path: string, ifMatch: string, body?: object) =>
    call(service, 'POST', path, {
      headers: { authorization: `Bearer ${tenant.key}`, 'if-match': ifMatch },
      ...(body && { body: JSON.stringify(body) }),
    })
  const stale = etagOf(await tenant.call('GET', url))
  const current = etagOf(await tenant.call('PUT', url, { properties: { city: 'Rome' } }))
  const late = await send(`${url}/merge`, stale, { into })
  expect([late.status, late.body.error.code]).toEqual([412, 'changed_meanwhile'])
  expect((await tenant.call('GET', url)).status).toBe(200)
  const merged = await send(`${url}/merge`, current, { into })
  expect([merged.status, etagOf(merged)]).toEqual([200, etagOf(await tenant.call('GET', `/v1/contacts/${into}`))])

  const changed = etagOf(await tenant.call('PUT', `/v1/contacts/${into}`, { properties: { city: 'Oslo' } }))
  expect((await send(`${url}/unmerge`, etagOf(merged))).status).toBe(412)
  expect((await tenant.call('GET', url)).status).toBe(404)
  const unmerged = await send(`${url}/unmerge`, changed)
  expect([unmerged.status, etagOf(unmerged)]).toEqual([200, etagOf(await tenant.call('GET', url))])
})

test('every other operation refuses If-Match, and changes nothing', async () => {
  const contact_id = await tenant.contact('refused@example.com')
  const { etag, contact } = await tenant
    .call('GET', `/v1/contacts/${contact_id}`)
    .then((response) => ({ etag: etagOf(response), contact: response.body.contact }))
  const refused = [
    ['POST', '/v1/contacts/bulk', { contact_ids: [contact_id], delete: true }],
    ['POST', '/v1/identify', { email: 'refused@example.com', properties: { city: 'Rome' } }],
    ['POST', `/v1/contacts/${contact_id}/notes`, { content: 'No.' }],
    ['POST', '/v1/erasures', { contact_id }],
    ['GET', `/v1/contacts/${contact_id}`, undefined],
  ] as const
  for (const [method, path, body] of refused) {
    const response = await call(service, method, path, {
      headers: { authorization: `Bearer ${tenant.key}`, 'if-match': etag },
      ...(body && { body: JSON.stringify(body) }),
    })
    expect([path, response.status, response.body.error.code]).toEqual([path, 400, 'if_match_not_supported'])
  }
  expect((await tenant.call('GET', `/v1/contacts/${contact_id}`)).body.contact).toEqual(contact)
})

test('every operation that changes a record with an ETag checks If-Match', () => {
  const read = OPERATIONS.filter(({ http, etag }) => etag && http.startsWith('GET')).map(
    ({ http }) => routeOf({ http }).url,
  )
  const changes = OPERATIONS.filter(({ http }) => read.includes(routeOf({ http }).url) && !http.startsWith('GET'))
  expect(changes.map(({ name }) => name).sort()).toEqual([
    'deleteAgent',
    'deleteAlert',
    'deleteCompany',
    'deleteComputedProperty',
    'deleteContact',
    'deleteDashboard',
    'deleteReport',
    'updateAgent',
    'updateAlert',
    'updateCompany',
    'updateComputedProperty',
    'updateContact',
    'updateDashboard',
    'updateReport',
  ])
  expect(changes.filter(({ ifMatch }) => !ifMatch)).toEqual([])
})
