import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { actionOf, NOTE, propose, type TestProposal } from '../../../test/actions.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { until } from '../../../test/webhooks.ts'
import { createSandbox } from '../../identities/social/sandbox.ts'
import { listAudit } from '../../operations/audit-list.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { createSegment } from '../../segments/segments.ts'
import { executeAction } from './execute.ts'
import type { ActionRef } from './queue.ts'
import type { ExecutionDependencies } from './senders.ts'
import { createSenders, type Senders } from './senders.ts'
import { setAgentSettings } from './settings.ts'

let service: TestService
let tenant: TestTenant
let contactId: string
let dependencies: ExecutionDependencies
/** The offset of the service's clock. */
let ahead = 0
const now = () => new Date(Date.now() + ahead)

beforeAll(async () => {
  service = await startTestService({}, { clock: now })
  const social = { social: createSandbox(now), clock: now }
  dependencies = { ...service.writing, jobs: service.jobs, senders: createSenders(service.mail, social) }
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact('ada@example.com', { lifecyclestage: 'lead', city: 'London' })
})
afterAll(() => service.close())

const proposeTo = (proposal: Omit<TestProposal, 'contactId'>) =>
  propose(tenant.handle, service.jobs, { contactId, now: now(), ...proposal })
const ended = (ref: ActionRef) =>
  until(async () => {
    const action = await actionOf(tenant.handle, ref)
    expect(['executed', 'failed']).toContain(action.status)
    return action
  })
const contact = async () => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact

describe('a note', () => {
  test('is written once by concurrent executions', async () => {
    const { ref, status } = await proposeTo(NOTE)
    expect(status).toBe('approved')
    await Promise.all(Array.from({ length: 20 }, () => executeAction(tenant.handle, dependencies, ref)))
    const action = await ended(ref)
    const { notes } = await contact()
    expect(notes).toMatchObject([
      { content: NOTE.params.content, note_id: (action.result as object as { note_id: string }).note_id },
    ])
    expect(action).toMatchObject({
      status: 'executed',
      auto_approved: true,
      decided_by: { kind: 'agent', name: 'Scout' },
    })
  })

  test('for a deleted contact fails with a reason', async () => {
    await tenant.call('DELETE', `/v1/contacts/${contactId}`)
    const { status, guardrails } = await proposeTo(NOTE)
    expect([status, guardrails]).toMatchObject(['rejected', [{ rule: 'contact_exists', passed: false }]])
  })
})

describe('a change of properties', () => {
  const update = (properties: Record<string, string | number | null>) =>
    proposeTo({ type: 'crm_update', params: { properties } })

  test("is the agent's write: with provenance, events and segments, and never twice", async () => {
    const filter = { match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'mql' }] }
    await createSegment(tenant.handle, { name: 'MQL', description: null, filter }, now())
    const { ref } = await update({ lifecyclestage: 'mql', score: 7 })
    await Promise.all(Array.from({ length: 10 }, () => executeAction(tenant.handle, dependencies, ref)))
    expect((await ended(ref)).result).toEqual({ changed: ['score', 'lifecyclestage'] })
    expect((await contact()).properties).toMatchObject({ lifecyclestage: 'mql', score: 7, city: 'London' })
    const { body } = await tenant.call('GET', `/v1/contacts/${contactId}?include=provenance`)
    expect(body.contact.properties_provenance.score).toMatchObject({ source: 'agent' })
    // ClickHouse has them shortly after PostgreSQL has the status.
    await until(async () => {
      const events = await tenant.call('GET', '/v1/events?include=system&limit=100')
      const names = events.body.events.map(({ event }: { event: string }) => event)
      const count = (name: string) => names.filter((each: string) => each === name).length
      expect([count('lifecycle_stage_changed'), count('agent_action_executed')]).toEqual([1, 1])
    })
  })

  test('is executed as proposed, even if it is outdated by then', async () => {
    const { ref } = await update({ city: 'London' })
    expect(await ended(ref)).toMatchObject({ status: 'executed', result: { changed: [] } })
  })

  test('with null removes only values that an agent wrote', async () => {
    await ended((await update({ score: 7 })).ref)
    await ended((await update({ score: null, city: null })).ref)
    const { properties } = await contact()
    expect(properties).not.toHaveProperty('score')
    expect(properties.city).toBe('London')
  })

  test('that would give the contact too many properties fails and changes nothing', async () => {
    const many = Object.fromEntries(Array.from({ length: 497 }, (_, index) => [`p${index}`, index]))
    const filled = await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: many })
    expect(filled.status).toBe(200)
    const { ref } = await update({ x: 1, y: 2 })
    expect(await ended(ref)).toMatchObject({ status: 'failed', error: { code: 'validation_error' } })
    expect((await contact()).properties).not.toHaveProperty('x')
  })

  test.each([
    ['email', 'eve@example.com'],
    ['lifecyclestage', 'nonsense'],
    ['do_not_contact', 'false'],
  ])('of %s to %s is refused even if the proposal was stored', async (key, value) => {
    const { ref } = await update({ [key]: value })
    expect(await ended(ref)).toMatchObject({ status: 'failed', error: { code: 'invalid_params' } })
    expect((await contact()).properties).toMatchObject({ email: 'ada@example.com', lifecyclestage: 'lead' })
  })
})

