import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDirectory, type Started, startProcess } from '../../../test/process.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'
import { cancelRun } from './cancel.ts'
import { claimRun, giveBackAfterFailure, RESTARTS_MAX } from './claim.ts'
import { recordOutcome } from './record.ts'
import { sweepRuns, sweepSchedules } from './sweep.ts'

const ACTOR = { kind: 'service' } as const
const EVERYBODY = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }

let now = new Date('2026-03-02T12:00:00Z')
let directory: string
let clickhouse: Started
let first: TestService
let second: TestService
let tenant: TestTenant

/** Two services on the same engines, as two processes would be. */
beforeAll(async () => {
  directory = await openDirectory()
  clickhouse = await startProcess('packages/server/test/clickhouse-front.ts', [directory, '0'], {}, /ready \d+/)
  const port = /ready (\d+)/.exec(clickhouse.output())?.[1] ?? ''
  const shared = { CLICKHOUSE_URL: `http://127.0.0.1:${port}` }
  first = await startTestService(shared, { clock: () => now })
  const sameDatabase = { ...shared, DATABASE_URL: first.config.databaseUrl ?? '' }
  second = await startTestService(sameDatabase, { clock: () => now })
})
beforeEach(async () => {
  now = new Date('2026-03-02T12:00:00Z')
  tenant = await createTestTenant(first)
})
afterAll(async () => {
  await second?.close()
  await first?.close()
  await clickhouse?.end('SIGKILL')
  await rm(directory, { recursive: true, force: true })
})

async function agent(body: object = {}): Promise<string> {
  const answer = await tenant.call('POST', '/v1/agents', { name: 'Test', ...body })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.agent.agent_id
}

const hourly = { enabled: true, monitoring: { schedule_cron: '0 * * * *', filter: EVERYBODY } }
const runsOf = async (id: string) => (await tenant.call('GET', `/v1/agents/${id}/runs`)).body.runs
const agentOf = async (id: string) => (await tenant.call('GET', `/v1/agents/${id}`)).body.agent
const read = async (id: string) => (await tenant.call('GET', `/v1/agents/runs/${id}`)).body.run

const timed = (service: TestService) => ({ ...service, clock: () => now })
const sweepBoth = () =>
  Promise.all(Array.from({ length: 8 }, (_, index) => sweepSchedules(timed(index % 2 === 0 ? first : second))))

