import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  actionOf,
  insertAgent,
  insertIdentity,
  insertMailbox,
  MAIL,
  NOTE,
  propose,
  type TestProposal,
} from '../../../test/actions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { recordMessages } from '../../conversations/record.ts'
import { type SuppressionReason, suppress } from '../../identities/suppressions.ts'
import { listAudit } from '../../operations/audit-list.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS } from '../../platform/time.ts'
import { readAgentSettings, setAgentSettings } from './settings.ts'

const EMAIL = 'ada@example.com'

let service: TestService
let tenant: TestTenant
let contactId: string
let identityId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  contactId = await tenant.contact(EMAIL)
  identityId = await insertIdentity(tenant.handle)
  await insertMailbox(tenant.handle, identityId)
})

const proposeMail = (more: Partial<TestProposal> = {}) =>
  propose(tenant.handle, service.jobs, { contactId, identityId, ...MAIL, ...more })

const failedRules = ({ guardrails }: { guardrails: { rule: string; passed: boolean }[] }) =>
  guardrails.filter(({ passed }) => !passed).map(({ rule }) => rule)

/** Records an outreach to the contact. */
async function reached(at: Date, agentId = newId()): Promise<void> {
  const place = { run_id: newId(), contact_id: contactId, action_index: 0, agent_id: agentId, identity_id: identityId }
  await tenant.handle.db
    .insertInto('agent_outreach')
    .values({ ...place, type: 'email_message', at })
    .execute()
}

async function writes(from: string, sentAt: Date, isAutomatic = false): Promise<void> {
  await recordMessages(tenant.handle, service.writing, [
    {
      channel: 'email',
      source: 'email',
      messageId: `${newId()}@example.com`,
      threadKey: null,
      inReplyTo: null,
      references: [],
      subject: 'Re: Hello',
      from: { address: from, name: null },
      to: [{ address: 'grace@sender.example', name: null }],
      cc: [],
      sentAt,
      direction: 'inbound',
      text: 'Tell me more.',
      html: null,
      attachments: [],
      identityId: null,
      isAutomatic,
    },
  ])
}

test('an outreach that passes all guardrails waits for approval, and shows the checks', async () => {
  const proposed = await proposeMail()
  expect(proposed.status).toBe('pending_approval')
  expect(proposed.guardrails.map(({ rule, passed, checked }) => [rule, passed, checked])).toEqual(
    [
      'do_not_contact',
      'unsubscribed',
      'bounced',
      'reachable',
      'identity',
      'mailbox',
      'mailbox_limit',
      'daily_limit',
      'outreach_interval',
      'replied',
      'quiet_hours',
    ].map((rule) => [rule, true, 'proposal']),
  )
  expect((await actionOf(tenant.handle, proposed.ref)).guardrails).toEqual(proposed.guardrails)
})

test('outreach to a merged contact counts for the survivor; an action for the merged contact names the survivor', async () => {
  const survivor = await tenant.contact('survivor@example.com')
  const waiting = await proposeMail()
  await reached(new Date())
  expect((await tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into: survivor })).status).toBe(200)
  expect(failedRules(await proposeMail({ contactId: survivor }))).toEqual(['outreach_interval'])
  const { run_id, action_index } = await tenant.handle.db
    .selectFrom('agent_actions')
    .select(['run_id', 'action_index'])
    .where('contact_id', '=', contactId)
    .executeTakeFirstOrThrow()
  expect(waiting.status).toBe('pending_approval')
  await tenant.call('POST', `/v1/agents/runs/${run_id}/contacts/${contactId}/actions/${action_index}/approve`)
  await expect
    .poll(async () => (await actionOf(tenant.handle, waiting.ref)).guardrails)
    .toContainEqual(
      expect.objectContaining({ rule: 'contact_exists', message: `The contact was merged into ${survivor}.` }),
    )
})

