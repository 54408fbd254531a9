import { beforeAll, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, ORDERS, order, send } from '../../test/hooks.ts'
import { call, createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { parseJsonBody } from '../platform/http/body-parts.ts'
import { HOOK_BODY_BYTES_MAX } from './routes.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

describe('numeric ids beyond 2^53', () => {
  const [first, second] = ['1184467440737095516', '1184467440737095517']

  test('keep all their digits, so that neighboring ones are two events', async () => {
    const hook = await createHook(tenant)
    const json = JSON.stringify(order('ID', 'exact@example.com'))
    for (const id of [first, second, second]) {
      const sent = await send(service, hook, json.replace('"ID"', id))
      expect([sent.status, sent.body.state]).toEqual([200, 'recorded'])
    }
    const [again, other, one] = await bodiesOf(tenant, hook)
    expect(again.event_id).toBe(other.event_id)
    expect(other.event_id).not.toBe(one.event_id)
    const { body } = await tenant.call('GET', `${hook.path}/bodies/${other.body_id}`)
    expect(body.data.order.id).toBe(second)
  })

  test('keep them in a sample too', async () => {
    const hook = await createHook(tenant)
    const sample = order('ID', 'exact@example.com')
    const sent = JSON.stringify({ mapping: ORDERS, sample }).replace('"ID"', first)
    const headers = { authorization: `Bearer ${tenant.key}` }
    const { body } = await call(service, 'POST', `${hook.path}/preview`, { headers, body: sent })
    expect([body.state, body.event.id]).toEqual(['recorded', first])
    expect(body.warnings).toEqual([expect.stringContaining('sample.order.id was kept as text')])
  })

  test('with an exponent are the digits that were sent', async () => {
    const hook = await createHook(tenant)
    const json = JSON.stringify(order('ID', 'exact@example.com'))
    for (const id of ['1.184467440737095516e18', '1.184467440737095517e18', '1e20']) {
      const { body } = await send(service, hook, json.replace('"ID"', id))
      expect(body.state).toBe('recorded')
    }
    const bodies = await bodiesOf(tenant, hook)
    expect(new Set(bodies.map(({ event_id }: { event_id: string }) => event_id)).size).toBe(3)
  })
})

test.each([
  ['{"id":1184467440737095517}', { id: '1184467440737095517' }],
  ['[ -1184467440737095517 , 1184467440737095518]', ['-1184467440737095517', '1184467440737095518']],
  ['{"id":9007199254740991,"next":9007199254740992}', { id: 9007199254740991, next: 9007199254740992 }],
  ['[1234567890123456.5,1.2345678901234567e+300,9e20]', [1234567890123456.5, 1.2345678901234567e300, 9e20]],
  ['[12345678901234567.5,1.234567890123456781e+300]', ['12345678901234567.5', '1.234567890123456781e+300']],
  ['{"text":"a \\" :1184467440737095517, \\\\","1184467440737095517":1184467440737095517}', { text: 'a " :1184467440737095517, \\', '1184467440737095517': '1184467440737095517' }],
])('%s is parsed with exact numbers', (text, expected) => {
  expect(parseJsonBody(text)).toEqual(expected)
}) // biome-ignore format: a list

test.each([
  ['[01184467440737095517]'],
  ['{"a":1184467440737095517'],
  ['[1184467440737095517 1]'],
  [`["1184467440737095517]`],
])('%s is not JSON', (text) => {
  expect(() => parseJsonBody(text)).toThrow(expect.objectContaining({ code: 'invalid_json' }))
})

test('the largest body of quotes in a string that does not end is refused without a search from each quote', async () => {
  const hook = await createHook(tenant)
  const start = '[1184467440737095517,"'
  const text = start + '\\"'.repeat((HOOK_BODY_BYTES_MAX - start.length) / 2)
  const refused = await send(service, hook, text)
  expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_json'])
})
