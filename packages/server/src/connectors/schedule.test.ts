import { expect, test } from 'vitest'
import {
  connect,
  inState,
  person,
  pulled,
  readConnection,
  useScriptedSystem,
  WITHIN,
} from '../../test/scripted-connector.ts'
import { changesAreKnown, deliveriesOf } from '../../test/webhooks.ts'
import { lock } from '../platform/postgres/locks.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'
import { createSubscription } from '../webhooks/subscriptions.ts'

const PULL_MINUTES = 45

const bench = useScriptedSystem({ CDS_PULL_MINUTES: String(PULL_MINUTES), CDS_WEBHOOK_ALLOW_PRIVATE: '1' })

function met(id: string) {
  const event = { event: 'met', data: {}, sentId: null, sessionId: null, context: {}, clockCorrection: 0 }
  return { id, contact: '1', call: { ...EMPTY_CALL, event: { ...event, timestamp: '2026-01-05T10:00:00Z' } } }
}

test('after a run, the next one starts by itself when it is due', async () => {
  bench.system.pages = [{ contacts: [person(1)] }]
  const path = await connect(bench.tenant)
  let before: string | undefined
  for (const runs of [1, 2]) {
    before = (await pulled(bench.tenant, path, before)).run_id
    const { state, next_pull_at } = await readConnection(bench.tenant, path)
    const waitMs = Date.parse(next_pull_at) - Date.now()
    expect([state, waitMs > (PULL_MINUTES - 10) * MINUTE_MS, waitMs <= PULL_MINUTES * MINUTE_MS]).toEqual([
      'waiting',
      true,
      true,
    ])
    expect(bench.system.asked()).toHaveLength(runs)
    const due = { next_pull_at: new Date(Date.now() - 1) }
    if (runs === 1) await bench.tenant.handle.db.updateTable('connections').set(due).execute()
  }
})

test('the first read and a reread are history, which causes no webhook deliveries; an increment causes them', async () => {
  const settings = { event: 'met', url: 'https://127.0.0.1:9/hook' }
  const { subscriptionId } = await createSubscription(bench.tenant.handle, bench.service.secrets, settings, new Date())
  await changesAreKnown(bench.service)
  const deliveries = async () => (await deliveriesOf(bench.tenant.handle, subscriptionId)).length
  bench.system.pages = [{ contacts: [person(1)], calls: [met('a'), met('b')] }]
  const path = await connect(bench.tenant)
  let run = await pulled(bench.tenant, path)
  expect([run.counts.people.accepted, await deliveries()]).toEqual([2, 0])
  for (const [order, id, expected] of [
    ['pull', 'c', 1],
    ['reread', 'd', 1],
    ['pull', 'e', 2],
  ] as const) {
    bench.system.pages = [{ calls: [met('a'), met(id)] }]
    await bench.tenant.call('POST', `${path}/${order}`, {})
    run = await pulled(bench.tenant, path, run.run_id)
    expect([id, run.counts.people, await deliveries()]).toEqual([id, { accepted: 1, unchanged: 1 }, expected])
  }
})

test('while more than 64 rows of the journal wait for ClickHouse, a pull waits too', async () => {
  bench.system.pages = [{ contacts: [person(1)] }]
  const rows = async () => {
    const found = await bench.service.postgres.pool.query('SELECT count(*)::integer AS count FROM journal')
    return found.rows[0].count
  }
  const transaction = await bench.service.postgres.db.startTransaction().execute()
  try {
    // While another transaction has this lock, no batch is formed.
    await lock(transaction, 'journal')
    for (let sent = 0; (await rows()) <= 64; sent++) {
      const events = [{ event: 'seen', email: `user${sent}@example.com` }]
      expect((await bench.tenant.call('POST', '/v1/events', { events })).body.error).toBeUndefined()
    }
    const path = await connect(bench.tenant)
    bench.system.timer.slept.length = 0
    await inState(bench.tenant, path, 'pulling')
    await expect.poll(async () => (await readConnection(bench.tenant, path)).last_run, WITHIN).not.toBeNull()
    // It has looked several times.
    await expect.poll(() => bench.system.timer.slept.length, WITHIN).toBeGreaterThan(3)
    expect(bench.system.asked()).toEqual([])
    await transaction.rollback().execute()
    expect((await pulled(bench.tenant, path)).counts).toEqual({ people: { created: 1 } })
    expect(bench.system.asked()).toEqual([null])
  } finally {
    if (!transaction.isRolledBack) await transaction.rollback().execute()
  }
})