describe('a contact that must not be contacted', () => {
  test.each([
    [{ do_not_contact: true }, 'do_not_contact'],
    [{ do_not_contact: 'TRUE' }, 'do_not_contact'],
    [{ do_not_contact: 1 }, 'do_not_contact'],
    [{ do_not_contact: ' yes ' }, 'do_not_contact'],
    [{ do_not_contact: 'on' }, 'do_not_contact'],
    [{ unsubscribed: '2026-01-31' }, 'unsubscribed'],
    [{ unsubscribed: true }, 'unsubscribed'],
    [{ unsubscribed_at: '2026-01-31T08:00:00Z' }, 'unsubscribed'],
    [{ has_opted_out_of_email: true }, 'unsubscribed'],
    [{ HasOptedOutOfEmail: 'true' }, 'unsubscribed'],
    [{ hs_email_optout: true }, 'unsubscribed'],
    [{ hs_email_optout_10841063: 'true' }, 'unsubscribed'],
    [{ doNotContact: true }, 'unsubscribed'],
    [{ 'Email Opt Out': '1' }, 'unsubscribed'],
    [{ do_not_email: 'yes' }, 'unsubscribed'],
    [{ complained: true }, 'unsubscribed'],
    [{ 'Email Marketing Consent': 'NEVER_SUBSCRIBED' }, 'unsubscribed'],
    [{ accepts_marketing: false }, 'unsubscribed'],
    [{ mailchimp_status: 'unsubscribed' }, 'unsubscribed'],
    [{ 'custom.do_not_contact': true }, 'unsubscribed'],
    [{ et4ae5__HasOptedOutOfEmail__c: 'true' }, 'unsubscribed'],
    [{ 'Email Opt-Out (legacy)': 'yes' }, 'unsubscribed'],
    [{ subscribed: false }, 'unsubscribed'],
    [{ consent_status: 'withdrawn' }, 'unsubscribed'],
    [{ 'Kein Newsletter': 'ja' }, 'unsubscribed'],
    [{ Désabonné: '√' }, 'unsubscribed'],
    [{ Tags: ['vip', 'unsubscribed'] }, 'unsubscribed'],
    [{ hs_email_bounce: 3 }, 'bounced'],
    [{ bounced: true }, 'bounced'],
    [{ 'Email Suppressions': 'HARD_BOUNCE' }, 'bounced'],
    [{ status: 'cleaned' }, 'bounced'],
  ])('with %j gets no outreach, with or without approval', async (properties, rule) => {
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
    for (const requireApproval of [true, false]) {
      const proposed = await proposeMail({ requireApproval })
      expect([proposed.status, failedRules(proposed)]).toEqual(['rejected', [rule]])
      const action = await actionOf(tenant.handle, proposed.ref)
      expect(action).toMatchObject({
        status: 'rejected',
        auto_approved: false,
        decided_by: { kind: 'service' },
        error: { code: 'guardrail', rule },
        params_hash: null,
      })
      const approval = await tenant.call('POST', `${proposed.path}/approve`)
      expect([approval.status, approval.body.error.code]).toEqual([409, 'invalid_action_state'])
    }
    const { entries } = await listAudit(tenant.handle, {}, { page: 1, limit: 10 })
    expect(entries.map(({ actor, details }) => [actor.kind, details.automatic])).toEqual([
      ['service', true],
      ['service', true],
    ])
    const note = await propose(tenant.handle, service.jobs, { contactId, ...NOTE })
    expect([note.status, note.guardrails]).toEqual(['approved', []])
  })

  test.each([
    [{ do_not_contact: false }],
    [{ do_not_contact: ' No ' }],
    [{ unsubscribed: '' }],
    [{ unsubscribed: 0 }],
    [{ do_not_call: true }],
    [{ accepts_marketing: true }],
    [{ hs_email_optout: 'false' }],
  ])('is not one with %j', async (properties) => {
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties })
    expect((await proposeMail()).status).toBe('pending_approval')
  })

  test.each<[SuppressionReason, string]>([
    ['unsubscribed', 'unsubscribed'],
    ['complained', 'unsubscribed'],
    ['manual', 'unsubscribed'],
    ['bounced', 'bounced'],
  ])('whose address is suppressed as %s fails the rule %s', async (reason, rule) => {
    await suppress(tenant.handle, { address: EMAIL, reason, details: '550 no such user' }, new Date())
    const proposed = await proposeMail()
    expect([proposed.status, failedRules(proposed)]).toEqual(['rejected', [rule]])
  })

  test('is not contacted on the social network either after an opt-out, but is after a bounce', async () => {
    const message = { type: 'social_message', params: { message: 'Hi' } } as const
    await tenant.call('PUT', `/v1/contacts/${contactId}`, {
      properties: { bounced: true, linkedin_url: 'https://a.example' },
    })
    expect((await proposeMail(message)).status).toBe('pending_approval')
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { hs_email_optout: 'true' } })
    for (const type of ['social_message', 'social_connect'] as const) {
      const proposed = await proposeMail({ ...message, type })
      expect([proposed.status, failedRules(proposed)]).toEqual(['rejected', ['unsubscribed', 'social_profile']])
    }
  })

  test('is named with the property that says so', async () => {
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { HasOptedOutOfEmail: 'true' } })
    const { guardrails } = await proposeMail()
    expect(guardrails.find(({ rule }) => rule === 'unsubscribed')?.message).toBe(
      'The contact has unsubscribed (HasOptedOutOfEmail is true).',
    )
  })

  test('is not affected by suppressions of another tenant', async () => {
    await suppress(tenant.handle, { address: EMAIL, reason: 'unsubscribed', details: null }, new Date())
    tenant = await createTestTenant(service)
    contactId = await tenant.contact(EMAIL)
    identityId = await insertIdentity(tenant.handle)
    expect((await proposeMail()).status).toBe('pending_approval')
  })
})

