import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { claimSegment, createClaimedSegment, evaluateNow } from '../../test/segments.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { createSegment, deleteSegment, updateSegment } from './segments.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const EVERYBODY = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }

const evaluate = (segmentId: string) => evaluateNow(tenant.handle, segmentId)

async function define(name: string, filter: unknown = EVERYBODY, description: string | null = null): Promise<string> {
  const { segmentId } = await createClaimedSegment(tenant.handle, { name, description, filter })
  await evaluate(segmentId)
  return segmentId
}

test('a segment has its definition and the number of its contacts', async () => {
  await tenant.contact('ada@example.com')
  const segmentId = await define('Everybody', EVERYBODY, 'Who has an address')
  const { status, body } = await tenant.call('GET', `/v1/segments/${segmentId}`)
  expect(status).toBe(200)
  expect(body).toEqual({
    status: 'success',
    segment: {
      segment_id: segmentId,
      _id: segmentId,
      name: 'Everybody',
      description: 'Who has an address',
      entity: 'contacts',
      contact_count: 1,
      company_count: null,
      counting: false,
      filter: EVERYBODY,
      created_at: expect.stringMatching(/Z$/),
    },
  })
})

test('segments are listed newest first, page by page', async () => {
  const ids = [await define('one'), await define('two'), await define('three')].reverse()
  const pages = await Promise.all([1, 2, 3].map((page) => tenant.call('GET', `/v1/segments?limit=2&page=${page}`)))
  expect(pages.flatMap(({ body }) => body.segments.map(({ _id }: { _id: string }) => _id))).toEqual(ids)
  expect(pages[0]?.body.pagination).toEqual({ page: 1, limit: 2, total_pages: 2, total_items: 3 })
  expect((await tenant.call('GET', '/v1/segments')).body.pagination.limit).toBe(50)
  for (const query of ['limit=0', 'limit=101', 'page=0', 'page=x']) {
    expect((await tenant.call('GET', `/v1/segments?${query}`)).status).toBe(400)
  }
})

test('the members of a segment are listed in compact form, page by page', async () => {
  const ids: string[] = []
  for (const name of ['a', 'b', 'c', 'd', 'e']) {
    ids.unshift(await tenant.contact(`${name}@example.com`, { firstname: name, city: 'Paris' }))
  }
  const segmentId = await define('Everybody')
  const path = `/v1/segments/${segmentId}/contacts`
  const pages = await Promise.all([1, 2, 3, 4].map((page) => tenant.call('GET', `${path}?limit=2&page=${page}`)))
  expect(pages.flatMap(({ body }) => body.contacts.map(({ _id }: { _id: string }) => _id))).toEqual(ids)
  const { body } = await tenant.call('GET', path)
  expect(body).toMatchObject({
    segment_name: 'Everybody',
    pagination: { page: 1, limit: 20, total_pages: 1, total_items: 5 },
  })
  expect(body.contacts[0]).toEqual({
    contact_id: ids[0],
    _id: ids[0],
    properties: { email: 'e@example.com', firstname: 'e' },
    company_id: null,
    segment_ids: [segmentId],
    created_at: expect.stringMatching(/Z$/),
  })
})

test('every contact object lists its segments, sorted by id', async () => {
  const contactId = await tenant.contact('ada@example.com')
  const ids = [await define('one'), await define('two')].sort()
  const list = await tenant.call('GET', '/v1/contacts')
  const one = await tenant.call('GET', `/v1/contacts/${contactId}`)
  const put = await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Paris' } })
  const projected = await tenant.call('GET', '/v1/contacts?fields=segment_ids')
  for (const contact of [list.body.contacts[0], one.body.contact, put.body.contact, projected.body.contacts[0]]) {
    expect(contact.segment_ids).toEqual(ids)
  }
})

test("another tenant's segment, an unknown id and a malformed id are 404", async () => {
  const segmentId = await define('Everybody')
  const stranger = await createTestTenant(service)
  for (const id of [segmentId, '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071', 'x', '%27']) {
    for (const path of [`/v1/segments/${id}`, `/v1/segments/${id}/contacts`]) {
      const { status, body } = await stranger.call('GET', path)
      expect([status, body.error.code]).toEqual([404, 'not_found'])
    }
  }
  expect((await stranger.call('GET', '/v1/segments')).body.segments).toEqual([])
})

