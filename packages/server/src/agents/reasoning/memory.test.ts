import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type ScriptedModel, startScriptedModel } from '../../../test/scripted-model.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../../test/service.ts'

/** What agents know of earlier proposals. */

let service: TestService
let tenant: TestTenant
let model: ScriptedModel

beforeAll(async () => {
  model = await startScriptedModel()
  service = await startTestService({
    CDS_LLM_ALLOW_PRIVATE: '1',
    CDS_LLM_BASE_URL: model.url,
    CDS_LLM_MODEL: 'scripted',
  })
})
beforeEach(async () => {
  tenant = await createTestTenant(service)
  model.asked.length = 0
})
afterAll(async () => {
  await service.close()
  await model.close()
})

async function agent(body: object = {}): Promise<string> {
  const sender = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
  const { identity_id } = (await tenant.call('POST', '/v1/identities', sender)).body.identity
  const sent = { name: 'Writer', capabilities: ['email', 'notes'], identity_id, ...body }
  const response = await tenant.call('POST', '/v1/agents', sent)
  if (response.status !== 201) throw new Error(JSON.stringify(response.body))
  return response.body.agent.agent_id
}

/** Runs an agent. @returns what became of the contact */
async function run(agentId: string, contactId: string) {
  const { body } = await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids: [contactId] })
  const read = async () => (await tenant.call('GET', `/v1/agents/runs/${body.job_id}`)).body.run
  await expect.poll(async () => (await read()).status).toBe('completed')
  return (await read()).contact_results[0]
}

const says = (...actions: unknown[]) => ({ content: { reasoning: 'Because.', actions } })
const mail = (message: string) => ({ type: 'email_message', params: { subject: 'Hello', message } })
const pathOf = ({ run_id, contact_id, action_index }: Record<string, string>) =>
  `/v1/agents/runs/${run_id}/contacts/${contact_id}/actions/${action_index}`
/** What the model read of the contact in its latest prompt. */
const prompt = () => {
  const data = model.asked.at(-1)?.messages[1]?.content ?? ''
  return JSON.parse(/-----BEGIN DATA \w+-----\n(.*)\n-----END/.exec(data)?.[1] ?? '{}')
}

test('a prompt says what became of earlier proposals to the contact', async () => {
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  const id = await agent()
  model.answer = () => says(mail('Hi Ada,\n\nBuy now!'))
  const [rejected] = (await run(id, ada)).proposed_actions
  const reason = 'Too pushy for a first mail.'
  const { body } = await tenant.call('POST', `${pathOf(rejected)}/reject`, { reason })
  expect(body.action).toMatchObject({ status: 'rejected', reason })
  model.answer = () => says(mail('Hi Ada,\n\nHow is it going?'), { type: 'note', params: { content: 'Be patient.' } })
  const [edited] = (await run(id, ada)).proposed_actions
  const params = { subject: 'Hello', message: 'Hi Ada,\n\nHow are the looms?' }
  expect((await tenant.call('POST', `${pathOf(edited)}/approve`, { params, hold_seconds: 60 })).status).toBe(200)
  model.answer = () => says()
  await run(await agent({ name: 'Another' }), ada)
  const byText = new Map(
    prompt().recent_actions.map((action: { text: string }) => [action.text, action] as [string, object]),
  )
  expect(byText.get('Hi Ada,\n\nBuy now!')).toMatchObject({
    ...{ agent: 'Writer', status: 'rejected', decided_by: 'person', reason, text_before_edit: null },
  })
  expect(byText.get('Hi Ada,\n\nHow are the looms?')).toMatchObject({
    ...{ status: 'approved', decided_by: 'person', text_before_edit: 'Hi Ada,\n\nHow is it going?', replied_at: null },
  })
  expect(byText.get('Be patient.')).toMatchObject({ type: 'note', decided_by: 'agent' })
  // An undone decision is none; the first text is kept as what the agent proposed.
  await tenant.call('POST', '/v1/approvals/undo', { actions: [pick(edited)] })
  await tenant.call('POST', `${pathOf(edited)}/reject`, {})
  await run(id, ada)
  expect(prompt().recent_actions).toContainEqual(
    expect.objectContaining({ status: 'rejected', text_before_edit: 'Hi Ada,\n\nHow is it going?', reason: null }),
  )
})

