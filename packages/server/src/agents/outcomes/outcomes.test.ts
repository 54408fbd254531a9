import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { insertIdentity, MAIL, NOTE, propose } from '../../../test/actions.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { recordMessages } from '../../conversations/record.ts'
import { suppress } from '../../identities/suppressions.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS } from '../../platform/time.ts'

const GOAL = { event: 'demo_booked', where: [{ property: 'data.plan', operator: 'equals', value: 'pro' }] }
const HELLO = { email_message: { subject: 'Hello', message: 'Hi {{contact.firstname | there}}.' } }

let service: TestService
let tenant: TestTenant
let identityId: string

beforeAll(async () => {
  service = await sharedService()
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  identityId = await insertIdentity(tenant.handle)
})

async function createAgent(more: object = {}): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/agents', {
    name: 'Outreach',
    capabilities: ['email', 'notes'],
    identity_id: identityId,
    playbook: { messages: HELLO },
    llm_config: { provider: 'template' },
    goal: GOAL,
    ...more,
  })
  expect([status, body.error]).toEqual([201, undefined])
  return body.agent.agent_id
}

const outcomesOf = async (agentId: string, query = '') => {
  const { status, body } = await tenant.call('GET', `/v1/agents/${agentId}/outcomes${query}`)
  expect([status, body.error]).toEqual([200, undefined])
  return body.outcomes
}

const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS)

/** A message of the agent that was sent at a time, which no test could wait for. */
async function sent(agentId: string, contactId: string, at: Date, version = 1): Promise<void> {
  const { ref } = await propose(tenant.handle, service.jobs, { contactId, ...MAIL, agentId, identityId, now: at })
  await tenant.handle.db
    .updateTable('agent_actions')
    .set({ status: 'executed', executed_at: at, playbook_version: version })
    .where('run_id', '=', ref.runId)
    .execute()
}

async function writes(from: string, sentAt: Date, isAutomatic = false): Promise<void> {
  const place = { channel: 'email', source: 'email', threadKey: null, inReplyTo: null, references: [] } as const
  const text = { subject: 'Re: Hello', text: 'Tell me more.', html: null, attachments: [] }
  const people = { from: { address: from, name: null }, to: [{ address: 'grace@sender.example', name: null }], cc: [] }
  await recordMessages(tenant.handle, service.writing, [
    ...[{ ...place, ...text, ...people, sentAt, isAutomatic, messageId: `${newId()}@example.com` }].map((each) => ({
      ...each,
      direction: 'inbound' as const,
      identityId: null,
    })),
  ])
}

const books = (visitor: string, at: Date, plan = 'pro') =>
  tenant.track({
    visitor_id: visitor,
    events: [{ event: 'demo_booked', timestamp: at.toISOString(), data: { plan } }],
  })

