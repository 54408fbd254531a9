import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { actionOf, MAIL, propose, type TestProposal } from '../../../test/actions.ts'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, type Sender, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { createSandbox } from '../../identities/social/sandbox.ts'
import { suppressionOf } from '../../identities/suppressions.ts'
import { listAudit } from '../../operations/audit-list.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'
import { executeAction } from './execute.ts'
import type { Guardrail } from './guardrail.ts'
import type { ActionRef } from './queue.ts'
import type { ExecutionDependencies } from './senders.ts'
import { createSenders } from './senders.ts'
import { setAgentSettings } from './settings.ts'

const EMAIL = 'grace@example.com'

describe.skipIf(!hasDovecot)('the execution of a mail', () => {
  let bench: MailBench
  let tenant: TestTenant
  let sender: Sender
  let contactId: string
  let dependencies: ExecutionDependencies

  beforeAll(async () => {
    bench = await startMailBench()
    // Noon, so that the day of a daily limit does not end during a test.
    bench.pass((1.5 * DAY_MS - (bench.now().getTime() % DAY_MS)) % DAY_MS)
    const { writing, mail, jobs } = bench.service
    dependencies = {
      ...writing,
      jobs,
      senders: createSenders(mail, { social: createSandbox(bench.now), clock: bench.now }),
    }
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    sender = await bench.addSender(tenant)
    contactId = await tenant.contact(EMAIL)
    const { smtp } = bench.servers
    smtp.accepted.length = 0
    smtp.onRecipient = () => null
    smtp.onMail = () => null
  })

  const proposeMail = (more: Partial<TestProposal> = {}) =>
    propose(tenant.handle, bench.service.jobs, {
      contactId,
      identityId: sender.identityId,
      ...MAIL,
      now: bench.now(),
      ...more,
    })
  const ended = (ref: ActionRef) =>
    until(async () => {
      const action = await actionOf(tenant.handle, ref)
      expect(['executed', 'failed']).toContain(action.status)
      return action
    })
  const waiting = (ref: ActionRef) =>
    until(async () => {
      const action = await actionOf(tenant.handle, ref)
      expect(action.error).not.toBeNull()
      return action
    })
  const sent = () => bench.servers.smtp.accepted
  const failedRules = (guardrails: unknown) =>
    (guardrails as Guardrail[])
      .filter(({ passed, checked }) => !passed && checked === 'execution')
      .map(({ rule }) => rule)
  /** Executes the action like its job. */
  const execute = (ref: ActionRef) => executeAction(tenant.handle, dependencies, ref)

  test('an approved mail is sent once to the contact from the identity, and recorded completely', async () => {
    const { path, ref } = await proposeMail()
    expect(sent()).toHaveLength(0)
    await tenant.call('POST', `${path}/approve`)
    const action = await ended(ref)
    expect(action).toMatchObject({ status: 'executed', error: null, executed_at: expect.any(Date) })
    expect(sent()).toMatchObject([{ from: sender.mailbox.user, to: [EMAIL] }])
    const { message_id, recipient } = action.result as Record<string, string>
    expect([recipient, sent()[0]?.raw]).toEqual([EMAIL, expect.stringContaining(`<${message_id}>`)])
    expect((action.execution as { key: string }).key).toBe(message_id)
    const rules = (action.guardrails as unknown as Guardrail[]).map(({ checked }) => checked)
    expect([new Set(rules).size, rules.length]).toEqual([2, 20])
    await execute(ref)
    await Promise.all(Array.from({ length: 20 }, () => execute(ref)))
    expect(sent()).toHaveLength(1)
    const { entries } = await listAudit(tenant.handle, { subject_kind: 'action' }, { page: 1, limit: 10 })
    expect(entries.map((entry) => entry.action)).toEqual(['action.executed', 'action.approved'])
    expect(entries[0]?.details).toMatchObject({ message_id })
    // Audit entries outlive the erasure of the contact.
    expect(JSON.stringify(entries)).not.toContain(EMAIL)
    // ClickHouse has it shortly after PostgreSQL has the status.
    const own = await until(async () => {
      const { body } = await tenant.call('GET', '/v1/events?include=system&limit=100')
      const found = body.events.filter(({ event }: { event: string }) => event.startsWith('agent_action_'))
      const names = found.map(({ event }: { event: string }) => event).sort()
      expect(names).toEqual(['agent_action_executed', 'agent_action_proposed'])
      return found
    })
    expect(own[0]).toMatchObject({
      internal_contact_id: contactId,
      data: { run_id: ref.runId, action_index: 0, type: 'email_message', identity_id: sender.identityId },
    })
  })

  test('fifty concurrent executions send it once', async () => {
    await setAgentSettings(tenant.handle, { quiet_hours: null }, bench.now())
    const { path, ref } = await proposeMail()
    await Promise.all([tenant.call('POST', `${path}/approve`), ...Array.from({ length: 50 }, () => execute(ref))])
    await Promise.all(Array.from({ length: 20 }, () => execute(ref)))
    await ended(ref)
    expect(sent()).toHaveLength(1)
  })

  test('it is sent immediately if the playbook requires no approval', async () => {
    const { ref, status } = await proposeMail({ requireApproval: false })
    expect(status).toBe('approved')
    expect(await ended(ref)).toMatchObject({ status: 'executed', auto_approved: true })
  })

  test('params that changed after the approval are not sent', async () => {
    const { path, ref } = await proposeMail()
    await tenant.call('POST', `${path}/approve`)
    const { ref: other, path: otherPath } = await proposeMail({ contactId: await tenant.contact('b@example.com') })
    // Like an attacker who can write to the database but not approve, while the action is delayed.
    await setAgentSettings(tenant.handle, { daily_limit_per_identity: 1 }, bench.now())
    await ended(ref)
    await tenant.call('POST', `${otherPath}/approve`)
    const params = { subject: 'Hello', message: 'Send money' }
    const forged = { params: JSON.stringify(params), due_at: bench.now() }
    await tenant.handle.db.updateTable('agent_actions').set(forged).where('run_id', '=', other.runId).execute()
    await execute(other)
    expect(await actionOf(tenant.handle, other)).toMatchObject({ status: 'failed', error: { code: 'params_changed' } })
    expect(sent()).toHaveLength(1)
  })

  test('a guardrail that failed after the approval stops it', async () => {
    const { path, ref } = await proposeMail()
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { do_not_contact: true } })
    await tenant.call('POST', `${path}/approve`)
    const action = await ended(ref)
    expect(action).toMatchObject({ status: 'failed', error: { code: 'guardrail', rule: 'do_not_contact' } })
    expect(failedRules(action.guardrails)).toEqual(['do_not_contact'])
    expect(sent()).toHaveLength(0)
  })

  test.each([
    [{ has_opted_out_of_email: true }, 'unsubscribed'],
    [{ hs_email_optout: 'true' }, 'unsubscribed'],
    [{ doNotContact: 1 }, 'unsubscribed'],
    [{ accepts_marketing: 'no' }, 'unsubscribed'],
    [{ bounced: 'yes' }, 'bounced'],
  ])('a contact with %j gets no mail, approved before it said so or without a person', async (properties, rule) => {
    const { path, ref } = await proposeMail()
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
    await tenant.call('POST', `${path}/approve`)
    const action = await ended(ref)
    expect(action).toMatchObject({ status: 'failed', error: { code: 'guardrail', rule } })
    expect(failedRules(action.guardrails)).toEqual([rule])
    const { ref: automatic } = await proposeMail({ requireApproval: false })
    expect(await actionOf(tenant.handle, automatic)).toMatchObject({ status: 'rejected', error: { rule } })
    expect(sent()).toEqual([])
  })

  test('of two concurrent approved outreaches to one contact, one is sent', async () => {
    const proposals = await Promise.all(Array.from({ length: 6 }, () => proposeMail()))
    await Promise.all(proposals.map(({ path }) => tenant.call('POST', `${path}/approve`)))
    const actions = await Promise.all(proposals.map(({ ref }) => ended(ref)))
    expect(actions.filter(({ status }) => status === 'executed')).toHaveLength(1)
    const errors = actions.flatMap(({ error }) => error ?? [])
    expect(errors).toEqual(Array(5).fill(expect.objectContaining({ code: 'guardrail', rule: 'outreach_interval' })))
    expect(sent()).toHaveLength(1)
  })

  test('outreach of an agent that was deleted later still counts', async () => {
    const { ref, agentId } = await proposeMail({ requireApproval: false })
    await ended(ref)
    await tenant.handle.db.deleteFrom('agents').where('agent_id', '=', agentId).execute()
    expect((await proposeMail()).status).toBe('rejected')
  })

  test('a deleted contact, identity or account fails it with a reason', async () => {
    const deleted = await proposeMail()
    await tenant.call('DELETE', `/v1/contacts/${contactId}`)
    await tenant.call('POST', `${deleted.path}/approve`)
    expect((await ended(deleted.ref)).error).toMatchObject({ code: 'contact_deleted' })

    contactId = await tenant.contact('other@example.com')
    const orphaned = await proposeMail()
    await setAgentSettings(tenant.handle, { daily_limit_per_identity: 1 }, bench.now())
    const place = { run_id: newId(), contact_id: newId(), action_index: 0, agent_id: newId() }
    await tenant.handle.db
      .insertInto('agent_outreach')
      .values({ ...place, identity_id: sender.identityId, type: 'email_message', at: bench.now() })
      .execute()
    await tenant.call('POST', `${orphaned.path}/approve`)
    await tenant.call('DELETE', `/v1/identities/${sender.identityId}`)
    await tenant.handle.db.updateTable('agent_actions').set({ due_at: bench.now() }).execute()
    await execute(orphaned.ref)
    expect((await actionOf(tenant.handle, orphaned.ref)).error).toMatchObject({ code: 'identity_deleted' })

    sender = await bench.addSender(tenant)
    await tenant.handle.db.deleteFrom('email_accounts').execute()
    const mute = await proposeMail({ requireApproval: false })
    expect((await ended(mute.ref)).error).toMatchObject({ code: 'identity_without_email' })
    expect(sent()).toHaveLength(0)
    expect(await tenant.handle.db.selectFrom('agent_outreach').select('run_id').execute()).toHaveLength(1)
  })

  test('a refused recipient fails it permanently, and does not count as outreach', async () => {
    bench.servers.smtp.onRecipient = () => ({ code: 550, text: '5.1.1 no such user' })
    const { ref } = await proposeMail({ requireApproval: false })
    expect(await ended(ref)).toMatchObject({ status: 'failed', error: { code: 'mail_refused' }, executed_at: null })
    expect(await suppressionOf(tenant.handle, EMAIL)).toMatchObject({ reason: 'bounced' })
    expect(await tenant.handle.db.selectFrom('agent_outreach').selectAll().execute()).toEqual([])
    await until(async () => {
      const { body } = await tenant.call('GET', '/v1/events?event_type=agent_action_failed')
      expect(body.events).toMatchObject([{ data: { run_id: ref.runId, error: { code: 'mail_refused' } } }])
    })
  })

  test('an unavailable mail server delays it with a reason', async () => {
    bench.servers.smtp.onRecipient = () => ({ code: 451, text: '4.3.0 try again later' })
    const { ref } = await proposeMail({ requireApproval: false })
    const resting = await waiting(ref)
    expect(resting).toMatchObject({ status: 'approved', error: { code: 'mail_unavailable' } })
    expect(resting.due_at?.getTime()).toBeGreaterThan(bench.now().getTime())
    await execute(ref)
    expect(sent()).toHaveLength(0)
    bench.servers.smtp.onRecipient = () => null
    bench.pass(HOUR_MS)
    await execute(ref)
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'executed', error: null })
    expect(sent()).toHaveLength(1)
  })

  test("the account's own limit delays it until a mail is allowed again", async () => {
    sender = await bench.addSender(tenant, { dailyLimit: 1 })
    await ended((await proposeMail({ requireApproval: false })).ref)
    contactId = await tenant.contact('second@example.com')
    const { ref } = await proposeMail({ requireApproval: false })
    expect((await actionOf(tenant.handle, ref)).due_at?.getTime()).toBeGreaterThan(bench.now().getTime() + 23 * HOUR_MS)
    // Changing due_at does not bypass the limit.
    await tenant.handle.db.updateTable('agent_actions').set({ due_at: null }).where('run_id', '=', ref.runId).execute()
    await execute(ref)
    expect(await waiting(ref)).toMatchObject({ status: 'approved', error: { code: 'mail_daily_limit' } })
    bench.pass(25 * HOUR_MS)
    await execute(ref)
    expect((await actionOf(tenant.handle, ref)).status).toBe('executed')
    expect(sent()).toHaveLength(2)
  })

  test('quiet hours delay it until they end', async () => {
    const at = (ms: number) => new Date(bench.now().getTime() + ms).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-HOUR_MS), to: at(HOUR_MS) }
    await setAgentSettings(tenant.handle, { quiet_hours }, bench.now())
    const { ref } = await proposeMail({ requireApproval: false })
    await execute(ref)
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'approved', execution: null })
    // Changing due_at does not bypass the quiet hours.
    await tenant.handle.db.updateTable('agent_actions').set({ due_at: null }).execute()
    await execute(ref)
    const held = await actionOf(tenant.handle, ref)
    expect([held.status, held.due_at?.toISOString().slice(11, 16)]).toEqual(['approved', quiet_hours.to])
    bench.pass(HOUR_MS)
    await execute(ref)
    expect((await actionOf(tenant.handle, ref)).status).toBe('executed')
  })

  test('an approval expires after 30 days', async () => {
    await setAgentSettings(tenant.handle, { daily_limit_per_identity: 1 }, bench.now())
    await ended((await proposeMail({ requireApproval: false })).ref)
    contactId = await tenant.contact('second@example.com')
    const { ref } = await proposeMail({ requireApproval: false })
    bench.pass(31 * DAY_MS)
    await execute(ref)
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'failed', error: { code: 'approval_expired' } })
    expect(sent()).toHaveLength(1)
  })

  test('after a broken connection it is searched for in the Sent folder and never resent', async () => {
    bench.servers.smtp.onMail = () => 'drop'
    const { ref } = await proposeMail({ requireApproval: false })
    const action = await ended(ref)
    expect(action).toMatchObject({ status: 'failed', error: { code: 'mail_outcome_unknown' } })
    expect(sent()).toHaveLength(1)
    await execute(ref)
    expect(sent()).toHaveLength(1)
    // It may have arrived, so it counts as outreach.
    expect((await proposeMail()).status).toBe('rejected')
  })

  test("another tenant's job cannot execute it", async () => {
    const { path, ref } = await proposeMail()
    await tenant.call('POST', `${path}/approve`)
    await ended(ref)
    const stranger = await createTestTenant(bench.service)
    await executeAction(stranger.handle, dependencies, ref)
    expect(sent()).toHaveLength(1)
    expect((await listAudit(stranger.handle, {}, { page: 1, limit: 1 })).total).toBe(0)
  })
})