test('a changed filter changes the members', async () => {
  await tenant.contact('ada@example.com', { city: 'Paris' })
  await tenant.contact('bob@example.com', { city: 'Rome' })
  const segmentId = await define('Everybody')
  const read = async () => (await tenant.call('GET', `/v1/segments/${segmentId}`)).body.segment
  await updateSegment(tenant.handle, segmentId, { name: 'All' }, new Date())
  expect(await read()).toMatchObject({ name: 'All', contact_count: 2, description: null, filter: EVERYBODY })
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Rome' }] }
  await updateSegment(tenant.handle, segmentId, { filter }, new Date())
  await expect.poll(read).toMatchObject({ contact_count: 1, filter })
  await expect(updateSegment(tenant.handle, segmentId, { name: '' }, new Date())).rejects.toMatchObject({ status: 400 })
  const stranger = await createTestTenant(service)
  await expect(updateSegment(stranger.handle, segmentId, { name: 'x' }, new Date())).rejects.toMatchObject({
    status: 404,
  })
})

test('while a segment is being counted, it has no count, and nothing treats it as empty', async () => {
  await tenant.contact('ada@example.com', { city: 'Paris' })
  await tenant.contact('bob@example.com', { city: 'Rome' })
  const definition = { name: 'Everybody', description: null, filter: EVERYBODY }
  const { segmentId } = await createClaimedSegment(tenant.handle, definition)
  const read = async () => {
    const [one, list] = await Promise.all([
      tenant.call('GET', `/v1/segments/${segmentId}`),
      tenant.call('GET', '/v1/segments'),
    ])
    expect(list.body.segments).toEqual([one.body.segment])
    const { contact_count, counting } = one.body.segment
    return { contact_count, counting }
  }
  const members = async () => (await tenant.call('GET', `/v1/segments/${segmentId}/contacts`)).body
  const aggregate = () =>
    tenant.call('POST', '/v1/aggregate', {
      entity: 'contacts',
      group_by: 'city',
      filters: { segment_id: segmentId },
    })
  const runOfAgent = async () => {
    const agent = { name: 'A', monitoring: { filter: { segment_id: segmentId } } }
    const { agent_id } = (await tenant.call('POST', '/v1/agents', agent)).body.agent
    const { job_id } = (await tenant.call('POST', `/v1/agents/${agent_id}/trigger`)).body
    const run = async () => (await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body.run
    await expect.poll(async () => (await run()).status).toBe('completed')
    return (await run()).summary.contacts_evaluated
  }
  const expectCounting = async (countBefore: number) => {
    expect(await read()).toEqual({ contact_count: null, counting: true })
    expect(await members()).toMatchObject({
      counting: true,
      warnings: [expect.stringContaining('still being counted')],
    })
    const refused = await aggregate()
    expect([refused.status, refused.body.error.code]).toEqual([409, 'segment_counting'])
    expect(refused.headers.get('retry-after')).toBe('2')
    expect(await runOfAgent()).toBe(countBefore)
  }
  const expectCounted = async (count: number) => {
    expect(await read()).toEqual({ contact_count: count, counting: false })
    expect(await members()).toMatchObject({ counting: false, pagination: { total_items: count } })
    expect(await members()).not.toHaveProperty('warnings')
    expect((await aggregate()).body).toMatchObject({ status: 'success', total: count })
    expect(await runOfAgent()).toBe(count)
  }
  await expectCounting(2)
  await evaluate(segmentId)
  await expectCounted(2)
  const filter = { match: 'all', conditions: [{ property: 'city', operator: 'equals', value: 'Rome' }] }
  await tenant.handle.transaction(async (tx) => {
    expect(await updateSegment(tx, segmentId, { filter }, new Date())).toEqual(['filter'])
    // So that the service does not evaluate it during this test.
    await claimSegment(tx, segmentId)
  })
  await expectCounting(1)
  await evaluate(segmentId)
  await expectCounted(1)
})

test('setting the same filter again does not re-evaluate the segment', async () => {
  await tenant.contact('ada@example.com')
  const segmentId = await define('Everybody')
  expect(await updateSegment(tenant.handle, segmentId, { name: ' Everybody ', filter: EVERYBODY }, new Date())).toEqual(
    [],
  )
  const { body } = await tenant.call('GET', `/v1/segments/${segmentId}`)
  expect(body.segment).toMatchObject({ name: 'Everybody', contact_count: 1, counting: false })
})

test('a deleted segment is removed from its members, which can still be changed', async () => {
  const contactId = await tenant.contact('ada@example.com')
  const segmentId = await define('Everybody')
  const stranger = await createTestTenant(service)
  await expect(deleteSegment(stranger.handle, segmentId)).rejects.toMatchObject({ status: 404 })
  await deleteSegment(tenant.handle, segmentId)
  expect((await tenant.call('GET', `/v1/segments/${segmentId}`)).status).toBe(404)
  const { body } = await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { city: 'Paris' } })
  expect(body.contact.segment_ids).toEqual([])
})