describe('the outreach interval', () => {
  test('prevents outreach of any agent for a week', async () => {
    await reached(new Date(Date.now() - 7 * DAY_MS + 60_000))
    const proposed = await proposeMail()
    expect([proposed.status, failedRules(proposed)]).toEqual(['rejected', ['outreach_interval']])
    contactId = await tenant.contact('other@example.com')
    expect((await proposeMail()).status).toBe('pending_approval')
  })

  test('can be changed, and set to 0', async () => {
    await reached(new Date(Date.now() - 7 * DAY_MS - 60_000))
    expect((await proposeMail()).status).toBe('pending_approval')
    await setAgentSettings(tenant.handle, { outreach_interval_days: 8 }, new Date())
    expect((await proposeMail()).status).toBe('rejected')
    await setAgentSettings(tenant.handle, { outreach_interval_days: 0 }, new Date())
    await reached(new Date())
    expect((await proposeMail()).status).toBe('pending_approval')
  })

  test('is affected by approved actions, but not by those that wait for approval', async () => {
    const first = await proposeMail()
    const second = await proposeMail()
    expect([first.status, second.status]).toEqual(['pending_approval', 'pending_approval'])
    // Far enough in the future that nothing executes during the test.
    await tenant.handle.db
      .updateTable('agent_actions')
      .set({ status: 'approved', due_at: new Date('2100-01-01') })
      .where('run_id', '=', first.ref.runId)
      .execute()
    const third = await proposeMail({ requireApproval: false })
    expect([third.status, failedRules(third)]).toEqual(['rejected', ['outreach_interval']])
  })
})

describe('a reply', () => {
  test('after the last outreach stops further outreach; an earlier mail and an automatic reply do not', async () => {
    await setAgentSettings(tenant.handle, { outreach_interval_days: 1 }, new Date())
    await reached(new Date(Date.now() - 5 * DAY_MS))
    await writes(EMAIL, new Date(Date.now() - 6 * DAY_MS))
    await writes(EMAIL, new Date(Date.now() - 4 * DAY_MS), true)
    expect((await proposeMail()).status).toBe('pending_approval')
    await writes(EMAIL, new Date(Date.now() - 3 * DAY_MS))
    const proposed = await proposeMail()
    expect([proposed.status, failedRules(proposed)]).toEqual(['rejected', ['replied']])
    await setAgentSettings(tenant.handle, { reply_pause_days: 2 }, new Date())
    expect((await proposeMail()).status).toBe('pending_approval')
    await setAgentSettings(tenant.handle, { reply_pause_days: 0 }, new Date())
    await writes(EMAIL, new Date())
    expect((await proposeMail()).status).toBe('pending_approval')
  })

  test('has no effect without an earlier outreach', async () => {
    await writes(EMAIL, new Date())
    expect((await proposeMail()).status).toBe('pending_approval')
  })
})

