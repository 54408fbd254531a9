import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { newId } from '../platform/ids.ts'
import { EMPTY_RECORD, serializeEvents } from './event-record.ts'

let service: TestService
let tenant: TestTenant
beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

const record = (event: string) => ({
  ...EMPTY_RECORD,
  tenant_id: tenant.id,
  event_id: newId(),
  event,
  timestamp: Date.now(),
  received_at: Date.now(),
})
const names = async () => {
  const { body } = await tenant.call('GET', '/v1/events?sort_by=event&sort_dir=asc')
  return body.events.map(({ event }: { event: string }) => event)
}

test('an event that ClickHouse cannot read is set aside and holds up no others', async () => {
  const rows = serializeEvents(['one', 'two', 'three'].map(record)).replace('"two"', '"\\ud83d"')
  const journalId = newId()
  await service.stores.database.insertInto('journal').values({ journal_id: journalId, event_count: 3, rows }).execute()
  await service.projector.project({ journalId, rows })
  await tenant.track({ visitor_id: 'v', events: [{ event: 'zero' }] })
  expect(await names()).toEqual(['one', 'three', 'zero'])
  const refused = () =>
    service.stores.database.selectFrom('refused_events').selectAll().where('journal_id', '=', journalId).execute()
  expect(await refused()).toMatchObject([{ line: 1, row: expect.stringContaining('ud83d') }])
  // A repetition, as after a crash, changes nothing.
  await service.projector.project({ journalId, rows })
  expect(await names()).toEqual(['one', 'three', 'zero'])
  expect(await refused()).toHaveLength(1)
  const waiting = () =>
    service.stores.database.selectFrom('journal').select('journal_id').where('journal_id', '=', journalId).execute()
  await expect.poll(waiting, { timeout: 15_000 }).toEqual([])
})

test.each(['screen', 'language', 'timezone', 'referrer', 'analytics_user_id'])(
  'a %s that is cut within a character is recorded',
  async (name) => {
    const context = { [name]: `${'x'.repeat(name === 'referrer' ? 16_383 : 999)}\u{1F600}` }
    const answer = await tenant.track({ visitor_id: 'v', context, events: [{ event: `cut_${name}` }] })
    expect(answer.status).toBe(200)
    expect(await names()).toContain(`cut_${name}`)
  },
)
