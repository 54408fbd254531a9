import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bodiesOf, createHook, send } from '../../test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
})

const userIds = async () => {
  const rows = await tenant.handle.db.selectFrom('contacts').select('external_id').execute()
  return rows.map(({ external_id }) => external_id)
}
const ignored = (name: string) => expect.stringMatching(`^ignored_id: ${name} `)

describe('ids that name nobody', () => {
  const mapping = {
    event: { name: { path: 'type' }, id: { path: 'id' } },
    contact: { email: { path: 'email' }, user_id: { path: 'user' }, external_id: { path: 'customer' } },
  }

  test('are ignored: a hook records a body by its email or its other id, and its body says what was ignored', async () => {
    const hook = await createHook(tenant, { mapping })
    const first = await send(service, hook, {
      type: 'paid',
      user: 'undefined',
      email: 'ada@example.com',
      customer: 'c-1',
    })
    expect(first.body).toMatchObject({ state: 'recorded', warnings: [ignored('contact.user_id')] })
    await send(service, hook, { type: 'paid', user: 0, email: 'bob@example.com', customer: 'null' })
    await send(service, hook, { type: 'paid', user: 'none', customer: 'c-1' })
    const [third, second, one] = await bodiesOf(tenant, hook)
    expect(one.warnings).toEqual([ignored('contact.user_id')])
    expect(second.warnings).toEqual([ignored('contact.user_id'), ignored('contact.external_id')])
    expect([third.state, third.contact_id]).toEqual(['recorded', one.contact_id])
    expect(second.contact_id).not.toBe(one.contact_id)
    expect(await userIds()).toEqual([null, null])
  })

  test('alone fail a body, which says why, and so does the preview', async () => {
    const hook = await createHook(tenant, { mapping })
    const { body } = await send(service, hook, { type: 'paid', user: 'undefined' })
    expect(body).toMatchObject({
      state: 'failed',
      error: { code: 'hook_no_person', message: expect.stringContaining('ignored_id') },
    })
    const preview = async (sample: object) => (await tenant.call('POST', `${hook.path}/preview`, { sample })).body
    expect(await preview({ type: 'paid', user: 'undefined' })).toMatchObject({ state: 'failed' })
    const usable = await preview({ type: 'paid', user: 'undefined', email: 'ada@example.com' })
    expect(usable).toMatchObject({
      state: 'recorded',
      contact: { user_id: null },
      warnings: [ignored('contact.user_id')],
    })
    expect(await userIds()).toEqual([])
  })

  test('are no ids of events: the event of each body is recorded', async () => {
    const hook = await createHook(tenant, { mapping })
    for (const at of [1, 2]) await send(service, hook, { type: 'paid', id: 'null', email: 'ada@example.com', at })
    expect((await tenant.call('GET', '/v1/events?event_type=paid')).body.events).toHaveLength(2)
  })
})