describe('a problem that a person can still fix', () => {
  test('is shown with the proposal, which waits for approval', async () => {
    const proposed = await proposeMail({ type: 'social_message', params: { message: 'Hi' } })
    expect([proposed.status, failedRules(proposed)]).toEqual(['pending_approval', ['reachable', 'social_profile']])
    const homeless = await proposeMail({ identityId: null, requireApproval: false })
    expect([homeless.status, failedRules(homeless)]).toEqual(['pending_approval', ['identity']])
  })

  test('includes the mailbox of the sender: none, or one whose login fails', async () => {
    const failuresOf = async () => failedRules(await proposeMail())
    expect(await failuresOf()).toEqual([])
    await tenant.handle.db.updateTable('email_accounts').set({ error: 'SMTP: 535 no' }).execute()
    expect(await failuresOf()).toEqual(['mailbox'])
    await tenant.handle.db.deleteFrom('email_accounts').execute()
    expect(await failuresOf()).toEqual(['mailbox'])
  })

  test('is checked again for each list of waiting actions, with the identity that an approval would use', async () => {
    const agentId = await insertAgent(tenant.handle)
    await proposeMail({ agentId, identityId: null })
    const listed = async () => {
      const { body } = await tenant.call('GET', '/v1/approvals')
      return { ...body.actions[0], failures: failedRules(body.actions[0]) }
    }
    expect(await listed()).toMatchObject({ identity: null, failures: ['identity'] })
    await tenant.handle.db.updateTable('agents').set({ identity_id: identityId }).execute()
    expect(await listed()).toMatchObject({ identity: { identity_id: identityId }, failures: [] })
    await tenant.handle.db.deleteFrom('email_accounts').execute()
    expect((await listed()).failures).toEqual(['mailbox'])
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { unsubscribed: true } })
    expect((await listed()).failures).toEqual(['unsubscribed', 'mailbox'])
  })

  test('a delay is not a failure, and says how long it is', async () => {
    await tenant.handle.db.updateTable('email_accounts').set({ spacing_seconds: 600 }).execute()
    const values = { message_id: `${newId()}@mail.example`, identity_id: identityId, contact_id: contactId }
    const at = new Date()
    await tenant.handle.db
      .insertInto('mail_sends')
      .values({ ...values, recipient: EMAIL, status: 'sent', claimed_at: at, claimed_until: at })
      .execute()
    const { guardrails } = await proposeMail()
    expect(guardrails.find(({ rule }) => rule === 'mailbox_limit')).toMatchObject({
      passed: true,
      waits_until: new Date(at.getTime() + 600_000).toISOString(),
    })
  })

  test('includes an identity that was deleted during the run', async () => {
    const agentId = await insertAgent(tenant.handle)
    const proposed = await proposeMail({ agentId, identityId: newId(), requireApproval: false })
    expect([proposed.status, failedRules(proposed)]).toEqual(['pending_approval', ['identity']])
  })
})

describe('quiet hours', () => {
  /** All day, except one minute twelve hours from now. */
  const quiet = () => {
    const now = Date.now()
    const at = (ms: number) => new Date(now + ms).toISOString().slice(11, 16)
    return { from: at(DAY_MS / 2 + 60_000), to: at(DAY_MS / 2) }
  }

  test('delay an approved action until they end', async () => {
    await setAgentSettings(tenant.handle, { quiet_hours: quiet() }, new Date())
    const { path } = await proposeMail()
    const { body } = await tenant.call('POST', `${path}/approve`)
    expect(Date.parse(body.action.due_at)).toBeGreaterThan(Date.now() + DAY_MS / 2 - 180_000)
    contactId = await tenant.contact('other@example.com')
    const automatic = await proposeMail({ requireApproval: false })
    const { due_at } = await actionOf(tenant.handle, automatic.ref)
    expect(due_at?.getTime()).toBeGreaterThan(Date.now() + DAY_MS / 2 - 180_000)
  })

  test("are in the contact's time zone if it has one", async () => {
    const hour = new Date().getUTCHours()
    const two = (n: number) => String((n + 24) % 24).padStart(2, '0')
    // Quiet for two hours around now in UTC, but not in a zone twelve hours away.
    const quiet_hours = { from: `${two(hour - 1)}:00`, to: `${two(hour + 2)}:00` }
    await setAgentSettings(tenant.handle, { quiet_hours }, new Date())
    const noteOf = async () => (await proposeMail()).guardrails.find(({ rule }) => rule === 'quiet_hours')?.message
    expect(await noteOf()).toMatch(/waits until they end/)
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { timezone: 'Etc/GMT+12' } })
    expect(await noteOf()).toMatch(/outside the quiet hours .* Etc\/GMT\+12/)
    await tenant.call('PUT', `/v1/contacts/${contactId}`, { properties: { timezone: 'nowhere' } })
    expect(await noteOf()).toMatch(/waits until they end/)
  })
})

