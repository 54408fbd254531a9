import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, type Sender, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { createSegment } from '../../segments/segments.ts'

const EMAIL = 'grace@example.com'

/** From the trigger of an agent to the mail in the contact's mailbox, using only the public API. */
describe.skipIf(!hasDovecot)('an agent with a mailbox', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender
  let contactId: string

  beforeAll(async () => {
    bench = await startMailBench()
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
    contactId = await tenant.contact(EMAIL, { firstname: 'Grace', company: 'Navy' })
    bench.servers.smtp.accepted.length = 0
  })

  async function createAgent(more: object = {}): Promise<string> {
    const { status, body } = await tenant.call('POST', '/v1/agents', {
      name: 'Outreach',
      playbook_template: 'cold_outreach',
      capabilities: ['email'],
      identity_id: sender.identityId,
      llm_config: { provider: 'template' },
      ...more,
    })
    expect(status).toBe(201)
    return body.agent.agent_id
  }

  /** Triggers a run and waits for its end. */
  async function runOf(agentId: string) {
    const { body } = await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids: [contactId] })
    return until(async () => {
      const { run } = (await tenant.call('GET', `/v1/agents/runs/${body.job_id}`)).body
      expect(run.status).toBe('completed')
      return run
    })
  }

  const actionPath = (runId: string) => `/v1/agents/runs/${runId}/contacts/${contactId}/actions/0`
  const action = async (runId: string) => {
    const { run } = (await tenant.call('GET', `/v1/agents/runs/${runId}`)).body
    return run.contact_results[0].proposed_actions[0]
  }
  const executed = (runId: string) =>
    until(async () => {
      const found = await action(runId)
      expect(found.status).toBe('executed')
      return found
    })

  test('proposes a mail; after fifty concurrent approvals it is sent once; the next run respects the interval', async () => {
    const agentId = await createAgent()
    const run = await runOf(agentId)
    expect(run.summary).toMatchObject({ actions_proposed: 1, actions_pending_approval: 1, errors: 0 })
    const proposed = await action(run._id)
    expect(proposed).toMatchObject({
      type: 'email_message',
      status: 'pending_approval',
      identity_id: sender.identityId,
    })
    expect(bench.servers.smtp.accepted).toHaveLength(0)
    const approvals = Array.from({ length: 50 }, () => tenant.call('POST', `${actionPath(run._id)}/approve`))
    const statuses = (await Promise.all(approvals)).map(({ status }) => status).sort()
    expect(statuses).toEqual([200, ...Array(49).fill(409)])
    await executed(run._id)
    const { accepted } = bench.servers.smtp
    expect(accepted).toMatchObject([{ from: sender.mailbox.user, to: [EMAIL] }])
    expect(accepted[0]?.raw).toContain(`Subject: ${proposed.params.subject}`)

    const again = await runOf(agentId)
    expect(again.summary).toMatchObject({ actions_pending_approval: 0 })
    const refused = await action(again._id)
    expect(refused).toMatchObject({ status: 'rejected', error: { code: 'guardrail', rule: 'outreach_interval' } })
    expect((await tenant.call('POST', `${actionPath(again._id)}/approve`)).status).toBe(409)
    expect(accepted).toHaveLength(1)
    const [outcome] = (await tenant.call('GET', `/v1/agents/${agentId}/outcomes`)).body.outcomes
    expect(outcome).toMatchObject({ proposed: 2, approved: 1, stopped_by_guardrails: 1, sent: 1, sent_recently: 1 })
  })

  test('whose playbook requires no approval sends immediately, and the action is auto_approved', async () => {
    const run = await runOf(await createAgent({ playbook: { require_approval: false } }))
    expect(run.summary).toMatchObject({ actions_auto_approved: 1, actions_pending_approval: 0 })
    expect(await executed(run._id)).toMatchObject({
      auto_approved: true,
      decided_by: { kind: 'agent', name: 'Outreach' },
    })
    expect(bench.servers.smtp.accepted).toHaveLength(1)
  })

  test('is deleted with its runs, and pending actions are never executed', async () => {
    const agentId = await createAgent()
    const run = await runOf(agentId)
    expect((await tenant.call('DELETE', `/v1/agents/${agentId}`)).status).toBe(200)
    expect((await tenant.call('POST', `${actionPath(run._id)}/approve`)).status).toBe(404)
  })

  test('changes contacts like any writer: segments and events follow', async () => {
    const filter = { match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'equals', value: 'sql' }] }
    const { segmentId } = await createSegment(tenant.handle, { name: 'SQL', description: null, filter }, bench.now())
    // A segment follows changes only after its first evaluation.
    await until(async () => {
      const { evaluated_at } = await tenant.handle.db
        .selectFrom('segments')
        .select('evaluated_at')
        .executeTakeFirstOrThrow()
      expect(evaluated_at).not.toBeNull()
    })
    const messages = { crm_update: { properties: { lifecyclestage: 'sql' } } }
    const run = await runOf(await createAgent({ capabilities: ['crm_sync'], playbook: { messages } }))
    await executed(run._id)
    const members = await tenant.call('GET', `/v1/segments/${segmentId}/contacts`)
    expect(members.body.contacts.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([contactId])
    // ClickHouse has it shortly after PostgreSQL has the status.
    await until(async () => {
      const { body } = await tenant.call('GET', '/v1/events?event_type=segment_entered')
      expect(body.events).toHaveLength(1)
    })
  })
})