describe('an invalid filter', () => {
  const leaf = { property: 'city', operator: 'equals', value: 'Paris' }
  const nested = (levels: number): unknown => ({
    match: 'all',
    conditions: levels === 1 ? [leaf] : [nested(levels - 1)],
  })
  const all = (...conditions: unknown[]) => ({ match: 'all', conditions })
  test.each([
    ['filter', null],
    ['filter', []],
    ['filter', 'all'],
    ['filter.match', { match: 'some', conditions: [] }],
    ['filter.conditions', { match: 'all' }],
    ['filter.sql', { ...all(), sql: 'x' }],
    ['filter.conditions[0]', all('x')],
    ['filter.conditions[0]', all({ operator: 'equals' })],
    ['filter.conditions[0].property', all({ ...leaf, property: '' })],
    ['filter.conditions[0].property', all({ ...leaf, property: 'x\u0000' })],
    ['filter.conditions[0].property', all({ ...leaf, property: 'x'.repeat(129) })],
    ['filter.conditions[0].operator', all({ ...leaf, operator: 'toString' })],
    ['filter.conditions[0].operator', all({ property: 'created_at', operator: 'equals', value: 'x' })],
    ['filter.conditions[0].operator', all({ property: 'email', operator: 'gt', value: 1 })],
    ['filter.conditions[1].value', all(leaf, { property: 'city', operator: 'equals' })],
    ['filter.conditions[0].value', all({ ...leaf, value: null })],
    ['filter.conditions[0].value', all({ ...leaf, value: { a: 1 } })],
    ['filter.conditions[0].value', all({ ...leaf, value: '\ud800' })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'contains', value: '' })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'in', value: [] })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'in', value: 'Paris' })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'in', value: Array(501).fill('x') })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'gt', value: '1; DROP TABLE contacts' })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'before', value: '2026-02-30' })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'within_days', value: 0 })],
    ['filter.conditions[0].value', all({ ...leaf, operator: 'within_days', value: 1.5 })],
    ['filter.conditions[0].event', all({ event: 'x', operator: 'did' })],
    ['filter.conditions[0].operator', all({ event: {}, operator: 'equals' })],
    ['filter.conditions[0].event.type', all({ event: { type: 5 }, operator: 'did' })],
    ['filter.conditions[0].event.min_count', all({ event: { min_count: -1 }, operator: 'did' })],
    ['filter.conditions[0].event.within_days', all({ event: { within_days: '7' }, operator: 'did' })],
    ['filter.conditions[0].event.contact_id', all({ event: { contact_id: 'x' }, operator: 'did' })],
    ['filter.conditions[0].tenant_id', all({ ...leaf, tenant_id: 'x' })],
    [`filter${'.conditions[0]'.repeat(5)}`, nested(6)],
    [`filter${'.conditions[0]'.repeat(5)}`, nested(5_000)],
    ['filter', all(...Array(51).fill(leaf))],
    ['filter', all(...Array(100_000).fill(all()))],
  ])('is 400 and names %s', async (path, filter) => {
    const made = createSegment(tenant.handle, { name: 'x', description: null, filter }, new Date())
    await expect(made).rejects.toMatchObject({ status: 400, code: 'validation_error', details: [{ path }] })
    expect((await tenant.call('GET', '/v1/segments')).body.segments).toEqual([])
  })

  test('may have up to five levels, fifty conditions and any operator', async () => {
    await define('deep', nested(5))
    await define('wide', all(...Array(50).fill(leaf)))
    await define('empty', all())
  })

  test('is reported with every invalid field', async () => {
    const filter = all({ ...leaf, operator: 'x' }, { ...leaf, value: null }, { event: {}, operator: 'x' })
    const made = createSegment(tenant.handle, { name: 'x', description: null, filter }, new Date())
    await expect(made).rejects.toMatchObject({
      details: [0, 1, 2].map((index) => ({ path: expect.stringContaining(`conditions[${index}]`) })),
    })
  })
})

test('a name is required, and the number of segments is limited', async () => {
  const make = (name: string) =>
    createSegment(tenant.handle, { name, description: null, filter: EVERYBODY }, new Date())
  await expect(make('')).rejects.toMatchObject({ code: 'validation_error', details: [{ path: 'name' }] })
  await tenant.handle.db
    .insertInto('segments')
    .values(
      Array.from({ length: 500 }, (_, index) => ({
        segment_id: `00000000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        name: String(index),
        filter: JSON.stringify({ match: 'any', conditions: [] }),
        uses_events: false,
        uses_time: false,
        created_at: new Date(),
        updated_at: new Date(),
      })),
    )
    .execute()
  await expect(make('one more')).rejects.toMatchObject({ status: 409, code: 'too_many_segments' })
})
