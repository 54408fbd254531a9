import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandSession } from '../../../test/command-session.ts'
import { hasDovecot } from '../../../test/dovecot.ts'
import { type MailBench, startMailBench } from '../../../test/mail.ts'
import { signedIn } from '../../../test/people.ts'
import { startReceiver } from '../../../test/receiver.ts'
import { call, createTestTenant, type TestResponse, type TestTenant } from '../../../test/service.ts'
import { socialOf } from '../../../test/social.ts'
import { arrived, until } from '../../../test/webhooks.ts'
import { DATABASE_COMMANDS } from '../../cli/commands.ts'
import { newId } from '../../platform/ids.ts'

const NOTE = { type: 'note', params: { content: 'Asked for **pricing**.' } }
const MAIL = { type: 'email_message', params: { subject: 'Hello', message: 'How is it going?' } }
const reason = 'They viewed the pricing page twice.'
const CAPABILITIES = ['email', 'social', 'notes', 'crm_sync']

describe.skipIf(!hasDovecot)('an action that a caller proposes for an agent', () => {
  let bench: MailBench
  let tenant: TestTenant
  let identityId: string
  let agentId: string
  let people = 0

  beforeAll(async () => {
    bench = await startMailBench({ CDS_WEBHOOK_ALLOW_PRIVATE: '1' })
    tenant = await createTestTenant(bench.service)
    identityId = (await bench.addSender(tenant)).identityId
    const login = socialOf(tenant, identityId)
    await login.until(await login.begin('ok@example.com'), 'completed')
    agentId = await agent()
  })
  afterAll(() => bench?.close())

  async function agent(more: object = {}): Promise<string> {
    // Nothing of a playbook approves what others propose.
    const playbook = { require_approval: false }
    const settings = { name: 'Scout', capabilities: CAPABILITIES, identity_id: identityId, playbook, enabled: true }
    const { status, body } = await tenant.call('POST', '/v1/agents', { ...settings, ...more })
    expect(status).toBe(201)
    return body.agent.agent_id
  }
  const contact = (properties: object = {}) => {
    const name = `proposed${++people}`
    const linkedin_url = `https://network.example/in/${name}`
    return tenant.contact(`${name}@example.com`, { firstname: 'Ada', linkedin_url, ...properties })
  }
  const propose = (body: unknown, agent = agentId): Promise<TestResponse> =>
    tenant.call('POST', `/v1/agents/${agent}/actions`, body)
  const pathOf = ({ run_id, contact_id, action_index }: Record<string, unknown>) =>
    `/v1/agents/runs/${run_id}/contacts/${contact_id}/actions/${action_index}`
  const waitingFor = async (contactId: string) =>
    (await tenant.call('GET', `/v1/approvals?contact_id=${contactId}`)).body.actions
  const auditOf = async (subject: string) =>
    (await tenant.call('GET', `/v1/audit-log?subject_id=${encodeURIComponent(subject)}`)).body.entries
  const runs = async () => (await tenant.call('GET', `/v1/agents/${agentId}/runs`)).body.total

  /** Each action type, and what shows that it was executed for the contact. */
  const TYPES = [
    {
      ...MAIL,
      effect: async (_contactId: string, email: string) => {
        const mails = bench.servers.smtp.accepted.filter(({ to }) => to.includes(email))
        expect(mails.map(({ raw }) => /^Subject: .*$/m.exec(raw)?.[0])).toEqual(['Subject: Hello'])
      },
    },
    {
      type: 'social_message',
      params: { message: 'Hi' },
      effect: (_contactId: string, email: string) => sentTo(email, { kind: 'message', text: 'Hi' }),
    },
    {
      type: 'social_connect',
      params: {},
      effect: (_contactId: string, email: string) => sentTo(email, { kind: 'connect', text: null }),
    },
    {
      ...NOTE,
      effect: async (contactId: string) => {
        const { notes } = (await tenant.call('GET', `/v1/contacts/${contactId}/notes`)).body
        expect(notes).toMatchObject([NOTE.params])
      },
    },
    {
      type: 'crm_update',
      params: { properties: { city: 'London' } },
      effect: async (contactId: string) => {
        const { body } = await tenant.call('GET', `/v1/contacts/${contactId}`)
        expect(body.contact.properties.city).toBe('London')
      },
    },
  ]

  async function sentTo(email: string, sent: object): Promise<void> {
    const profile = `https://network.example/in/${email.split('@')[0]}`
    const outbox = tenant.handle.db.selectFrom('social_sandbox_outbox').selectAll()
    expect(await outbox.where('recipient_profile_url', '=', profile).execute()).toMatchObject([sent])
  }

  test.each(TYPES)(
    '$type waits in the inbox, and is executed once a person approves it',
    async ({ type, params, effect }) => {
      const contactId = await contact()
      const email = `proposed${people}@example.com`
      const { status, body } = await propose({ contact_id: contactId, type, params, reason })
      const proposed_by = { kind: 'api_key', name: 'all' }
      const expected = { type, params, status: 'pending_approval', auto_approved: false, identity_id: identityId }
      expect([status, body.action]).toMatchObject([201, { contact_id: contactId, ...expected, proposed_by }])
      const [waiting, ...others] = await waitingFor(contactId)
      expect([waiting, others]).toMatchObject([
        { ...body.action, reasoning: reason, guardrails: expect.any(Array) },
        [],
      ])
      expect(waiting.agent).toEqual({ agent_id: agentId, name: 'Scout' })

      const person = await signedIn(bench.service, tenant.id, 'member')
      const path = pathOf(body.action)
      const approved = await person.call('POST', `${path}/approve`)
      expect([approved.status, approved.body.action.proposed_by]).toMatchObject([200, proposed_by])
      await until(async () => {
        const { action } = (await tenant.call('GET', path)).body
        expect(action).toMatchObject({ status: 'executed', error: null, decided_by: { kind: 'user' } })
      })
      await effect(contactId, email)
      const entries = await auditOf(`${body.action.run_id}/${contactId}/0`)
      expect(entries.map((entry: { action: string }) => entry.action)).toEqual([
        'action.executed',
        'action.approved',
        'action.proposed',
      ])
      expect(entries[2]).toMatchObject({ actor: proposed_by, details: { type, agent_id: agentId } })
      // Audit entries outlive the erasure of the contact.
      expect(JSON.stringify(entries)).not.toContain(reason)
      await until(async () => {
        const { body: timeline } = await tenant.call('GET', `/v1/contacts/events/${contactId}?include=system`)
        const names = timeline.events.map(({ event }: { event: string }) => event)
        expect(names).toEqual(expect.arrayContaining(['agent_action_proposed', 'agent_action_executed']))
      })
    },
  )

  test('can be approved with other params, or rejected, and then never executes', async () => {
    const contactId = await contact()
    const edited = (await propose({ contact_id: contactId, ...NOTE, reason })).body.action
    const approved = await tenant.call('POST', `${pathOf(edited)}/approve`, { params: { content: 'Edited.' } })
    expect([approved.status, approved.body.action.params]).toEqual([200, { content: 'Edited.' }])
    const rejected = (await propose({ contact_id: contactId, ...MAIL, reason })).body.action
    const response = await tenant.call('POST', `${pathOf(rejected)}/reject`, { reason: 'Too soon.' })
    expect([response.status, response.body.action.status]).toEqual([200, 'rejected'])
    for (const verb of ['approve', 'reject']) {
      const again = await tenant.call('POST', `${pathOf(rejected)}/${verb}`)
      expect([again.status, again.body.error.code]).toEqual([409, 'invalid_action_state'])
    }
  })

  test('reaches webhooks without its content, like any other proposal', async () => {
    const receiver = await startReceiver(bench.servers.certificate)
    try {
      const hook = { event: 'agent_action_proposed', url: receiver.url('/proposed', 'localhost') }
      const { webhook } = (await tenant.call('POST', '/v1/webhooks', hook)).body
      const contactId = await contact()
      const { action } = (await propose({ contact_id: contactId, ...NOTE, reason })).body
      const [received] = await arrived(receiver, '/proposed', 1)
      const sent = received?.body.toString() ?? ''
      const data = { agent_id: agentId, run_id: action.run_id, type: 'note', status: 'pending_approval' }
      for (const value of Object.values(data)) expect(sent).toContain(value)
      expect(sent).not.toContain('pricing')
      await tenant.call('DELETE', `/v1/webhooks/${webhook.subscription_id}`)
    } finally {
      await receiver.close()
    }
  })

  test('has its own run, which has ended and otherwise does not count as a run of the agent', async () => {
    const own = await agent()
    const contactId = await contact()
    const { action } = (await propose({ contact_id: contactId, ...NOTE, reason }, own)).body
    const { runs } = (await tenant.call('GET', `/v1/agents/${own}/runs`)).body
    const run = {
      run_id: action.run_id,
      status: 'completed',
      trigger: 'proposal',
      requested_by: { kind: 'api_key', name: 'all' },
      provider: null,
      started_at: null,
      summary: { contacts_evaluated: 0, actions_proposed: 1, actions_auto_approved: 0, actions_pending_approval: 1 },
      usage: { input_tokens: 0, output_tokens: 0, cost_usd: 0 },
    }
    expect(runs).toMatchObject([run])
    const detail = (await tenant.call('GET', `/v1/agents/runs/${action.run_id}`)).body.run
    expect(detail.contact_results).toMatchObject([{ contact_id: contactId, status: 'proposed', reasoning: reason }])
    expect(detail.contact_results[0].proposed_actions).toEqual([action])
    const { agents } = (await tenant.call('GET', '/v1/agents?include=last_run')).body
    expect(agents.find((each: { agent_id: string }) => each.agent_id === own).last_run).toBeNull()
    expect((await tenant.call('GET', '/v1/agent-settings')).body.cost_this_month_usd).toBe(0)
    expect((await tenant.call('POST', `/v1/agents/runs/${action.run_id}/cancel`)).body.error.code).toBe('run_ended')
  })

  test('does not count as an evaluation of the contact when a run chooses its contacts', async () => {
    const company = newId()
    const filter = { match: 'all', conditions: [{ property: 'company', operator: 'equals', value: company }] }
    const own = await agent({ monitoring: { filter, max_contacts_per_run: 1 }, llm_config: { provider: 'template' } })
    await contact({ company })
    const newest = await contact({ company })
    await propose({ contact_id: newest, ...NOTE, reason }, own)
    const { job_id } = (await tenant.call('POST', `/v1/agents/${own}/trigger`)).body
    await until(async () => {
      const { run } = (await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body
      expect(run.status).toBe('completed')
      expect(run.contact_results.map(({ contact_id }: { contact_id: string }) => contact_id)).toEqual([newest])
    })
  })

  test('that a guardrail forbids is rejected at once, and says why', async () => {
    const contactId = await contact({ do_not_contact: true })
    const { status, body } = await propose({ contact_id: contactId, ...MAIL, reason })
    const error = { code: 'guardrail', rule: 'do_not_contact' }
    expect([status, body.action]).toMatchObject([201, { status: 'rejected', error }])
    expect(await waitingFor(contactId)).toEqual([])
  })

  test('meets the guardrails again when it is executed', async () => {
    const contactId = await contact()
    const { action } = (await propose({ contact_id: contactId, ...MAIL, reason })).body
    await tenant.call('POST', '/v1/suppressions', { address: `proposed${people}@example.com` })
    expect((await tenant.call('POST', `${pathOf(action)}/approve`)).status).toBe(200)
    await until(async () => {
      const { body } = await tenant.call('GET', pathOf(action))
      expect(body.action).toMatchObject({ status: 'failed', error: { code: 'guardrail', rule: 'unsubscribed' } })
    })
  })

  test('without an identity can be proposed but not approved', async () => {
    const contactId = await contact()
    const { action } = (await propose({ contact_id: contactId, ...MAIL, reason }, await agent({ identity_id: null })))
      .body
    expect([action.status, action.identity_id]).toEqual(['pending_approval', null])
    const { status, body } = await tenant.call('POST', `${pathOf(action)}/approve`)
    expect([status, body.error.code]).toEqual([409, 'identity_required'])
  })

  test('of a type that already waits for the contact is refused with the place of the first', async () => {
    const contactId = await contact()
    const all = await Promise.all(Array.from({ length: 5 }, () => propose({ contact_id: contactId, ...NOTE, reason })))
    expect(all.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const [first] = await waitingFor(contactId)
    const refused = all.find(({ status }) => status === 409)
    expect(refused?.body.error).toMatchObject({
      code: 'already_proposed',
      details: [
        { path: 'run_id', message: first.run_id },
        { path: 'action_index', message: '0' },
      ],
    })
    expect((await propose({ contact_id: contactId, ...MAIL, reason })).status).toBe(201)
    await tenant.call('POST', `${pathOf(first)}/reject`)
    expect((await propose({ contact_id: contactId, ...NOTE, reason })).status).toBe(201)
  })

  test('is proposed and decided once for one Idempotency-Key', async () => {
    const contactId = await contact()
    const send = (path: string, key: string, sent: object) =>
      call(bench.service, 'POST', path, {
        headers: { authorization: `Bearer ${tenant.key}`, 'idempotency-key': key },
        body: JSON.stringify(sent),
      })
    const place = `/v1/agents/${agentId}/actions`
    const sent = { contact_id: contactId, ...NOTE, reason }
    const [first, second] = [await send(place, contactId, sent), await send(place, contactId, sent)]
    expect([first.status, second.status, second.body]).toEqual([201, 201, first.body])
    const other = await send(place, contactId, { ...sent, reason: 'Another' })
    expect(other.body.error.code).toBe('idempotency_key_reused')
    expect(await waitingFor(contactId)).toHaveLength(1)
    const approve = `${pathOf(first.body.action)}/approve`
    const [approved, again] = [await send(approve, 'approve-1', {}), await send(approve, 'approve-1', {})]
    expect([approved.status, again.status, again.body]).toEqual([200, 200, approved.body])
    expect((await send(approve, 'approve-2', {})).body.error.code).toBe('invalid_action_state')
  })

  test('can come from the command line', async () => {
    const contactId = await contact()
    const values = { 'agent-id': agentId, 'contact-id': contactId, type: 'note', reason }
    const params = JSON.stringify(NOTE.params)
    const given = { tenant: tenant.id, ...values, params }
    await DATABASE_COMMANDS['action propose']?.run(commandSession(bench.service), given, bench.now())
    expect(await waitingFor(contactId)).toMatchObject([
      { ...NOTE, reasoning: reason, proposed_by: { kind: 'command_line' } },
    ])
  })

  test('is erased with its contact', async () => {
    const contactId = await contact()
    const { action } = (await propose({ contact_id: contactId, ...NOTE, reason })).body
    expect((await tenant.call('POST', '/v1/erasures', { contact_id: contactId })).status).toBeLessThan(300)
    await until(async () => {
      expect((await tenant.call('GET', pathOf(action))).status).toBe(404)
      expect(await waitingFor(contactId)).toEqual([])
    })
    expect((await propose({ contact_id: contactId, ...NOTE, reason })).status).toBe(404)
  })

  describe('is refused', () => {
    let contactId: string
    beforeAll(async () => {
      contactId = await contact()
    })
    async function refused(
      sent: unknown,
      expected: unknown[],
      agent = agentId,
    ): Promise<TestResponse['body']['error']> {
      const before = await runs()
      const { status, body } = await propose(sent, agent)
      expect([status, body.error?.code]).toEqual(expected)
      expect([await runs(), await waitingFor(contactId)]).toEqual([before, []])
      return body.error
    }

    test('for a disabled agent', async () => {
      const disabled = await agent({ enabled: false })
      await refused({ contact_id: contactId, ...NOTE, reason }, [409, 'agent_disabled'], disabled)
    })

    test('if the agent lacks the capability, and names those that it has', async () => {
      const notes = await agent({ capabilities: ['notes', 'linkedin'] })
      const error = await refused({ contact_id: contactId, ...MAIL, reason }, [409, 'capability_required'], notes)
      expect(error.message).toContain('They allow: social_message, social_connect, note.')
      const nothing = await agent({ capabilities: [] })
      await refused({ contact_id: contactId, ...NOTE, reason }, [409, 'capability_required'], nothing)
    })

    test('for an unknown agent or contact, or those of another tenant', async () => {
      const stranger = await createTestTenant(bench.service)
      const theirs = await stranger.contact('theirs@example.com')
      for (const contact_id of [newId(), theirs, 'none']) {
        await refused({ contact_id, ...NOTE, reason }, [404, 'not_found'])
      }
      await refused({ contact_id: contactId, ...NOTE, reason }, [404, 'not_found'], newId())
      const other = await stranger.call('POST', `/v1/agents/${agentId}/actions`, {
        contact_id: theirs,
        ...NOTE,
        reason,
      })
      expect([other.status, other.body.error.code]).toEqual([404, 'not_found'])
    })

    test('for a merged contact, and names the survivor', async () => {
      const [merged, survivor] = [await contact(), await contact()]
      await tenant.call('POST', `/v1/contacts/${merged}/merge`, { into: survivor })
      const error = await refused({ contact_id: merged, ...NOTE, reason }, [404, 'contact_merged'])
      expect(error.message).toContain(survivor)
    })

    test('without the scope agents:trigger', async () => {
      const key = await tenant.keyWith('agents:read', 'agents:write', 'agents:approve')
      const { status, body } = await call(bench.service, 'POST', `/v1/agents/${agentId}/actions`, {
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ contact_id: contactId, ...NOTE, reason }),
      })
      expect([status, body.error.code]).toEqual([403, 'insufficient_scope'])
    })

    test.each([
      ['params', { type: 'note', params: {} }],
      ['params.to', { type: 'email_message', params: { ...MAIL.params, to: 'eve@example.com' } }],
      ['params.identity_id', { type: 'email_message', params: { ...MAIL.params, identity_id: newId() } }],
      ['params.subject', { type: 'email_message', params: { ...MAIL.params, subject: 'x\r\nBcc: eve@example.com' } }],
      ['params.properties.email', { type: 'crm_update', params: { properties: { email: 'eve@example.com' } } }],
      ['params.properties.do_not_contact', { type: 'crm_update', params: { properties: { do_not_contact: false } } }],
      ['params', { params: 'text' }],
      ['params', { params: undefined }],
      ['type', { type: 'delete_contacts' }],
      ['type', { type: undefined }],
      ['reason', { reason: undefined }],
      ['reason', { reason: ' \n' }],
      ['reason', { reason: 'x'.repeat(2_001) }],
      ['contact_id', { contact_id: undefined }],
      ['contact_id', { contact_id: 7 }],
      ['identity_id', { identity_id: newId() }],
      ['status', { status: 'approved' }],
    ])('for an invalid %s, case %#', async (path, wrong) => {
      const sent = { contact_id: contactId, ...NOTE, reason, ...wrong }
      const { details } = await refused(sent, [400, 'validation_error'])
      expect(details.map((detail: { path: string }) => detail.path.slice(0, path.length))).toContain(path)
    })
  })
})
