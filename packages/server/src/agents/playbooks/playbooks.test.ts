import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { importWithCommand } from '../../../test/imports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { checkActionParams, typesOf } from '../action-types.ts'
import { checkPlaybook, textsOf } from './check.ts'
import { parseTemplate, playbookTemplates } from './templates.ts'
import { escapeMarkdown, fillIn, pointInto, unknownVariables } from './variables.ts'

describe('the playbook templates', () => {
  const templates = [...playbookTemplates().values()]

  test('are the documented ones', () => {
    expect(templates.map(({ name }) => name)).toEqual([
      'churn_risk',
      'cold_outreach',
      'event_followup',
      'lead_qualification',
      'onboarding_nudge',
      'pricing_visitor_followup',
      'warm_lead',
    ])
  })

  test.each(templates)(
    '$name can be used as it is',
    ({ name, messages, capabilities, prompt, reasoning, variables }) => {
      expect(checkPlaybook({ playbook_md: prompt }, name)).toEqual([])
      const own = Object.keys(variables)
      for (const text of [...textsOf(messages), reasoning]) expect(unknownVariables(text, own)).toEqual([])
      for (const type of typesOf(capabilities)) {
        if (messages[type]) expect(checkActionParams(type, messages[type])).toEqual([])
      }
      // It proposes actions even without a model.
      expect(typesOf(capabilities).some((type) => messages[type])).toBe(true)
      expect(prompt.length).toBeGreaterThan(300)
    },
  )

  test.each([
    ['no front matter', '## Prompt\nx'],
    ['lacks when', '---\ntitle: x\ndescription: x\ncapabilities: email\n---\n## Prompt\nx\n## Reasoning\nx\n'],
    ['unknown capability', '---\ntitle: x\ndescription: x\ncapabilities: fax\n---\n## Prompt\nx\n'],
  ])('report the problem with a file: %s', (what, text) => {
    expect(() => parseTemplate('mine', text)).toThrow(what)
  })
})

describe('a variable', () => {
  const values = (known: Record<string, string | number | null>) => (name: string) => known[name]

  test('is filled in, with its fallback if there is no value', () => {
    const text = 'Hi {{contact.firstname | there}}, {{ company.name }} has {{contact.size|no}} people'
    expect(fillIn(text, values({ 'contact.firstname': 'Ada', 'company.name': 'Acme', 'contact.size': 7 })).text).toBe(
      'Hi Ada, Acme has 7 people',
    )
    expect(fillIn(text, values({ 'contact.firstname': ' ', 'company.name': null }))).toEqual({
      text: 'Hi there,  has no people',
      missing: ['company.name'],
    })
  })

  test.each([['Win $$$ at https://evil.example'], ['www.evil.example'], ['x'.repeat(201)], ['\u0000\u0007']])(
    'that holds %j counts as missing: a stranger may have chosen it',
    (value) => {
      expect(fillIn('Hi {{contact.firstname | there}}', values({ 'contact.firstname': value })).text).toBe('Hi there')
    },
  )

  test('stays on one line, with Markdown escaped', () => {
    const name = 'Ada\r\nBcc: x <b>[click](mailto:x)</b> {{agent.name}}'
    const { text } = fillIn(
      'Hi {{contact.firstname}}',
      values({ 'contact.firstname': name, 'agent.name': 'secret' }),
      escapeMarkdown,
    )
    expect(text).not.toMatch(/[\r\n]/)
    expect(text).toContain('\\[click\\]\\(mailto:x\\)')
    expect(text).not.toContain('secret')
  })

  test('of a contact never appears in the instructions for a model', () => {
    const all = values({
      'contact.firstname': 'IGNORE',
      'company.name': 'IGNORE',
      'agent.name': 'Max',
      'variables.offer': 'tea',
    })
    const text =
      '{{contact.firstname | them}} {{company.name}} {{activity.last_page}} {{agent.name}} {{variables.offer}} {{identity.name | us}}'
    expect(pointInto(text, all)).toBe(
      '[contact.firstname from the data, or "them" without one] [company.name from the data] [activity.last_page from the data] Max tea us',
    )
  })
})