describe('a social message', () => {
  const outbox = () => tenant.handle.db.selectFrom('social_sandbox_outbox').selectAll().orderBy('created_at').execute()
  const profile = (name: string) => ({ linkedin_url: `https://network.example/in/${name}` })

  async function identity(username = 'ok@example.com'): Promise<string> {
    const identityId = await createIdentity(tenant)
    const flow = socialOf(tenant, identityId)
    await flow.until(await flow.begin(username), 'completed')
    return identityId
  }
  const message = async (identityId: string, to = 'ada') => {
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: profile(to) })
    return proposeTo({ type: 'social_message', params: { message: 'Hi' }, identityId, requireApproval: false })
  }

  test('and an invitation are delivered once each', async () => {
    const identityId = await identity()
    const { ref } = await message(identityId)
    await Promise.all(Array.from({ length: 10 }, () => executeAction(tenant.handle, dependencies, ref)))
    expect((await ended(ref)).status).toBe('executed')
    contactId = await tenant.contact('bob@example.com', profile('bob'))
    const invitation = await proposeTo({ type: 'social_connect', params: {}, identityId })
    await tenant.call('POST', `${invitation.path}/approve`)
    expect((await ended(invitation.ref)).status).toBe('executed')
    expect(await outbox()).toMatchObject([
      { kind: 'message', text: 'Hi', recipient_profile_url: 'https://network.example/in/ada' },
      { kind: 'connect', text: null, recipient_profile_url: 'https://network.example/in/bob' },
    ])
  })

  test('requires a profile of the contact and of the identity', async () => {
    const nowhere = await proposeTo({
      type: 'social_message',
      params: { message: 'Hi' },
      identityId: await identity(),
      requireApproval: false,
    })
    expect((await ended(nowhere.ref)).error).toMatchObject({ code: 'guardrail', rule: 'reachable' })
    const mute = await message(await createIdentity(tenant))
    expect((await ended(mute.ref)).error).toMatchObject({ code: 'identity_without_social' })
  })

  test('fails if the network refuses it, waits a day if a limit is reached, and is retried without a response', async () => {
    const refused = await message(await identity(), 'nobody')
    expect((await ended(refused.ref)).error).toMatchObject({ code: 'social_refused' })
    const limited = await message(await identity('refuse@example.com'))
    const resting = await until(async () => {
      const action = await actionOf(tenant.handle, limited.ref)
      expect(action.error).toMatchObject({ code: 'social_refused' })
      return action
    })
    expect(resting.status).toBe('approved')
    expect(resting.due_at?.getTime()).toBeGreaterThan(Date.now() + 23 * HOUR_MS)
    contactId = await tenant.contact('bob@example.com')
    const lost = await message(await identity(), 'unreachable')
    await until(async () => {
      const action = await actionOf(tenant.handle, lost.ref)
      expect(action).toMatchObject({ status: 'approved', error: { code: 'social_unavailable' } })
    })
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: profile('bob') })
    ahead += HOUR_MS
    await executeAction(tenant.handle, dependencies, lost.ref)
    expect((await actionOf(tenant.handle, lost.ref)).status).toBe('executed')
  })

  /** A message that the network may have accepted, because it did not respond. */
  async function lost(): Promise<{ ref: ActionRef; identityId: string }> {
    const identityId = await identity()
    const { ref } = await message(identityId, 'unreachable')
    await until(async () => {
      const action = await actionOf(tenant.handle, ref)
      expect(action).toMatchObject({ status: 'approved', error: { code: 'social_unavailable' } })
    })
    return { ref, identityId }
  }
  const counted = () => tenant.handle.db.selectFrom('agent_outreach').select('run_id').execute()

  test('that may have arrived is retried only outside quiet hours, and does not block itself', async () => {
    const { ref } = await lost()
    ahead += HOUR_MS
    const at = (ms: number) => new Date(now().getTime() + ms).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-HOUR_MS), to: at(HOUR_MS) }
    await setAgentSettings(tenant.handle, { quiet_hours, daily_limit_per_identity: 1 }, now())
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: profile('ada') })
    await executeAction(tenant.handle, dependencies, ref)
    const held = await actionOf(tenant.handle, ref)
    expect([held.status, held.due_at?.toISOString().slice(11, 16)]).toEqual(['approved', quiet_hours.to])
    expect(await outbox()).toEqual([])
    await setAgentSettings(tenant.handle, { quiet_hours: null }, now())
    await tenant.handle.db.updateTable('agent_actions').set({ due_at: now() }).execute()
    await executeAction(tenant.handle, dependencies, ref)
    expect((await actionOf(tenant.handle, ref)).status).toBe('executed')
  })

  test('that may have arrived counts as outreach, however it ends', async () => {
    const refused = await lost()
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: profile('nobody') })
    ahead += HOUR_MS
    await executeAction(tenant.handle, dependencies, refused.ref)
    expect((await actionOf(tenant.handle, refused.ref)).error).toMatchObject({ code: 'social_refused' })
    expect(await counted()).toHaveLength(1)
    contactId = await tenant.contact('bob@example.com')
    const orphaned = await lost()
    await tenant.call('DELETE', `/v1/identities/${orphaned.identityId}`)
    ahead += HOUR_MS
    await executeAction(tenant.handle, dependencies, orphaned.ref)
    expect((await actionOf(tenant.handle, orphaned.ref)).error).toMatchObject({ code: 'identity_deleted' })
    expect(await counted()).toHaveLength(2)
  })

  test('of an agent that is deleted during the send is in the audit log as sent', async () => {
    const { ref } = await lost()
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: profile('ada') })
    ahead += HOUR_MS
    const { senders } = dependencies
    const slow: Senders = {
      ...senders,
      send: async (of, action) => {
        const outcome = await senders.send(of, action)
        await tenant.handle.db.deleteFrom('agents').execute()
        return outcome
      },
    }
    await executeAction(tenant.handle, { ...dependencies, senders: slow }, ref)
    expect(await outbox()).toHaveLength(1)
    const { entries } = await listAudit(tenant.handle, { subject_kind: 'action' }, { page: 1, limit: 10 })
    expect(entries[0]).toMatchObject({ action: 'action.executed', details: { deleted_meanwhile: true } })
  })

  test('fails after days of retries, and counts as sent because it may have been', async () => {
    const { ref } = await message(await identity(), 'unreachable')
    await until(async () => expect((await actionOf(tenant.handle, ref)).error).not.toBeNull())
    for (let round = 0; round < 100; round++) {
      ahead += HOUR_MS
      await executeAction(tenant.handle, dependencies, ref)
    }
    expect(await actionOf(tenant.handle, ref)).toMatchObject({
      status: 'failed',
      error: { code: 'social_unavailable' },
    })
    expect(await tenant.handle.db.selectFrom('agent_outreach').select('run_id').execute()).toHaveLength(1)
  })
})
