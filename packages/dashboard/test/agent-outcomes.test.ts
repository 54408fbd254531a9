import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertIdentity, MAIL, propose } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { until } from '../../server/test/webhooks.ts'
import { checkPage, openBrowser, type TestBrowser } from './browser.ts'

const NOTE = { note: { content: 'Offer {{variables.offer}} to {{contact.firstname}}.' } }

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let ada: string
let agentId: string

describe.skipIf(!HAS_BROWSER)("an agent's instructions", () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    ada = await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'ada' })
    const { body } = await tenant.call('POST', '/v1/agents', {
      name: 'Scout',
      capabilities: ['notes'],
      llm_config: { provider: 'template' },
      playbook: { playbook_md: 'Be kind.\nOffer something.', messages: NOTE, variables: { offer: 'a call' } },
    })
    agentId = body.agent.agent_id
    const { job_id } = (await tenant.call('POST', `/v1/agents/${agentId}/trigger`, { contact_ids: [ada] })).body
    await until(async () => {
      expect((await tenant.call('GET', `/v1/agents/runs/${job_id}`)).body.run.status).toBe('completed')
    })
  })
  afterAll(() => browser?.close())

  test('are tried on past contacts, beside the saved ones, before they are saved with a goal', async () => {
    const page = await browser.signedIn(tenant, { path: `/agents/${agentId}/edit` })
    await page.getByRole('textbox', { name: 'Value of variable 1' }).fill('a demo')
    await page.getByRole('button', { name: 'Compare' }).click()
    const result = page.getByRole('article', { name: 'Ada' })
    await result.getByText('Different text').waitFor()
    await page.getByRole('status').getByText('The result differs for 1 of 1 contact.').waitFor()
    await result.getByRole('region', { name: 'Saved: version 1' }).getByText('Offer a call to Ada.').waitFor()
    await result.getByRole('region', { name: 'New instructions' }).getByText('Offer a demo to Ada.').waitFor()
    expect(await checkPage(page, 'agent-replay')).toEqual([])
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Be kind.\nOffer a demo.')
    await page.getByText('You have changed the instructions since this comparison.').waitFor()
    const goal = page.getByRole('combobox', { name: 'The goal is that the contact does this' })
    await goal.fill('demo_booked')
    await page.getByRole('option', { name: /demo.booked/i }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('link', { name: 'Outcomes' }).waitFor()
    const { agent } = (await tenant.call('GET', `/v1/agents/${agentId}`)).body
    expect(agent).toMatchObject({ goal: { event: 'demo_booked' }, playbook_version: 2 })
  })

  test('have outcomes, version by version, and say what each changed', async () => {
    const identityId = await insertIdentity(tenant.handle)
    const at = new Date(Date.now() - 86_400_000)
    const sent = await propose(tenant.handle, service.jobs, { contactId: ada, ...MAIL, agentId, identityId, now: at })
    await tenant.handle.db
      .updateTable('agent_actions')
      .set({ status: 'executed', executed_at: at, playbook_version: 2, proposed_params: '{}' })
      .where('run_id', '=', sent.ref.runId)
      .execute()
    await tenant.track({ visitor_id: 'ada', events: [{ event: 'demo_booked' }] })
    const page = await browser.signedIn(tenant, { path: `/agents/${agentId}` })
    await page.getByRole('link', { name: 'Outcomes' }).click()
    const second = page.getByRole('article', { name: 'Version 2' })
    await second.getByText('Current').waitFor()
    const rows = async (name: string) => page.getByRole('article', { name }).getByRole('listitem').allInnerTexts()
    const text = async (name: string) => (await rows(name)).map((row) => row.replace(/\s+/g, ' ').trim())
    expect(await text('Version 2')).toEqual([
      'Proposed 1',
      'Approved 1 · 1 edited',
      'Sent 1',
      'Answered 0',
      'Then: Demo booked 1 · 100% of sent',
      'Unsubscribed 0',
      'Rejected 0',
    ])
    expect((await text('Version 1')).slice(0, 3)).toEqual(['Proposed 1', 'Approved 1 · 1 without asking', 'Sent 0'])
    await second.getByText('1 message is less than 14 days old.').waitFor()
    await second.getByRole('button', { name: 'Show what changed since version 1' }).click()
    const change = second.getByRole('region', { name: 'Instructions of version 2' })
    await change.getByRole('deletion').getByText('Offer something.').waitFor()
    await change.getByRole('insertion').getByText('Offer a demo.').waitFor()
    await change.getByRole('insertion').getByText('offer: a demo').waitFor()
    expect(await checkPage(page, 'agent-outcomes')).toEqual([])
    await page.getByText('Last 30 days').click()
    await page.waitForURL(/days=30/)
    await second.getByText('Current').waitFor()
  })
})