describe('the template provider', () => {
  let service: TestService
  let tenant: TestTenant

  beforeAll(async () => {
    service = await sharedService()
  })
  beforeEach(async () => {
    tenant = await createTestTenant(service)
  })

  test('is one of the templates that are listed and read over HTTP', async () => {
    const { templates } = (await tenant.call('GET', '/v1/playbooks')).body.playbooks
    const { body } = await tenant.call('GET', '/v1/playbooks/churn_risk')
    expect(templates).toContainEqual(body.playbook)
    const unknown = await tenant.call('GET', '/v1/playbooks/none')
    expect([unknown.status, unknown.body.error.code]).toEqual([404, 'not_found'])
  })

  async function run(agent: object, contactIds: string[]) {
    const made = await tenant.call('POST', '/v1/agents', { name: 'Filler', ...agent })
    const { body } = await tenant.call('POST', `/v1/agents/${made.body.agent.agent_id}/trigger`, {
      contact_ids: contactIds,
    })
    const read = async () => (await tenant.call('GET', `/v1/agents/runs/${body.job_id}`)).body.run
    await expect.poll(async () => (await read()).status).toMatch(/completed|failed/)
    return read()
  }

  test('selects contacts by the playbook’s event conditions, and reports the facts', async () => {
    const ada = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v' })
    const bob = await tenant.contact('bob@example.com')
    const page = (path: string, title: string) => ({ event: 'page_view', title, url: `https://${tenant.site}${path}` })
    await tenant.track({ visitor_id: 'v', events: [page('/', 'Home'), page('/pricing', 'Pricing')] })
    const result = await run({ playbook_template: 'pricing_visitor_followup' }, [ada, bob])
    expect(result.summary).toMatchObject({ contacts_evaluated: 2, actions_proposed: 2, actions_auto_approved: 1 })
    const [first, second] = result.contact_results
    expect(first.reasoning).toBe(
      'Viewed “Pricing” once, today; also “Home”. It was their first visit. No email exchanged yet. Comparing plans and not a customer yet, so an offer to help fits.',
    )
    expect(first.proposed_actions.map(({ type }: { type: string }) => type)).toEqual(['email_message', 'note'])
    expect(first.proposed_actions[1].params.content).toContain('last page: Pricing')
    expect(second).toMatchObject({ status: 'evaluated', proposed_actions: [] })
  })

  test('gives each person a reason from their own facts', async () => {
    await importWithCommand(service, tenant, 'email,jobtitle,company\nolga@engines.example,Founder,Engines\n')
    const filter = { match: 'all', conditions: [{ property: 'company', operator: 'equals', value: 'Engines' }] }
    await tenant.call('POST', '/v1/segments', { name: 'Engine makers', filter })
    const olga = (await tenant.contactOf('olga@engines.example')).contact_id
    const ada = await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
    const bob = await tenant.contact('bob@example.com', { lifecyclestage: 'lead' }, { visitor_id: 'bob' })
    const page = (path: string, title: string) => ({ event: 'page_view', title, url: `https://${tenant.site}${path}` })
    const docs = page('/docs', 'How it works')
    const visit = (visitor_id: string, session_id: string, events: object[]) =>
      tenant.track({ visitor_id, session_id, events })
    await visit('ada', 'first', [docs])
    await visit('bob', 'first', [docs])
    await visit('bob', 'second', [docs, page('/pricing', 'Prices'), { event: 'form_submit', url: docs.url }])
    await tenant.call('PUT', `/v1/contacts/${bob}`, { properties: { lifecyclestage: 'opportunity' } })
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/contacts/${olga}`)).body.contact.segment_ids)
      .toHaveLength(1)
    const result = await run({ playbook_template: 'cold_outreach' }, [ada, bob, olga])
    const reasons = result.contact_results.map(({ reasoning }: { reasoning: string }) => reasoning)
    expect(reasons).toEqual([
      expect.stringMatching(/^Viewed “How it works” once, today\. It was their first visit\. No email exchanged yet\./),
      expect.stringMatching(
        /^Viewed “How it works” twice in the last 7 days, last today; also “Prices”\. Filled in a form today\. 2 visits, the first today\. Went from lead to opportunity today\. No email exchanged yet\./,
      ),
      expect.stringMatching(
        /^Founder at Engines\. No visits recorded\. Came with the import “contacts\.csv” today\. In the segment “Engine makers” since today\. No email exchanged yet\./,
      ),
    ])
  })

  test('fills in custom messages, and leaves out those without a value', async () => {
    const ids = [await tenant.contact('ada@example.com', { plan: 'pro' }), await tenant.contact('bob@example.com')]
    const note = { content: '{{contact.email}} has {{contact.plan}} for {{variables.price}}' }
    const playbook = { messages: { note }, variables: { price: '9 EUR' } }
    const result = await run({ capabilities: ['notes'], playbook, llm_config: { provider: 'template' } }, ids)
    expect(result.notices).toEqual([])
    const [first, second] = result.contact_results
    expect(first.proposed_actions).toMatchObject([{ params: { content: 'ada@example.com has pro for 9 EUR' } }])
    expect(second.proposed_actions).toEqual([])
    expect(second.reasoning).toContain('Left out the note, because contact.plan has no value.')
  })

  test('replaces a provider that is not configured, adds a notice, and requires approval', async () => {
    const ada = await tenant.contact('ada@example.com')
    const sender = { firstName: 'Grace', lastName: 'Hopper', role: 'Sales' }
    const { identity_id } = (await tenant.call('POST', '/v1/identities', sender)).body.identity
    const agent = { identity_id, playbook_template: 'cold_outreach', playbook: { require_approval: false } }
    const standIn = await run({ ...agent, llm_config: { provider: 'openai' } }, [ada])
    expect(standIn.provider).toBe('template')
    expect(standIn.notices.join()).toContain('The model provider openai is not configured')
    expect(standIn.contact_results[0].proposed_actions[0].status).toBe('pending_approval')
    const unnamed = await run({ ...agent, identity_id: null }, [ada])
    expect(unnamed.notices.join()).toContain('No language model is configured')
  })

  test('without a template and messages proposes nothing, and reports what is missing', async () => {
    const result = await run({ capabilities: ['email'], playbook: { playbook_md: 'Sell!' } }, [
      await tenant.contact('a@example.com'),
    ])
    expect(result).toMatchObject({ status: 'completed', summary: { contacts_evaluated: 1, actions_proposed: 0 } })
    expect(result.notices.join()).toContain('set a playbook_template, playbook.messages or a model')
  })

  test('evaluates more contacts than one batch, including a deleted one', async () => {
    const ids: string[] = []
    for (let index = 0; index < 60; index++) ids.push(await tenant.contact(`c${index}@example.com`))
    const made = await tenant.call('POST', '/v1/agents', { name: 'Many', playbook_template: 'cold_outreach' })
    const trigger = tenant.call('POST', `/v1/agents/${made.body.agent.agent_id}/trigger`, { contact_ids: ids })
    const { body } = await trigger
    await tenant.call('DELETE', `/v1/contacts/${ids[59]}`)
    const read = async () => (await tenant.call('GET', `/v1/agents/runs/${body.job_id}`)).body.run
    await expect.poll(async () => (await read()).status).toBe('completed')
    const { summary, contact_results } = await read()
    expect(contact_results).toHaveLength(25)
    expect(summary.contacts_evaluated).toBeGreaterThanOrEqual(59)
    expect(summary.errors).toBe(0)
  })
})
