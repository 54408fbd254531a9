import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertIdentity } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, isLoaded, openBrowser, openWithin, screenshot, type TestBrowser } from './browser.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> ‮gnihsif'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let visitors: string[]
let segmentId: string

describe.skipIf(!HAS_BROWSER)('the agents', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    await insertIdentity(tenant.handle)
    visitors = []
    for (const name of ['Ada', 'Grace', 'Mary']) {
      const email = `${name.toLowerCase()}@example.com`
      const contact = await tenant.contact(email, { firstname: name, company: 'Engines' }, { visitor_id: `v-${name}` })
      const url = `https://${tenant.site}/pricing`
      await tenant.track({ visitor_id: `v-${name}`, events: [{ event: 'page_view', url, title: 'Pricing' }] })
      visitors.push(contact)
    }
    const filter = { match: 'all', conditions: [{ property: 'company', operator: 'equals', value: 'Engines' }] }
    const { createSegment } = await import('../../server/src/segments/segments.ts')
    segmentId = await tenant.handle.transaction(async (tx) => {
      const made = await createSegment(tx, { name: 'People of Engines', description: null, filter }, new Date())
      // Newer segments, more than one response contains.
      for (let n = 0; n < 100; n++) {
        const none = { name: `Nobody ${n}`, description: null, filter: { match: 'any', conditions: [] } }
        await createSegment(tx, none, new Date())
      }
      return made.segmentId
    })
  })
  afterAll(() => browser?.close())

  test('an agent is created from a template, with a schedule in words, and appears in the list', async () => {
    const page = await browser.signedIn(tenant, { path: '/agents' })
    await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    await page.getByRole('link', { name: 'New agent' }).first().click()
    await page.getByRole('radio', { name: /Pricing visitor follow-up/ }).click()
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe(
      'Pricing visitor follow-up',
    )
    const next = async (title: string) => {
      await page.getByRole('button', { name: 'Next' }).click()
      await page.getByRole('heading', { name: title, level: 2 }).and(page.locator(':focus')).waitFor()
    }
    await next('Audience')
    await page.getByRole('radio', { name: 'Contacts in a segment' }).click()
    expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
    await page.getByRole('combobox', { name: 'Segment' }).selectOption(segmentId)
    await next('Model and instructions')
    const playbook = page.getByRole('textbox', { name: 'Instructions' })
    expect(await playbook.inputValue()).toContain('{{variables.pricing_path}}')
    await playbook.fill('Look at {{contcat.firstname}} and {{variables.pricing_path}}.')
    await page.getByRole('alert').getByText('{{contcat.firstname}}').waitFor()
    await screenshot(page, 'agent-unknown-variable')
    await playbook.fill('Look at ')
    await page.getByRole('button', { name: 'identity.name', exact: true }).click()
    expect(await playbook.inputValue()).toBe('Look at {{identity.name}}')
    await page.getByRole('alert').waitFor({ state: 'hidden' })
    await next('Schedule, triggers and guardrails')
    // One capability with two names is offered once.
    expect(await page.getByRole('checkbox', { name: /^Send messages on / }).count()).toBe(1)
    await page.getByRole('textbox', { name: 'Sender', exact: true }).fill('nobody of this name')
    await page.getByText('No results.').waitFor()
    await page.getByRole('textbox', { name: 'Sender', exact: true }).fill('hopp')
    await page.getByRole('list', { name: 'Senders found' }).getByRole('button', { name: 'Grace Hopper' }).click()
    await page.getByRole('button', { name: 'Change the sender' }).waitFor()
    await page.getByText('This sender has no mailbox, so it cannot send email.').waitFor()
    await page.getByRole('combobox', { name: 'When' }).selectOption('Other…')
    await page.getByLabel('Cron expression').fill('30 8 * * 2')
    await page.getByText('At 08:30, only on Tuesday').waitFor()
    await page.getByText(/^Next: Tue/).waitFor()
    // A button must not move while the next times are being fetched.
    const response = Promise.withResolvers<void>()
    await page.route(/schedule/, (route) => response.promise.then(() => route.continue()))
    const asked = page.waitForRequest(/schedule.*Berlin/)
    const place = () =>
      page
        .getByRole('button', { name: 'Next' })
        .evaluate((button) => button.getBoundingClientRect().top + window.scrollY)
    const placeBefore = await place()
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Europe/Berlin')
    await page.getByText('At 08:30, only on Tuesday (Europe/Berlin)').waitFor()
    await page.keyboard.press('Escape')
    await asked
    await page.getByText(/^Next: Tue/).waitFor({ state: 'detached' })
    expect(await place()).toBe(placeBefore)
    response.resolve()
    await page.getByText(/^Next: Tue/).waitFor()
    expect(await place()).toBe(placeBefore)
    await page.getByLabel('Max contacts per run').fill('2')
    await next('Review')
    await page.getByText('People of Engines').waitFor()
    await page.getByRole('button', { name: 'Start the dry run' }).click()
    await page.getByText(/^Evaluated 2 contacts with .* for US?\$0/).waitFor()
    const tried = page.getByRole('article', { name: 'Mary' })
    await tried.getByText(/Viewed “Pricing” once, today/).waitFor()
    await tried.getByText('Would wait for approval').waitFor()
    await tried.getByText('The identity has no mailbox to send from').waitFor()
    await tried.frameLocator('iframe').getByText('Hi Mary,').waitFor()
    expect(await checkPage(page, 'agent-new-review')).toEqual([])
    const { body: before } = await tenant.call('GET', '/v1/agents')
    expect(before.agents).toEqual([])
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: 'Pricing visitor follow-up', level: 1 }).waitFor()
    const { body } = await tenant.call('GET', '/v1/agents')
    expect(body.agents[0]).toMatchObject({
      playbook_template: 'pricing_visitor_followup',
      capabilities: ['email', 'notes'],
      playbook: { playbook_md: 'Look at {{identity.name}}', require_approval: true },
      monitoring: {
        schedule_cron: '30 8 * * 2',
        time_zone: 'Europe/Berlin',
        max_contacts_per_run: 2,
        filter: { segment_id: segmentId },
      },
      enabled: false,
    })
    await page.getByRole('switch', { name: 'Enabled' }).click()
    await page.getByText('Next run').waitFor()
    await page.getByRole('link', { name: 'Agents' }).first().click()
    await page.getByRole('link', { name: 'Pricing visitor follow-up' }).waitFor()
    await page.getByText('At 08:30, only on Tuesday').waitFor()
  })

  test('an agent gets triggers, and its run says which one noticed the contact', async () => {
    const page = await browser.signedIn(tenant, { path: '/agents' })
    const { body } = await tenant.call('POST', '/v1/agents', {
      name: 'Watcher',
      playbook_template: 'pricing_visitor_followup',
      enabled: true,
    })
    const agentId = body.agent.agent_id
    await openWithin(page, `/agents/${agentId}/edit`)
    await page.getByRole('button', { name: 'Segment entered' }).click()
    const save = page.getByRole('button', { name: 'Save changes' })
    expect(await save.isDisabled()).toBe(true)
    await page.getByRole('combobox', { name: 'When a contact enters this segment' }).selectOption(segmentId)
    await page.getByRole('button', { name: 'Event', exact: true }).click()
    const second = page.getByRole('group', { name: 'Trigger 2' })
    await second.getByRole('combobox', { name: 'When a contact does this' }).click()
    await page.getByRole('option', { name: 'Viewed a page' }).click()
    await second.getByRole('button', { name: 'Event property' }).click()
    await second.getByRole('combobox', { name: 'Property', exact: true }).fill('url_path')
    await page.getByRole('option', { name: 'Url path url_path', exact: true }).click()
    await second.getByRole('combobox', { name: 'Comparison' }).selectOption('starts_with')
    await second.locator('input[aria-label="Value"]').fill('/pricing')
    await page.keyboard.press('Escape')
    await page.getByLabel('Cooldown (hours)').fill('48')
    expect(await checkPage(page, 'agent-triggers')).toEqual([])
    await save.click()
    await page.getByRole('heading', { name: 'Watcher', level: 1 }).waitFor()
    const { agent } = (await tenant.call('GET', `/v1/agents/${agentId}`)).body
    const where = [{ property: 'url_path', operator: 'starts_with', value: '/pricing' }]
    expect(agent.monitoring).toMatchObject({
      triggers: [{ segment_entered: segmentId }, { event: 'page_view', where }],
      cooldown_hours: 48,
    })
    const facts = page.getByText('Triggers', { exact: true }).locator('..')
    await facts.getByText('Entered the segment “People of Engines”').waitFor()
    await facts.getByText(/^Viewed a page, where .*path starts with “\/pricing”$/).waitFor()
    const url = `https://${tenant.site}/pricing`
    await tenant.track({ visitor_id: 'v-Ada', events: [{ event: 'page_view', url, title: 'Pricing' }] })
    const runs = async () => (await tenant.call('GET', `/v1/agents/${agentId}/runs?status=completed`)).body.runs
    await expect.poll(async () => (await runs()).length, { timeout: 15_000 }).toBe(1)
    const [run] = await runs()
    await openWithin(page, `/agents/runs/${run.run_id}`)
    await page.getByText(/by an event, .*: Viewed a page, where .*path starts with “\/pricing”/).waitFor()
    await page.getByText(/Noticed because of the event “page_view”\./).waitFor()
    expect(await checkPage(page, 'run-triggered')).toEqual([])
    expect((await tenant.call('DELETE', `/v1/agents/${agentId}`)).status).toBe(200)
  })

  test("a contact's page names its segments, however many newer segments exist", async () => {
    const page = await browser.signedIn(tenant, { path: `/contacts/${visitors[0]}` })
    await page.getByRole('list', { name: 'Segments' }).getByRole('link', { name: 'People of Engines' }).waitFor()
  })

  test("an edit keeps unchanged fields, and the service's errors are shown", async () => {
    const page = await browser.signedIn(tenant, { path: '/agents' })
    await page.getByRole('link', { name: 'Pricing visitor follow-up' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('textbox', { name: 'Instructions' }).fill('{{nonsense}}')
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('alert').filter({ hasText: 'The agent was not saved' }).getByText('{{nonsense}}').waitFor()
    await page.getByRole('textbox', { name: 'Instructions' }).fill('Be kind.')
    await page.getByRole('combobox', { name: 'When' }).selectOption('No schedule')
    await page.getByRole('radio', { name: 'Contacts that match a filter' }).click()
    await page.getByRole('combobox', { name: 'Property' }).fill('firstname')
    await page.getByRole('option', { name: 'First name firstname', exact: true }).click()
    await page.locator('input[aria-label="Value"]').fill('Ada')
    await page.getByText('1', { exact: true }).first().waitFor()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor()
    const { body } = await tenant.call('GET', '/v1/agents')
    expect(body.agents[0]).toMatchObject({
      playbook: { playbook_md: 'Be kind.' },
      monitoring: { filter: { match: 'all' }, max_contacts_per_run: 2 },
      enabled: true,
    })
    expect(body.agents[0].monitoring.schedule_cron).toBeUndefined()
  })

  test('it runs for chosen contacts, and the run shows the reasons for its proposals', async () => {
    const page = await browser.signedIn(tenant, { path: '/agents', role: 'member' })
    await page.getByRole('link', { name: 'Pricing visitor follow-up' }).click()
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByRole('radio', { name: 'Contacts that I choose' }).click()
    await page.getByLabel('Find contacts').fill('grace')
    await page.getByRole('button', { name: /Grace/ }).click()
    await page.getByLabel('Find contacts').fill('ada@')
    await page.getByRole('button', { name: /Ada/ }).click()
    await screenshot(page, 'agent-run-now')
    await page.getByRole('button', { name: 'Start the run' }).click()
    await page.waitForURL(/\/agents\/runs\//)
    await page.getByText('Completed').waitFor()
    const card = page.getByRole('article', { name: 'Grace' })
    await card.getByText(/Viewed “Pricing” once, today/).waitFor()
    await card.getByText('Questions about our plans?').waitFor()
    await card.getByText('Waiting for approval').waitFor()
    await page.getByText('Good to know').waitFor()
    expect(await checkPage(page, 'run')).toEqual([])
    await card.getByRole('link', { name: 'Decide in the inbox' }).click()
    await page.getByRole('option', { name: /^Grace/ }).waitFor()
  })

  test('a run in progress shows its progress, refreshes automatically and can be cancelled', async () => {
    const { body } = await tenant.call('GET', '/v1/agents')
    const { agent_id } = body.agents[0]
    const runs = await tenant.call('GET', `/v1/agents/${agent_id}/runs`)
    const { run_id } = runs.body.runs[0]
    const set = (status: string) =>
      tenant.handle.db.updateTable('agent_runs').set({ status, finished_at: null }).where('run_id', '=', run_id)
    const stand = (status: string) =>
      tenant.handle.db
        .updateTable('agent_run_contacts')
        .set({ status })
        .where('run_id', '=', run_id)
        .where('contact_id', '=', visitors[1] ?? '')
    await set('running').execute()
    await stand('pending').execute()
    const page = await browser.signedIn(tenant, { path: `/agents/runs/${run_id}` })
    await page.getByText('Running').waitFor()
    await page.getByText('1 of 2 done').waitFor()
    expect(await page.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('50')
    expect(await checkPage(page, 'run-under-way')).toEqual([])
    await stand('evaluated').execute()
    await page.getByText('2 of 2 done').waitFor()
    await page.getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the run' }).click()
    await page.getByText('Cancelled').waitFor()
    expect(await page.getByRole('button', { name: 'Cancel the run' }).count()).toBe(0)
    await set('running').execute()
    await openWithin(page, `/agents/runs/${run_id}`)
    await page.getByText('Running').waitFor()
    await set('completed').execute()
    await page.getByText('Completed').waitFor()
  })

  test('the rules for all agents can be changed', async () => {
    const page = await browser.signedIn(tenant, { path: '/agents/settings' })
    await page.getByLabel('Minimum days between outreach to a contact').fill('14')
    await page.getByRole('switch', { name: 'Quiet hours' }).click()
    await page.getByLabel('Quiet from').fill('21:30')
    await page.getByLabel('Max model cost per month').fill('25')
    await page.getByRole('button', { name: 'Save the rules' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByText('so far this month of').waitFor()
    expect(await checkPage(page, 'agent-settings')).toEqual([])
    await page.getByRole('combobox', { name: 'Time zone' }).fill('Mars')
    await page.getByRole('button', { name: 'Save the rules' }).click()
    await page.getByRole('alert').getByText('must be an IANA time zone').waitFor()
    const { readAgentSettings } = await import('../../server/src/agents/actions/settings.ts')
    expect(await readAgentSettings(tenant.handle)).toMatchObject({
      outreach_interval_days: 14,
      quiet_hours: { from: '21:30', to: '08:00' },
      monthly_cost_cap_usd: 25,
    })
  })

  test('a viewer sees agents, runs and rules, but no controls to change them', async () => {
    const page = await browser.signedIn(tenant, { path: '/agents', role: 'viewer' })
    await page.getByRole('link', { name: 'Pricing visitor follow-up' }).click()
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    for (const name of ['Run now', 'Delete']) expect(await page.getByRole('button', { name }).count(), name).toBe(0)
    expect(await page.getByRole('switch').count()).toBe(0)
    await openWithin(page, '/agents/settings')
    await page.getByText('Only admins can change these rules.').waitFor()
    expect(await page.getByRole('button', { name: 'Save the rules' }).count()).toBe(0)
    expect(await page.getByLabel('Minimum days between outreach to a contact').isDisabled()).toBe(true)
  })

  describe('with hostile texts', () => {
    let path: string

    beforeAll(async () => {
      const { agent_id } = (await tenant.call('GET', '/v1/agents')).body.agents[0]
      path = `/v1/agents/${agent_id}`
      const texts = { name: HOSTILE, description: HOSTILE, playbook: { playbook_md: HOSTILE } }
      expect((await tenant.call('PATCH', path, texts)).status).toBe(200)
      path = `/agents/${agent_id}`
    })

    test.each([
      ['agents', () => '/agents', /onerror/],
      ['agent', () => path, /How it works/],
      ['agent-new', () => '/agents/new', /A starting point/],
      ['agent-edit', () => `${path}/edit`, /Allowed actions/],
    ])('%s is accessible', async (name, address, text) => {
      const page = await browser.signedIn(tenant, { path: address() })
      await page.getByText(text).first().waitFor()
      await isLoaded(page)
      expect(await page.locator('img[src="x"]').count()).toBe(0)
      expect(await checkPage(page, name)).toEqual([])
    })

    test('an agent is deleted', async () => {
      const page = await browser.signedIn(tenant, { path: '/agents' })
      await page.getByRole('link', { name: /onerror/ }).click()
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('button', { name: 'Delete agent' }).click()
      await page.getByRole('heading', { name: 'No agents yet' }).waitFor()
    })
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
