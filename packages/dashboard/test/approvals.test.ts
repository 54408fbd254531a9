import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { approveAction } from '../../server/src/agents/actions/decide.ts'
import { insertAgent, insertIdentity, MAIL, NOTE, propose } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, nextFrame, openBrowser, screenshot, type TestBrowser } from './browser.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> ‮gnihsif'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let agentId: string
let identityId: string

async function waiting(firstname: string, more: object = {}) {
  const properties = { firstname, lastname: 'Lovelace', company: 'Analytical Engines', jobtitle: 'Head of numbers' }
  const contactId = await tenant.contact(`p${Math.random().toString(36).slice(2)}@example.com`, properties)
  return propose(tenant.handle, service.jobs, { contactId, identityId, agentId, ...MAIL, ...more })
}

const newTenant = async () => {
  tenant = await createTestTenant(service)
  identityId = await insertIdentity(tenant.handle)
  agentId = await insertAgent(tenant.handle, identityId, 'Pricing scout')
}

describe.skipIf(!HAS_BROWSER)('the inbox of approvals', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    await newTenant()
  })
  afterAll(() => browser?.close())

  test('without pending actions it says so', async () => {
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByRole('heading', { name: 'Nothing to approve' }).waitFor()
    expect(await checkPage(page, 'approvals-empty')).toEqual([])
  })

  test('an action shows its recipient, sender, reasoning and exact content; it can be edited before it is approved', async () => {
    const message = 'Hello **Ada**,\n\nwe saw [this](https://example.com/offer).\n\n- one\n- two'
    const { ref } = await waiting('Ada', { params: { subject: 'Your trial', message } })
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    const card = page.getByRole('article', { name: 'Ada Lovelace' })
    await card.getByText('They asked.').waitFor()
    await card.getByText('Your trial').waitFor()
    await card.getByText('Grace Hopper').waitFor()
    await card.getByRole('link', { name: 'this' }).waitFor()
    await page
      .getByRole('link', { name: /Approvals/ })
      .getByText('1')
      .waitFor()
    await card.getByRole('button', { name: 'Show source' }).click()
    await card.getByText('(https://example.com/offer)').waitFor()
    await card.getByRole('button', { name: 'Edit' }).click()
    await screenshot(page, 'approvals-editing')
    await card.getByLabel('Subject').fill('A better subject')
    await card.getByRole('button', { name: 'Approve this version' }).click()
    await card.getByText(/^Approved\./).waitFor()
    const stored = await tenant.handle.db
      .selectFrom('agent_actions')
      .select(['params', 'decided_by'])
      .where('run_id', '=', ref.runId)
      .executeTakeFirstOrThrow()
    expect(stored).toMatchObject({ params: { subject: 'A better subject', message }, decided_by: { kind: 'user' } })
    await page.getByRole('button', { name: 'All decided: load more' }).click()
    await page.getByRole('heading', { name: 'Nothing to approve' }).waitFor()
  })

  test('a person whose action was decided meanwhile sees by whom', async () => {
    const { ref } = await waiting('Late')
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    const card = page.getByRole('article', { name: 'Late Lovelace' })
    await card.waitFor()
    const actor = { kind: 'user', id: '00000000-0000-4000-8000-000000000001', name: 'Mary Quick' } as const
    await approveAction(tenant.handle, { jobs: service.jobs }, ref, { actor }, new Date())
    await card.getByRole('button', { name: 'Approve' }).click()
    await card
      .getByRole('alert')
      .getByText(/Mary Quick already approved this action/)
      .waitFor()
    await screenshot(page, 'approvals-second')
  })

  test('a whole inbox can be decided by keyboard', async () => {
    await newTenant()
    for (const name of ['One', 'Two', 'Three', 'Four']) await waiting(name)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    // Newest first.
    await page.getByRole('article', { name: 'Four Lovelace' }).waitFor()
    // The shortcuts work once the inbox is rendered.
    await nextFrame(page)
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(1)
    await screenshot(page, 'approvals-shortcuts')
    // They do nothing in a dialog.
    await page.keyboard.press('a')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('a')
    await page
      .getByRole('article', { name: 'Four Lovelace' })
      .getByText(/^Approved\./)
      .waitFor()
    // The next one has the focus: reject it, with a reason that contains shortcut keys.
    await page.keyboard.press('r')
    // The field gets the focus after it is rendered.
    await page.getByLabel('Reason').and(page.locator(':focus')).waitFor()
    await page.keyboard.type('jar: already a customer')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page
      .getByRole('article', { name: 'Three Lovelace' })
      .getByText(/^Rejected\./)
      .waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? '')
    expect(await focused()).toContain('Two Lovelace')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    await page.getByLabel('Subject').waitFor()
    await page.keyboard.type(' and a')
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hello and a')
    await page.keyboard.press('Enter')
    await page
      .getByRole('article', { name: 'One Lovelace' })
      .getByText(/^Approved\./)
      .waitFor()
    const reasons = await tenant.handle.db
      .selectFrom('audit_log')
      .select('details')
      .where('action', '=', 'action.rejected')
      .execute()
    expect(reasons).toMatchObject([{ details: { reason: 'jar: already a customer' } }])
  })

  test('several are decided at once, and each shows its result', async () => {
    await newTenant()
    const proposed = [await waiting('First'), await waiting('Second'), await waiting('Third')]
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByLabel('Select all 3').click()
    const gone = proposed[0]
    if (!gone) throw new Error('nothing was proposed')
    const actor = { kind: 'user', id: '00000000-0000-4000-8000-000000000001', name: 'Mary Quick' } as const
    await approveAction(tenant.handle, { jobs: service.jobs }, gone.ref, { actor }, new Date())
    await page.getByRole('button', { name: 'Reject selected' }).click()
    await page.getByLabel('Reason').fill('Not now')
    await page.getByRole('button', { name: 'Reject 3' }).click()
    await page
      .getByRole('article', { name: 'First Lovelace' })
      .getByText(/Mary Quick already approved/)
      .waitFor()
    await page
      .getByRole('article', { name: 'Second Lovelace' })
      .getByText(/^Rejected\./)
      .waitFor()
    await page
      .getByRole('article', { name: 'Third Lovelace' })
      .getByText(/^Rejected\./)
      .waitFor()
    await screenshot(page, 'approvals-bulk')
  })

  test('hostile content of every kind is shown harmlessly, small and large, light and dark', async () => {
    await newTenant()
    await waiting(HOSTILE, { params: { subject: HOSTILE, message: `${HOSTILE}\n\n[x](javascript:alert(1))` } })
    await waiting('Noted', { ...NOTE, requireApproval: true })
    await waiting('Social', { type: 'social_message', params: { message: `Hello\n\n${'x'.repeat(400)}` } })
    await waiting('Changed', {
      type: 'crm_update',
      params: { properties: { lifecyclestage: 'lead', [HOSTILE]: HOSTILE } },
    })
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByRole('article').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
    expect(await checkPage(page, 'approvals')).toEqual([])
  })

  test('a viewer sees pending actions but has no controls to decide', async () => {
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'viewer' })
    await page.getByRole('article').first().waitFor()
    for (const name of ['Approve', 'Edit', 'Reject', 'Shortcuts', 'Approve selected']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    }
    await page.keyboard.press('a')
    await page.keyboard.press('r')
    expect(await page.getByRole('dialog').count()).toBe(0)
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