const pick = ({ run_id, contact_id, action_index }: Record<string, unknown>) => ({ run_id, contact_id, action_index })

test('an agent learns from what people rejected and edited for others, without learning who they are', async () => {
  const bob = await tenant.contact('bob@private.example', { firstname: 'Bartholomew', lastname: 'Babbage' })
  const cleo = await tenant.contact('cleo@private.example', { firstname: 'Cleopatra' })
  const id = await agent()
  model.answer = () => says(mail('Hi Bartholomew,\n\nI know bob@private.example.'))
  const [rejected] = (await run(id, bob)).proposed_actions
  await tenant.call('POST', `${pathOf(rejected)}/reject`, { reason: 'Bartholomew Babbage hates this.' })
  model.answer = () => says(mail('Hi Cleopatra,\n\nBUY!'))
  const [edited] = (await run(id, cleo)).proposed_actions
  const params = { subject: 'Hello', message: 'Hi Cleopatra,\n\nShall we talk?' }
  await tenant.call('POST', `${pathOf(edited)}/approve`, { params, hold_seconds: 60 })
  model.answer = () => says()
  const ada = await tenant.contact('ada@example.com')
  model.asked.length = 0
  await run(id, ada)
  expect(prompt().lessons).toMatchObject({
    rejections: [
      {
        type: 'email_message',
        proposed: 'Hello\nHi [first name],\n\nI know [email address].',
        reason: '[name] hates this.',
      },
    ],
    edits: [{ proposed: 'Hello\nHi [first name],\n\nBUY!', approved: 'Hello\nHi [first name],\n\nShall we talk?' }],
  })
  expect(JSON.stringify(model.asked)).not.toMatch(/bartholomew|babbage|cleopatra|private\.example/i)
  // Another agent has another playbook, and learns from its own.
  await run(await agent({ name: 'Another' }), ada)
  expect(prompt().lessons).toEqual({ rejections: [], edits: [] })
})

test('the template provider does not propose again what a person rejected, says so, and proposes another text', async () => {
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' })
  const messages = (message: string) => ({ email_message: { subject: 'Hello', message } })
  const playbook = { messages: messages('Hi {{contact.firstname}}, buy!') }
  const id = await agent({ capabilities: ['email'], playbook, llm_config: { provider: 'template' } })
  const [rejected] = (await run(id, ada)).proposed_actions
  await tenant.call('POST', `${pathOf(rejected)}/reject`, { reason: 'Too pushy.' })
  const again = await run(id, ada)
  expect(again.proposed_actions).toEqual([])
  expect(again.reasoning).toContain('The same email was rejected today (“Too pushy.”), so it is not proposed again.')
  await tenant.call('PATCH', `/v1/agents/${id}`, { playbook: { messages: messages('Hi {{contact.firstname}}?') } })
  expect((await run(id, ada)).proposed_actions).toMatchObject([{ params: { message: 'Hi Ada?' } }])
})

test('a visit of the pricing page becomes a proposal of a model within a minute', async () => {
  const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v' })
  model.answer = ({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? says(mail('Hi Ada,\n\nYou looked at “Plans”. Any questions?'))
      : { calls: [{ name: 'contact_timeline', arguments: { contact_id: ada, limit: 5 } }] }
  const where = [{ property: 'url_path', operator: 'starts_with', value: '/pricing' }]
  const id = await agent({ enabled: true, monitoring: { triggers: [{ event: 'page_view', where }] } })
  const url = `https://${tenant.site}/pricing`
  await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url, title: 'Plans' }] })
  const waiting = async () => (await tenant.call('GET', `/v1/approvals?agent_id=${id}`)).body.actions
  await expect.poll(waiting, { timeout: 60_000 }).toHaveLength(1)
  const [action] = await waiting()
  expect(action.contact.contact_id).toBe(ada)
  const checks = action.guardrails.filter(({ rule }: { rule: string }) => ['facts', 'other_people'].includes(rule))
  expect(checks).toMatchObject([{ passed: true }, { passed: true }])
})
