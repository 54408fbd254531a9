import { rm } from 'node:fs/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertIdentity, MAIL, propose } from '../../../test/actions.ts'
import { openDirectory, type Started, startProcess } from '../../../test/process.ts'
import { claimHeld, setDue } from '../../../test/runs.ts'
import {
  createTestTenant,
  startTestService,
  type TestResponse,
  type TestService,
  type TestTenant,
} from '../../../test/service.ts'
import { newId } from '../../platform/ids.ts'
import { ClaimLost } from '../../platform/postgres/lease.ts'
import { type RunKind, takeTurn } from '../../platform/runs/kind.ts'
import { claimRun } from '../../platform/runs/run.ts'
import { sweep } from '../../platform/runs/workers.ts'
import { MINUTE_MS } from '../../platform/time.ts'
import { eraseFromRuns } from '../erase.ts'
import { AGENT_ROWS, beginTurn, cancelAgentRun } from './agent-run.ts'
import { costOfMonth } from './costs.ts'
import { recordOutcome } from './record.ts'
import { reserveCostFor } from './reserve-cost.ts'
import { dueAgents, STUCK_RUNS } from './sweep.ts'
import { agentKind, FAILURES_MAX } from './work.ts'

const ACTOR = { kind: 'service' } as const
const EVERYBODY = { match: 'all', conditions: [{ property: 'email', operator: 'is_set' }] }

let now = new Date('2026-03-02T12:00:00Z')
let directory: string
let clickhouse: Started
let first: TestService
let second: TestService
let tenant: TestTenant

/** Two services with the same databases, like two processes. */
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
  await rm(directory, { recursive: true, force: true, maxRetries: 10 })
})

async function agent(body: object = {}): Promise<string> {
  const response = await tenant.call('POST', '/v1/agents', { name: 'Test', ...body })
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent.agent_id
}

const hourly = { enabled: true, monitoring: { schedule_cron: '0 * * * *', filter: EVERYBODY } }
const runsOf = async (id: string) => (await tenant.call('GET', `/v1/agents/${id}/runs`)).body.runs
const agentOf = async (id: string) => (await tenant.call('GET', `/v1/agents/${id}`)).body.agent
const read = async (id: string) => (await tenant.call('GET', `/v1/agents/runs/${id}`)).body.run

const timed = (service: TestService) => ({ ...service, ...service.writing, clock: () => now })
const sweepBoth = () =>
  Promise.all(
    Array.from({ length: 8 }, (_, index) => sweep(timed(index % 2 === 0 ? first : second), dueAgents(first.jobs))),
  )
/**
 * The services sweep in the background too. One of them may have locked a row that our own sweeps skip, and commit after
 * they end.
 */
const swept = (look: () => Promise<unknown>) => expect.poll(look)