describe('versions of a playbook', () => {
  test('each change of what it says is one; limits, names and the audience make none', async () => {
    const agentId = await createAgent()
    const change = async (body: object) => {
      const response = await tenant.call('PATCH', `/v1/agents/${agentId}`, body)
      expect(response.status).toBe(200)
      return response.body.agent.playbook_version
    }
    expect(await change({ name: 'Renamed', goal: null, playbook: { require_approval: false } })).toBe(1)
    expect(await change({ playbook: { playbook_md: 'Write to {{contact.firstname}}.' } })).toBe(2)
    expect(await change({ playbook: { playbook_md: 'Write to {{contact.firstname}}.' } })).toBe(2)
    expect(await change({ playbook: { variables: { offer: 'A demo' } } })).toBe(3)
    expect(await change({ playbook_template: 'cold_outreach', playbook: { playbook_md: null } })).toBe(4)
    const path = `/v1/agents/${agentId}/playbook-versions`
    const { versions, pagination } = (await tenant.call('GET', `${path}?limit=3&page=1`)).body
    expect(versions.map((each: { playbook_version: number }) => each.playbook_version)).toEqual([4, 3, 2])
    expect(versions[1].until).toBe(versions[0].since)
    expect(pagination.total_items).toBe(4)
    const { version } = (await tenant.call('GET', `${path}/2`)).body
    expect(version).toMatchObject({ playbook: { messages: HELLO }, instructions: 'Write to {{contact.firstname}}.' })
    expect(version.playbook).not.toHaveProperty('require_approval')
    expect((await tenant.call('GET', `${path}/4`)).body.version.instructions).toContain('first')
    expect((await tenant.call('GET', `${path}/5`)).body.error.code).toBe('not_found')
    expect((await tenant.call('GET', `${path}/0`)).status).toBe(404)
  })

  test('runs and their actions know theirs; what others propose follows none', async () => {
    const agentId = await createAgent({ enabled: true })
    const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
    await tenant.call('PATCH', `/v1/agents/${agentId}`, { playbook: { variables: { offer: 'A demo' } } })
    const { job_id } = (await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids: [ada] })).body
    const run = await until(async () => {
      const { run } = (await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body
      expect(run.status).toBe('completed')
      return run
    })
    expect(run.playbook_version).toBe(2)
    const [action] = run.contact_results[0].proposed_actions
    expect(action).toMatchObject({ playbook_version: 2, edited: false })
    const note = { contact_id: ada, ...NOTE, reason: 'They asked.' }
    const proposed = await tenant.call('POST', `/v1/agents/${agentId}/actions`, note)
    expect([proposed.status, proposed.body.action.playbook_version]).toEqual([201, null])
    const path = `/v1/agents/runs/${job_id}/contacts/${ada}/actions/0`
    const edited = { params: { ...action.params, subject: 'Welcome' }, hold_seconds: 60 }
    expect((await tenant.call('POST', `${path}/approve`, edited)).body.action.edited).toBe(true)
    const [second, first] = await outcomesOf(agentId)
    expect(second).toMatchObject({
      playbook_version: 2,
      until: null,
      proposed: 1,
      approved: 1,
      auto_approved: 0,
      edited: 1,
      sent: 0,
    })
    expect(first).toMatchObject({ playbook_version: 1, until: second.since, proposed: 0, approved: 0, sent: 0 })
  })
})

