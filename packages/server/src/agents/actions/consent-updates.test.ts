import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, startMailBench } from '../../../test/mail.ts'
import { createTestTenant, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { createSandbox } from '../../identities/social/sandbox.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'
import { executeAction } from './execute.ts'
import { createSenders } from './senders.ts'

/* An agent may say that a contact is not written to, in a property such as `status`, and then nobody is: but it lifts nothing. */

const MAIL = { type: 'email_message', params: { subject: 'Hello', message: 'How is it going?' } }
const EMAIL = 'grace@example.com'

describe.skipIf(!hasDovecot)('a crm_update of an agent', () => {
  let bench: MailBench
  let tenant: TestTenant
  let agentId: string
  let contactId: string

  beforeAll(async () => {
    bench = await startMailBench()
    // Noon, so that the quiet hours of a test do not begin or end by themselves.
    bench.pass((1.5 * DAY_MS - (bench.now().getTime() % DAY_MS)) % DAY_MS)
  })
  afterAll(() => bench?.close())
  beforeEach(async () => {
    tenant = await createTestTenant(bench.service)
    const { identityId } = await bench.addSender(tenant)
    const settings = { name: 'Scout', capabilities: ['email', 'crm_sync'], identity_id: identityId, enabled: true }
    agentId = (await tenant.call('POST', '/v1/agents', settings)).body.agent.agent_id
    contactId = await tenant.contact(EMAIL, { status: 'lead', timezone: 'UTC' })
    bench.servers.smtp.accepted.length = 0
  })

  const propose = (action: object) =>
    tenant.call('POST', `/v1/agents/${agentId}/actions`, { contact_id: contactId, reason: 'They asked.', ...action })
  const update = (properties: object) => propose({ type: 'crm_update', params: { properties } })
  const pathOf = ({ run_id, contact_id, action_index }: Record<string, unknown>) =>
    `/v1/agents/runs/${run_id}/contacts/${contact_id}/actions/${action_index}`

  /** Proposes an action, which must wait. @returns its path. */
  async function waiting(action: object): Promise<string> {
    const { status, body } = await propose(action)
    expect([status, body.action?.status]).toEqual([201, 'pending_approval'])
    return pathOf(body.action)
  }
  async function approve(path: string) {
    expect((await tenant.call('POST', `${path}/approve`)).status).toBe(200)
  }
  const ended = (path: string) =>
    until(async () => {
      const { action } = (await tenant.call('GET', path)).body
      expect(['executed', 'failed']).toContain(action.status)
      return action
    })
  /** Performs an update that a person approves. */
  async function updated(properties: object) {
    const path = await waiting({ type: 'crm_update', params: { properties } })
    await approve(path)
    return ended(path)
  }
  const contact = async () => (await tenant.call('GET', `/v1/contacts/${contactId}`)).body.contact
  const sent = () => bench.servers.smtp.accepted
  const failedRules = ({ guardrails }: { guardrails: { rule: string; passed: boolean }[] }) =>
    guardrails.filter(({ passed }) => !passed).map(({ rule }) => rule)

  test.each([
    ['bounced', 'bounced'],
    ['unsubscribed', 'unsubscribed'],
    ['Do not contact', 'unsubscribed'],
    ['CLEANED', 'bounced'],
  ])('with the status %j stops a mail that waits for approval, and every later one', async (status, rule) => {
    const mail = await waiting(MAIL)
    expect(await updated({ status })).toMatchObject({ status: 'executed', result: { changed: ['status'] } })
    expect((await contact()).consent).toEqual({ property: 'status', value: status, rule })
    const [listed] = (await tenant.call('GET', '/v1/approvals')).body.actions
    expect([pathOf(listed), failedRules(listed)]).toEqual([mail, [rule]])
    await approve(mail)
    expect(await ended(mail)).toMatchObject({ status: 'failed', error: { code: 'guardrail', rule } })
    const later = await propose(MAIL)
    expect([later.status, later.body.action]).toMatchObject([201, { status: 'rejected', error: { rule } }])
    expect(sent()).toEqual([])
  })

  test('stops a mail that was approved before and waits for its time', async () => {
    const at = (ms: number) => new Date(bench.now().getTime() + ms).toISOString().slice(11, 16)
    const quiet_hours = { from: at(-HOUR_MS), to: at(HOUR_MS) }
    expect((await tenant.call('PATCH', '/v1/agent-settings', { quiet_hours })).status).toBe(200)
    const mail = await waiting(MAIL)
    await approve(mail)
    const { action } = (await tenant.call('GET', mail)).body
    expect(action).toMatchObject({ status: 'approved', error: null })
    expect(await updated({ status: 'unsubscribed' })).toMatchObject({ status: 'executed' })
    bench.pass(HOUR_MS)
    // Its job waits for the clock of the database, which a test cannot move.
    const { writing, mail: mails, jobs } = bench.service
    const senders = createSenders(mails, { social: createSandbox(bench.now), clock: bench.now })
    const ref = { runId: action.run_id, contactId, actionIndex: action.action_index }
    await executeAction(tenant.handle, { ...writing, jobs, senders }, ref)
    expect(await ended(mail)).toMatchObject({ status: 'failed', error: { code: 'guardrail', rule: 'unsubscribed' } })
    expect(sent()).toEqual([])
  })

  test.each(['doNotContact', 'do_not_contact', 'unsubscribed', 'HasOptedOutOfEmail', 'Email Opt Out', 'bounced'])(
    'of %s is refused, whether it says so or lifts it',
    async (name) => {
      for (const value of [true, false, null]) {
        const { status, body } = await update({ [name]: value })
        expect([status, body.error?.details]).toMatchObject([400, [{ path: `params.properties.${name}` }]])
      }
      const path = await waiting({ type: 'crm_update', params: { properties: { city: 'London' } } })
      const edited = await tenant.call('POST', `${path}/approve`, { params: { properties: { [name]: false } } })
      expect(edited.status).toBe(400)
    },
  )

  test.each([
    [
      'a person',
      async () => tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { status: 'unsubscribed' } }),
    ],
    [
      'a CRM',
      async () =>
        tenant.call('POST', '/v1/sources/crm/contacts', {
          records: [{ external_id: '1', email: EMAIL, properties: { status: 'unsubscribed' } }],
        }),
    ],
    ['an agent', async () => updated({ status: 'unsubscribed' })],
  ])('does not lift what %s said', async (_who, silence) => {
    await silence()
    expect((await contact()).properties.status).toBe('unsubscribed')
    for (const status of ['customer', null, 'subscribed']) {
      expect(await updated({ status })).toMatchObject({ status: 'failed', error: { code: 'invalid_params' } })
    }
    expect((await contact()).consent).toMatchObject({ property: 'status', rule: 'unsubscribed' })
    expect((await propose(MAIL)).body.action).toMatchObject({ status: 'rejected', error: { rule: 'unsubscribed' } })
    expect(sent()).toEqual([])
  })

  test('that was proposed before the contact opted out does not lift that either', async () => {
    const path = await waiting({ type: 'crm_update', params: { properties: { status: 'customer' } } })
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { status: 'unsubscribed' } })
    await approve(path)
    expect(await ended(path)).toMatchObject({ status: 'failed', error: { code: 'invalid_params' } })
    expect((await contact()).properties.status).toBe('unsubscribed')
  })
})