describe('a schedule', () => {
  test('queues one run when it is due, however many processes sweep', async () => {
    const id = await agent(hourly)
    await sweepBoth()
    expect(await runsOf(id)).toEqual([])
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    await swept(() => runsOf(id)).toMatchObject([{ trigger: 'schedule' }])
    expect((await agentOf(id)).next_run_at).toBe('2026-03-02T14:00:00.000Z')
    await sweepBoth()
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('makes up for all missed times with one run', async () => {
    const id = await agent(hourly)
    now = new Date('2026-03-04T09:30:00Z')
    await sweepBoth()
    await swept(() => runsOf(id)).toHaveLength(1)
    expect((await agentOf(id)).next_run_at).toBe('2026-03-04T10:00:00.000Z')
  })

  test('queues nothing while the agent is disabled or its last run is in progress', async () => {
    const id = await agent(hourly)
    await tenant.call('PATCH', `/v1/agents/${id}`, { enabled: false })
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    expect(await runsOf(id)).toEqual([])
    await tenant.call('PATCH', `/v1/agents/${id}`, { enabled: true })
    await openRun(id, { trigger: 'schedule' })
    now = new Date('2026-03-02T14:00:00Z')
    await sweepBoth()
    await swept(async () => (await agentOf(id)).next_run_at).toBe('2026-03-02T15:00:00.000Z')
    expect(await runsOf(id)).toHaveLength(1)
  })

  test('that is due is not delayed by a change of another setting', async () => {
    const id = await agent(hourly)
    now = new Date('2026-03-02T13:00:00Z')
    await tenant.call('PATCH', `/v1/agents/${id}`, { monitoring: { max_contacts_per_run: 5 } })
    await sweepBoth()
    await swept(() => runsOf(id)).toHaveLength(1)
  })

  test('of another tenant is independent', async () => {
    const id = await agent(hourly)
    const stranger = await createTestTenant(first)
    now = new Date('2026-03-02T13:00:00Z')
    await sweepBoth()
    await swept(() => runsOf(id)).toHaveLength(1)
    const { body } = await stranger.call('GET', `/v1/agents/${id}/runs`)
    expect(body.error.code).toBe('not_found')
  })
})

/** A run that only the test works on, with one contact to evaluate. */
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
      provider: 'template',
      started_at: now,
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
const claim = async (runId: string) => beginTurn(await claimHeld(AGENT_ROWS, tenant.handle, runId))
const claimedNow = () => ({ claim: newId(), claimed_until: new Date(Date.now() + 60_000) })
const deadClaim = () => ({ claim: newId(), claimed_until: minutesAgo(1) })
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * MINUTE_MS)

describe('a run', () => {
  test('is claimed by one process; another can claim it only after the first stops renewing its claim', async () => {
    const { runId } = await openRun(await agent())
    // In one transaction, so that the services cannot claim it.
    await tenant.handle.transaction(async (tx) => {
      await setDue(AGENT_ROWS, tx, runId)
      const claims = await Promise.all(Array.from({ length: 6 }, () => claimRun(AGENT_ROWS, tx, runId, now)))
      expect(claims.filter((each) => each !== null)).toHaveLength(1)
      expect(await claimRun(AGENT_ROWS, tx, runId, now)).toBeNull()
      await tx.db
        .updateTable('agent_runs')
        .set({ claimed_until: minutesAgo(1) })
        .execute()
      expect(await claimRun(AGENT_ROWS, tx, runId, now)).not.toBeNull()
    })
  })

  test('is written only by the process that claimed it: one that was considered dead writes nothing more', async () => {
    const { runId, contactId } = await openRun(await agent())
    const dead = await claim(runId)
    const alive = await claim(runId)
    const outcome = { status: 'evaluated', evaluation: EVALUATION } as const
    await expect(recordOutcome(timed(first), dead, contactId, outcome)).rejects.toThrow()
    await recordOutcome(timed(second), alive, contactId, outcome)
    await expect(recordOutcome(timed(first), alive, contactId, outcome)).rejects.toThrow()
    expect((await read(runId)).summary).toMatchObject({ contacts_evaluated: 1, actions_proposed: 1 })
  })

  test('whose process died is continued and completes', async () => {
    const { runId } = await openRun(await agent(), { ...deadClaim(), due_at: minutesAgo(1) })
    await swept(async () => (await read(runId)).status).toBe('completed')
  })

  test('that is stuck fails with a reason', async () => {
    const id = await agent()
    const { runId } = await openRun(id, { ...claimedNow(), due_at: minutesAgo(16), progressed_at: minutesAgo(16) })
    const { runId: forgotten } = await openRun(id, {
      status: 'queued',
      due_at: minutesAgo(-1),
      progressed_at: minutesAgo(25 * 60),
    })
    const { runId: fine } = await openRun(id, {
      ...claimedNow(),
      due_at: minutesAgo(16),
      progressed_at: minutesAgo(14),
    })
    await sweep(timed(first), STUCK_RUNS)
    await swept(() => read(runId)).toMatchObject({ status: 'failed', contact_results: [{ status: 'skipped' }] })
    expect((await read(runId)).error).toContain('made no progress')
    await swept(async () => (await read(forgotten)).status).toBe('failed')
    expect((await read(fine)).status).toBe('running')
  })

  test('that is interrupted repeatedly fails in the end', async () => {
    const more = { ...deadClaim(), due_at: minutesAgo(1), failures: FAILURES_MAX }
    const { runId } = await openRun(await agent(), more)
    await swept(async () => (await read(runId)).error).toContain(`interrupted ${FAILURES_MAX + 1} times`)
    const { runId: other } = await openRun(await agent())
    const { failure, ...kind } = agentKind({ ...timed(first), llm: first.config.llm, llmOutbound: first.llmOutbound })
    const failing: RunKind<'agent_runs'> = { ...kind, failure, step: () => Promise.reject(new Error('again')) }
    const statuses: string[] = []
    for (let attempt = 0; statuses.at(-1) !== 'failed'; attempt++) {
      if (attempt > FAILURES_MAX) throw new Error('it goes on for ever')
      // In a transaction, so that the services cannot continue it.
      await tenant.handle.transaction(async (tx) => {
        const run = { ...(await claimHeld(AGENT_ROWS, tx, other)), tenant: tx }
        await takeTurn(failing, timed(first), run, new AbortController().signal)
        await tx.db.updateTable('agent_runs').set({ due_at: null }).where('run_id', '=', other).execute()
      })
      statuses.push((await read(other)).status)
    }
    expect(statuses).toEqual([...Array.from({ length: FAILURES_MAX }, () => 'running'), 'failed'])
    expect(await read(other)).toMatchObject({
      error: expect.stringContaining('made no progress'),
      contact_results: [{ status: 'skipped' }],
    })
  })

  test('can be cancelled once, and its process writes nothing more', async () => {
    const { runId, contactId } = await openRun(await agent())
    const run = await claim(runId)
    await cancelAgentRun(tenant.handle, runId, now)
    const outcome = { status: 'evaluated', evaluation: EVALUATION } as const
    await expect(recordOutcome(timed(first), run, contactId, outcome)).rejects.toThrow()
    expect(await read(runId)).toMatchObject({
      status: 'cancelled',
      contact_results: [{ status: 'skipped', proposed_actions: [] }],
    })
    await expect(cancelAgentRun(tenant.handle, runId, now)).rejects.toMatchObject({ status: 409, code: 'run_ended' })
    await expect(cancelAgentRun(tenant.handle, newId(), now)).rejects.toMatchObject({ status: 404 })
    const stranger = await createTestTenant(first)
    await expect(cancelAgentRun(stranger.handle, runId, now)).rejects.toMatchObject({ status: 404 })
  })
})

describe('costs', () => {
  const CAPS = { perRun: null, perMonth: 1 }
  const never = new AbortController().signal
  const claimed = async () => {
    const { runId, contactId } = await openRun(await agent())
    const run = await claim(runId)
    const reserved = { usd: 0 }
    const reserve = reserveCostFor(run, CAPS, reserved, () => now, never)
    return { run, runId, contactId, reserved, reserve }
  }
  const costing = (costUsd: number) =>
    ({
      status: 'evaluated',
      evaluation: { ...EVALUATION, usage: { inputTokens: 1, outputTokens: 1, costUsd } },
    }) as const
  /** Resolves once a process has checked the cap and waits. */
  const waits = async (asked: Promise<void>) => {
    let isDone = false
    asked.then(() => (isDone = true)).catch(() => (isDone = true))
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(isDone).toBe(false)
  }

  test('reserved for a request in progress prevent a run in another process from exceeding the cap', async () => {
    const [one, two] = [await claimed(), await claimed()]
    await one.reserve(0.6)
    const asked = two.reserve(0.6)
    await waits(asked)
    await recordOutcome(timed(first), one.run, one.contactId, costing(0.3), one.reserved)
    await asked
    expect(await costOfMonth(tenant.handle, now)).toBe(0.3)
    await recordOutcome(timed(second), two.run, two.contactId, costing(0.5), two.reserved)
    const three = await claimed()
    await expect(three.reserve(0.3)).rejects.toThrow('$0.2000 is left, and the next answer may cost $0.3000')
    await three.reserve(0.2)
  })

  test('reserved by a dead process are released when its run continues', async () => {
    const [dead, other] = [await claimed(), await claimed()]
    await dead.reserve(0.6)
    const asked = other.reserve(0.6)
    await waits(asked)
    await claim(dead.runId)
    await asked
    await expect(dead.reserve(0.1)).rejects.toBeInstanceOf(ClaimLost)
  })

  test('of an answer that arrives after the run was cancelled still count', async () => {
    const { run, runId, contactId, reserved, reserve } = await claimed()
    await reserve(0.6)
    await cancelAgentRun(tenant.handle, runId, now)
    await expect(recordOutcome(timed(first), run, contactId, costing(0.4), reserved)).rejects.toBeInstanceOf(ClaimLost)
    expect((await read(runId)).usage).toEqual({ input_tokens: 1, output_tokens: 1, cost_usd: 0.4 })
    expect(await costOfMonth(tenant.handle, now)).toBe(0.4)
  })
})

describe('during a run', () => {
  const claimed = async () => {
    const agentId = await agent()
    const { runId, contactId } = await openRun(agentId)
    const run = await claim(runId)
    return { agentId, run, runId, contactId }
  }
  const outcome = { status: 'evaluated', evaluation: EVALUATION } as const

  test('a contact that is erased during its evaluation leaves nothing, and does not delay the others', async () => {
    const { run, runId, contactId } = await claimed()
    await tenant.handle.transaction((tx) => eraseFromRuns(tx, { contactId, email: null, visitorIds: [], keys: [] }))
    await recordOutcome(timed(first), run, contactId, outcome)
    expect(await read(runId)).toMatchObject({
      status: 'running',
      contact_results: [],
      summary: { actions_proposed: 0 },
    })
  })

  test('an agent can be deleted while its run has locked a contact and is about to write', async () => {
    const { agentId, runId, contactId } = await claimed()
    let deleting: Promise<TestResponse> | undefined
    const writing = tenant.handle.transaction(async (tx) => {
      await tx.db.updateTable('agent_run_contacts').set({ error: 'x' }).where('contact_id', '=', contactId).execute()
      deleting = tenant.call('DELETE', `/v1/agents/${agentId}`)
      await waitsForLock()
      await tx.db.updateTable('agent_runs').set({ error: 'x' }).where('run_id', '=', runId).execute()
    })
    // PostgreSQL aborts one of the two, usually the deletion, which started to wait first.
    await writing.catch(() => {})
    expect((await deleting)?.status).toBe(200)
  })

  test('an identity can be deleted while an action without one is approved', async () => {
    const identityId = await insertIdentity(tenant.handle)
    const contactId = await tenant.contact('ada@example.com')
    const { path, agentId } = await propose(tenant.handle, first.jobs, { contactId, ...MAIL })
    await tenant.call('PATCH', `/v1/agents/${agentId}`, { identity_id: identityId })
    const { approving } = await tenant.handle.transaction(async (tx) => {
      await tx.db.deleteFrom('identities').where('identity_id', '=', identityId).execute()
      const approving = tenant.call('POST', `${path}/approve`)
      await waitsForLock()
      return { approving }
    })
    const { status, body } = await approving
    expect([status, body.error.code]).toEqual([409, 'identity_required'])
  })

  async function waitsForLock(): Promise<void> {
    const blocked = sql<{ n: number }>`SELECT count(*)::int AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`
    const count = async () => (await blocked.execute(first.stores.database)).rows[0]?.n
    await expect.poll(count).toBeGreaterThan(0)
  }
})