describe('a schedule', () => {
  test('queues one run when it comes due, however many processes look', async () => {
    const id = await agent(hourly)
    await sweepBoth()
    expect(await runsOf(id)).toEqual([])
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    const runs = await runsOf(id)
    expect(runs).toHaveLength(1)
    expect(runs[0]).toMatchObject({ trigger: 'schedule' })
    expect((await agentOf(id)).next_run_at).toBe('2026-03-02T14:00:00.000Z')
    await sweepBoth()
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('makes up for all the times that were missed with one run', async () => {
    const id = await agent(hourly)
    now = new Date('2026-03-04T09:30:00Z')
    await sweepBoth()
    expect(await runsOf(id)).toHaveLength(1)
    expect((await agentOf(id)).next_run_at).toBe('2026-03-04T10:00:00.000Z')
  })

  test('rests while the agent is disabled, and while its last run goes on', async () => {
    const id = await agent(hourly)
    await tenant.call('PATCH', `/v1/agents/${id}`, { enabled: false })
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    expect(await runsOf(id)).toEqual([])
    await tenant.call('PATCH', `/v1/agents/${id}`, { enabled: true })
    await openRun(id, { trigger: 'schedule' })
    now = new Date('2026-03-02T14:00:00Z')
    await sweepBoth()
    expect(await runsOf(id)).toHaveLength(1)
    expect((await agentOf(id)).next_run_at).toBe('2026-03-02T15:00:00.000Z')
  })

  test('of another tenant is another', async () => {
    const id = await agent(hourly)
    const stranger = await createTestTenant(first)
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    expect(await runsOf(id)).toHaveLength(1)
    const { body } = await stranger.call('GET', `/v1/agents/${id}/runs`)
    expect(body.error.code).toBe('not_found')
  })
})

/** A run that no queue knows, as after a crash, with one contact to look at. */
async function openRun(agentId: string, more: object = {}): Promise<{ runId: string; contactId: string }> {
  const runId = newId()
  const contactId = newId()
  const configuration = {
    name: 'Test',
    playbook_template: null,
    playbook: {},
    capabilities: ['notes'],
    identity_id: null,
  }
  await tenant.handle.db
    .insertInto('agent_runs')
    .values({
      run_id: runId,
      agent_id: agentId,
      status: 'running',
      trigger: 'manual',
      requested_by: JSON.stringify(ACTOR),
      configuration: JSON.stringify({ ...configuration, description: null, monitoring: {}, llm_config: {} }),
      created_at: now,
      started_at: now,
      heartbeat_at: new Date(),
      progressed_at: new Date(),
      ...more,
    })
    .execute()
  await tenant.handle.db
    .insertInto('agent_run_contacts')
    .values({ run_id: runId, contact_id: contactId, position: 0 })
    .execute()
  return { runId, contactId }
}

const NOTE = { type: 'note', params: { content: 'x' } } as const
const EVALUATION = {
  reasoning: 'x',
  actions: [NOTE],
  dropped: [],
  usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('a run', () => {
  test('is claimed by one process; another gets it only when the first is silent', async () => {
    const { runId } = await openRun(await agent())
    const claims = await Promise.all(Array.from({ length: 6 }, () => claimRun(tenant.handle, runId)))
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1)
    expect(await claimRun(tenant.handle, runId)).toBeNull()
    await tenant.handle.db
      .updateTable('agent_runs')
      .set({ heartbeat_at: minutesAgo(1) })
      .execute()
    expect(await claimRun(tenant.handle, runId)).not.toBeNull()
  })

  test('is written by whoever has it: a process that was taken for dead writes nothing more', async () => {
    const { runId, contactId } = await openRun(await agent())
    const dead = await claimRun(tenant.handle, runId)
    await tenant.handle.db
      .updateTable('agent_runs')
      .set({ heartbeat_at: minutesAgo(1) })
      .execute()
    const alive = await claimRun(tenant.handle, runId)
    if (!dead || !alive) throw new Error('not claimed')
    const outcome = { status: 'evaluated', evaluation: EVALUATION } as const
    await expect(recordOutcome(tenant.handle, timed(first), dead, contactId, outcome)).rejects.toThrow()
    await recordOutcome(tenant.handle, timed(second), alive, contactId, outcome)
    await expect(recordOutcome(tenant.handle, timed(first), alive, contactId, outcome)).rejects.toThrow()
    expect((await read(runId)).summary).toMatchObject({ contacts_evaluated: 1, actions_proposed: 1 })
  })

  test('whose process died is queued again, and ends', async () => {
    const { runId } = await openRun(await agent(), { claim: newId(), heartbeat_at: minutesAgo(1) })
    await sweepRuns(timed(second))
    await expect.poll(async () => (await read(runId)).status, { timeout: 15_000 }).toBe('completed')
  })

  test('that is stuck fails, and says why', async () => {
    const id = await agent()
    const { runId } = await openRun(id, { claim: newId(), progressed_at: minutesAgo(16) })
    const { runId: forgotten } = await openRun(id, { status: 'queued', heartbeat_at: minutesAgo(25 * 60) })
    const { runId: fine } = await openRun(id, { claim: newId(), progressed_at: minutesAgo(14) })
    await sweepRuns(timed(first))
    expect(await read(runId)).toMatchObject({ status: 'failed', contact_results: [{ status: 'skipped' }] })
    expect((await read(runId)).error).toContain('did not get on')
    expect((await read(forgotten)).status).toBe('failed')
    expect((await read(fine)).status).toBe('running')
  })

  test('that is interrupted again and again fails in the end', async () => {
    const { runId } = await openRun(await agent(), {
      claim: newId(),
      heartbeat_at: minutesAgo(1),
      restarts: RESTARTS_MAX,
    })
    await sweepRuns(timed(first))
    expect((await read(runId)).error).toContain(`interrupted ${RESTARTS_MAX + 1} times`)
    const { runId: other } = await openRun(await agent())
    let mayGoOn = true
    for (let round = 0; mayGoOn; round++) {
      const run = await claimRun(tenant.handle, other)
      if (!run || round > RESTARTS_MAX + 1) throw new Error('it goes on for ever')
      mayGoOn = await giveBackAfterFailure(tenant.handle, run, 'again and again', now)
    }
    expect(await read(other)).toMatchObject({
      status: 'failed',
      error: 'again and again',
      contact_results: [{ status: 'skipped' }],
    })
  })

  test('can be cancelled once, and its process writes nothing more', async () => {
    const { runId, contactId } = await openRun(await agent())
    const run = await claimRun(tenant.handle, runId)
    if (!run) throw new Error('not claimed')
    await cancelRun(tenant.handle, runId, ACTOR, now)
    const outcome = { status: 'evaluated', evaluation: EVALUATION } as const
    await expect(recordOutcome(tenant.handle, timed(first), run, contactId, outcome)).rejects.toThrow()
    expect(await read(runId)).toMatchObject({
      status: 'cancelled',
      contact_results: [{ status: 'skipped', proposed_actions: [] }],
    })
    await expect(cancelRun(tenant.handle, runId, ACTOR, now)).rejects.toMatchObject({ status: 409, code: 'run_ended' })
    await expect(cancelRun(tenant.handle, newId(), ACTOR, now)).rejects.toMatchObject({ status: 404 })
    const stranger = await createTestTenant(first)
    await expect(cancelRun(stranger.handle, runId, ACTOR, now)).rejects.toMatchObject({ status: 404 })
  })
})