describe('outcomes', () => {
  test('count decisions: the proposed wait, were approved or were rejected, by a person or a guardrail', async () => {
    const agentId = await createAgent()
    const proposal = { ...MAIL, agentId, identityId }
    for (const email of ['a@example.com', 'b@example.com']) {
      await propose(tenant.handle, service.jobs, { contactId: await tenant.contact(email), ...proposal })
    }
    const never = await tenant.contact('never@example.com', { do_not_contact: true })
    await propose(tenant.handle, service.jobs, { contactId: never, ...proposal })
    const { path } = await propose(tenant.handle, service.jobs, {
      contactId: await tenant.contact('c@example.com'),
      ...proposal,
    })
    expect((await tenant.call('POST', `${path}/reject`)).status).toBe(200)
    const noted = await tenant.contact('d@example.com')
    await propose(tenant.handle, service.jobs, { contactId: noted, ...NOTE, agentId, now: daysAgo(3) })
    const [outcome] = await outcomesOf(agentId)
    const approved = { approved: 1, auto_approved: 1, edited: 0 }
    const decisions = { proposed: 5, waiting: 2, ...approved, rejected: 2, stopped_by_guardrails: 1 }
    expect(outcome).toMatchObject({ ...decisions, sent: 0, replied: 0, goal_reached: 0, unsubscribed: 0 })
    const listed = async (query: string) =>
      (await tenant.call('GET', `/v1/agents/${agentId}/actions?playbook_version=1${query}`)).body.pagination.total_items
    for (const [name, count] of Object.entries({ ...decisions, failed: 0, sent: 0 })) {
      expect([name, await listed(name === 'proposed' ? '' : `&outcome=${name}`)]).toEqual([name, count])
    }
    expect(await listed(`&date_after=${daysAgo(1).toISOString()}`)).toBe(4)
    expect(await listed(`&date_before=${daysAgo(1).toISOString()}`)).toBe(1)
    expect((await tenant.call('GET', `/v1/agents/${agentId}/actions?playbook_version=2`)).body.actions).toEqual([])
    const since = `?date_after=${daysAgo(1).toISOString()}`
    expect((await outcomesOf(agentId, since))[0]).toMatchObject({ proposed: 4, approved: 0 })
    const earlier = `?date_before=${daysAgo(1).toISOString()}`
    expect((await outcomesOf(agentId, earlier))[0]).toMatchObject({ proposed: 1, approved: 1 })
  })

  test('count what contacts did within 14 days after each message, as a plain list of what happened says', async () => {
    const agentId = await createAgent()
    await tenant.call('PATCH', `/v1/agents/${agentId}`, { playbook: { playbook_md: 'Shorter.' } })
    const kinds = ['reply', 'goal', 'optOut'] as const
    // Days after the message; null for nothing.
    const delays = [null, -1, 3, 13.999, 14.001, 20]
    const expected = new Map([1, 2].map((version) => [version, { sent: 0, reply: 0, goal: 0, optOut: 0 }]))
    const messages = delays.flatMap((days) => kinds.map((kind) => ({ days, kind })))
    for (const [index, { days, kind }] of messages.entries()) {
      const email = `person${index}@example.com`
      const contactId = await tenant.contact(email, {}, { visitor_id: `visitor${index}` })
      const [at, version] = [daysAgo(40 + index), 1 + (index % 2)]
      await sent(agentId, contactId, at, version)
      const count = expected.get(version)
      if (!count) throw new Error('There are two versions.')
      count.sent++
      if (days === null) continue
      const then = new Date(at.getTime() + days * DAY_MS)
      if (kind === 'reply') await writes(email, then)
      else if (kind === 'goal') await books(`visitor${index}`, then)
      else await suppress(tenant.handle, { address: email, reason: 'unsubscribed', details: null }, then)
      if (days > 0 && days <= 14) count[kind]++
    }
    const found = await outcomesOf(agentId)
    expect(found.map((each: { playbook_version: number }) => each.playbook_version)).toEqual([2, 1])
    for (const { playbook_version: version, ...outcome } of found) {
      const { sent, reply, goal, optOut } = expected.get(version) ?? {}
      expect(outcome).toMatchObject({ sent, replied: reply, goal_reached: goal, unsubscribed: optOut })
    }
    expect([...expected.values()].every(({ reply, goal, optOut }) => reply + goal + optOut > 0)).toBe(true)
  })

  test('count a message once, and leave out automatic replies, other events and who agreed again', async () => {
    const agentId = await createAgent()
    const ada = await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
    await sent(agentId, ada, daysAgo(5))
    await sent(agentId, ada, daysAgo(4))
    await writes('ada@example.com', daysAgo(3), true)
    await books('ada', daysAgo(3), 'free')
    expect((await outcomesOf(agentId))[0]).toMatchObject({ sent: 2, sent_recently: 2, replied: 0, goal_reached: 0 })
    // Both messages, however often.
    for (const days of [3, 2, 1]) {
      await writes('ada@example.com', daysAgo(days))
      await books('ada', daysAgo(days))
    }
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { do_not_contact: true } })
    const all = { replied: 2, goal_reached: 2, unsubscribed: 2 }
    expect((await outcomesOf(agentId))[0]).toMatchObject(all)
    await tenant.call('PUT', `/v1/contacts/${ada}`, { properties: { do_not_contact: false } })
    await tenant.call('PATCH', `/v1/agents/${agentId}`, { goal: null })
    expect((await outcomesOf(agentId))[0]).toMatchObject({ ...all, goal_reached: null, unsubscribed: 0 })
  })

  test('of a merged contact are those of the survivor; an erasure takes them out', async () => {
    const agentId = await createAgent()
    const old = await tenant.contact('old@example.com', {}, { visitor_id: 'old' })
    const kept = await tenant.contact('kept@example.com')
    await sent(agentId, old, daysAgo(5))
    // Who it is shows later.
    await books('stranger', daysAgo(2))
    await tenant.call('POST', '/v1/contacts', { email: 'third@example.com', visitor_id: 'stranger' })
    const third = (await tenant.contactOf('third@example.com')).contact_id
    for (const contactId of [old, third]) {
      expect((await tenant.call('POST', `/v1/contacts/${contactId}/merge`, { into: kept })).status).toBe(200)
    }
    await writes('kept@example.com', daysAgo(1))
    expect((await outcomesOf(agentId))[0]).toMatchObject({ sent: 1, replied: 1, goal_reached: 1 })
    await tenant.call('POST', `/v1/contacts/${third}/unmerge`)
    expect((await outcomesOf(agentId))[0]).toMatchObject({ sent: 1, replied: 1, goal_reached: 0 })
    await tenant.call('POST', `/v1/contacts/${old}/unmerge`)
    expect((await outcomesOf(agentId))[0]).toMatchObject({ sent: 1, replied: 0, goal_reached: 0 })
    // A deleted contact's messages still count, and an erased one's do not.
    expect((await tenant.call('DELETE', `/v1/contacts/${old}`)).status).toBe(200)
    expect((await outcomesOf(agentId))[0]).toMatchObject({ sent: 1, replied: 0 })
    expect((await tenant.call('POST', `/v1/erasures`, { contact_id: old })).status).toBeLessThan(300)
    await until(async () => expect((await outcomesOf(agentId))[0]).toMatchObject({ proposed: 0, sent: 0 }))
  })

  test('are refused for a stranger, an unknown agent and a key without the scope', async () => {
    const agentId = await createAgent()
    const stranger = await createTestTenant(service)
    const paths = ['outcomes', 'playbook-versions', 'playbook-versions/1'].map(
      (path) => `/v1/agents/${agentId}/${path}`,
    )
    for (const path of paths) {
      expect((await stranger.call('GET', path)).status).toBe(404)
      expect((await tenant.call('GET', path, undefined, await tenant.keyWith('contacts:read'))).status).toBe(403)
      expect((await tenant.call('GET', path, undefined, await tenant.keyWith('agents:read'))).status).toBe(200)
    }
    // Whoever sets the goal learns how many contacts have an event.
    const goal = { goal: { event: 'purchase' } }
    const writer = await tenant.keyWith('agents:write')
    expect((await tenant.call('PATCH', `/v1/agents/${agentId}`, goal, writer)).status).toBe(403)
  })

  test('need a goal that names an event and conditions on it alone', async () => {
    const create = (goal: object) => tenant.call('POST', '/v1/agents', { name: 'Test', goal })
    const paths = async (goal: object) => {
      const { status, body } = await create(goal)
      return [status, ...(body.error?.details ?? []).map(({ path }: { path: string }) => path)]
    }
    const on = (property: string, value: unknown) => ({ property, operator: 'equals', value })
    expect(await paths({ event: '  ' })).toEqual([400, 'goal.event'])
    expect(await paths({ where: [] })).toEqual([400, 'goal.event', 'goal'])
    expect(await paths({ event: 'x', where: [on('contact.email', 'a@b.c')] })).toEqual([400, 'goal.where[0].property'])
    expect(
      (await paths({ event: 'x', where: [{ property: 'timestamp', operator: 'after', value: '2026-01-01' }] }))[0],
    ).toBe(400)
    expect((await create({ event: 'x', where: [] })).body.agent.goal).toEqual({ event: 'x' })
  })
})