test('the daily limit of an identity delays an action until tomorrow', async () => {
  // In a time zone where it is noon, so that the day does not end during the test.
  const now = new Date()
  const ahead = 12 - now.getUTCHours()
  const time_zone = ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
  const midnight = new Date(now.setUTCMinutes(0, 0, 0) + DAY_MS / 2).toISOString()
  const limits = { daily_limit_per_identity: 1, outreach_interval_days: 0, time_zone }
  await setAgentSettings(tenant.handle, limits, new Date())
  const before = await proposeMail()
  expect((await tenant.call('POST', `${before.path}/approve`)).body.action.due_at).toBeDefined()
  await reached(new Date())
  const { path } = await proposeMail()
  const { body } = await tenant.call('POST', `${path}/approve`)
  expect(body.action.due_at).toBe(midnight)
  expect(body.action.status).toBe('approved')
})

describe('settings', () => {
  test('have defaults, keep omitted fields, and record changes in the audit log', async () => {
    expect(await readAgentSettings(tenant.handle)).toMatchObject({ outreach_interval_days: 7, quiet_hours: null })
    const quiet_hours = { from: '20:00', to: '08:00' }
    for (const changes of [{ outreach_interval_days: 3 }, { quiet_hours, time_zone: 'Europe/Berlin' }]) {
      expect((await tenant.call('PATCH', '/v1/agent-settings', changes)).status).toBe(200)
      expect(await setAgentSettings(tenant.handle, changes, new Date())).toBe(false)
    }
    expect(await readAgentSettings(tenant.handle)).toMatchObject({
      outreach_interval_days: 3,
      quiet_hours,
      time_zone: 'Europe/Berlin',
      reply_pause_days: 90,
    })
    const { entries } = await listAudit(tenant.handle, { actor: 'api_key' }, { page: 1, limit: 10 })
    expect(entries.map(({ action, details }) => [action, Object.keys(details)])).toEqual([
      ['agent_settings.updated', ['time_zone', 'quiet_hours']],
      ['agent_settings.updated', ['outreach_interval_days']],
    ])
    const stranger = await createTestTenant(service)
    expect(await readAgentSettings(stranger.handle)).toMatchObject({ outreach_interval_days: 7 })
  })

  test.each([
    { outreach_interval_days: -1 },
    { outreach_interval_days: 1.5 },
    { outreach_interval_days: 366 },
    { outreach_interval_days: '7' },
    { daily_limit_per_identity: 0 },
    { reply_pause_days: 0.5 },
    { time_zone: '+02:00' },
    { quiet_hours: { from: '20:00' } },
    { quiet_hours: { from: '20:00', to: '20:00' } },
    { quiet_hours: { from: '25:00', to: '08:00' } },
    { quiet_hours: { from: '20:00', to: '08:00', days: [] } },
    { quiet_hours: 'always' },
    { unknown: 1 },
  ])('%j is refused', async (changes) => {
    const { status, body } = await tenant.call('PATCH', '/v1/agent-settings', changes)
    expect([status, body.error.code]).toEqual([400, 'validation_error'])
    expect((await listAudit(tenant.handle, {}, { page: 1, limit: 10 })).total).toBe(0)
  })

  test('keep both of two concurrent changes', async () => {
    const changes = [{ outreach_interval_days: 3 }, { reply_pause_days: 5 }, { daily_limit_per_identity: 9 }]
    await Promise.all(changes.map((change) => setAgentSettings(tenant.handle, change, new Date())))
    expect(await readAgentSettings(tenant.handle)).toMatchObject(Object.assign({}, ...changes))
  })
})
