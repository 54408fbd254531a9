import type { Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { approveAction } from '../../server/src/agents/actions/decide.ts'
import { actionOf, insertAgent, insertIdentity, MAIL, NOTE, propose } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type MailBench, startMailBench } from '../../server/test/mail.ts'
import { createTestTenant, type TestService, type TestTenant } from '../../server/test/service.ts'
import {
  checkPage,
  keepPicture,
  nextFrame,
  openBrowser,
  openWithin,
  reopen,
  screenshot,
  type TestBrowser,
} from './browser.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> ‮gnihsif'

let bench: MailBench
let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let agentId: string
let identityId: string

async function waiting(firstname: string, more: object = {}) {
  const work = { company: 'Analytical Engines', jobtitle: 'Head of numbers', lifecyclestage: 'opportunity' }
  const properties = { firstname, lastname: 'Lovelace', ...work }
  const contactId = await tenant.contact(`p${Math.random().toString(36).slice(2)}@example.com`, properties)
  return propose(tenant.handle, service.jobs, { contactId, identityId, agentId, ...MAIL, ...more })
}

const newTenant = async () => {
  tenant = await createTestTenant(service)
  identityId = (await bench.addSender(tenant)).identityId
  agentId = await insertAgent(tenant.handle, identityId, 'Pricing scout')
}

describe.skipIf(!HAS_BROWSER)('the inbox of approvals', () => {
  beforeAll(async () => {
    bench = await startMailBench()
    service = bench.service
    browser = await openBrowser(service)
    await newTenant()
  })
  afterAll(async () => {
    await browser?.close()
    await bench?.close()
  })

  test('without pending actions it says so', async () => {
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByRole('heading', { name: 'Nothing to approve' }).waitFor()
  })

  test('an action shows its recipient, sender, reasoning and exact content; it can be edited before it is approved', async () => {
    const message = 'Hi **Ada**,\n\nWe saw [this](https://example.com/offer).\n\nBest regards\nGrace'
    const { ref } = await waiting('Ada', { params: { subject: 'Your trial', message } })
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    const card = page.getByRole('article', { name: 'Ada Lovelace' })
    await card.getByText('opportunity').waitFor()
    await card.getByText('Head of numbers at Analytical Engines').waitFor()
    await card.getByText('Never seen on your site').waitFor()
    await card.getByText('Why now').waitFor()
    await card.getByText('They asked.').waitFor()
    await card.getByText('Your trial').waitFor()
    await card.getByText('Ada Lovelace <').waitFor()
    const mail = card.frameLocator('iframe')
    await mail.getByRole('link', { name: 'this' }).waitFor()
    await mail.getByRole('link', { name: 'Unsubscribe' }).waitFor()
    expect(await mail.locator('body').innerHTML()).toContain('Best regards<br>Grace')
    await page
      .getByRole('link', { name: /Approvals/ })
      .getByText('1')
      .waitFor()
    await card.getByRole('button', { name: 'Show plain text' }).click()
    await card.getByText('(https://example.com/offer)').waitFor()
    await card.getByRole('button', { name: 'Edit' }).click()
    await card.getByLabel('Message').fill('Another text.')
    await card.getByRole('region', { name: 'Preview' }).frameLocator('iframe').getByText('Another text.').waitFor()
    await card.getByLabel('Message').fill(message)
    await screenshot(page, 'approvals-editing')
    await card.getByLabel('Subject').fill('A better subject')
    await card.getByRole('button', { name: 'Approve this version' }).click()
    await card.getByText(/^Sent to p.*@example\.com\.$/).waitFor()
    await card.getByText('Done', { exact: true }).waitFor()
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
    await approveAction(tenant.handle, service.jobs, ref, { actor }, new Date())
    await card.getByRole('button', { name: 'Approve' }).click()
    await card
      .getByRole('alert')
      .getByText(/Mary Quick already approved this action/)
      .waitFor()
    await screenshot(page, 'approvals-second')
  })

  test('a whole inbox can be decided by keyboard', async () => {
    await newTenant()
    for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) await waiting(name)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    // Newest first, and its preview is shown.
    await page.getByRole('article', { name: 'Five Lovelace' }).waitFor()
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
    await row(page, 'Five')
      .getByText(/^(Approved\.|Sent to)/)
      .waitFor()
    // The next one has the focus and the preview: reject it, for a usual reason.
    await page.getByRole('article', { name: 'Four Lovelace' }).waitFor()
    expect(await focused(page)).toContain('Four Lovelace')
    const firstReason = page.getByRole('button', { name: 'Not now' }).and(page.locator(':focus'))
    await page.keyboard.press('r')
    await firstReason.waitFor()
    await screenshot(page, 'approvals-reject')
    await page.keyboard.press('2')
    await row(page, 'Four')
      .getByText(/^Rejected\./)
      .waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    // With a reason of one's own that contains shortcut keys.
    await page.keyboard.press('r')
    // A dialog takes the focus a moment after it opens: what is typed before that goes elsewhere.
    await firstReason.waitFor()
    await page.getByLabel('Another reason').focus()
    await page.keyboard.type('jar: already a customer, 1 year')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await row(page, 'Three')
      .getByText(/^Rejected\./)
      .waitFor()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    expect(await focused(page)).toContain('Two Lovelace')
    await page.keyboard.press('x')
    await page.getByText('1 selected').waitFor()
    expect(await row(page, 'Two').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    await page.getByLabel('Subject').waitFor()
    await page.keyboard.type(' and a')
    expect(await page.getByLabel('Subject').inputValue()).toBe('Hello and a')
    await page.keyboard.press('Enter')
    await row(page, 'One')
      .getByText(/^(Approved\.|Sent to)/)
      .waitFor()
    const reasons = await tenant.handle.db
      .selectFrom('audit_log')
      .select('details')
      .where('action', '=', 'action.rejected')
      .orderBy('at')
      .execute()
    expect(reasons).toMatchObject([
      { details: { reason: 'Wrong person' } },
      { details: { reason: 'jar: already a customer, 1 year' } },
    ])
  })

  test('the chosen action is in the address, and the arrow keys and Shift select in the list', async () => {
    await newTenant()
    for (const name of ['One', 'Two', 'Three', 'Four']) await waiting(name)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await row(page, 'Three').click()
    await page.getByRole('article', { name: 'Three Lovelace' }).waitFor()
    await expect.poll(() => page.url()).toContain('action=')
    await reopen(page)
    await page.getByRole('article', { name: 'Three Lovelace' }).waitFor()
    await row(page, 'Three').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByRole('article', { name: 'Two Lovelace' }).waitFor()
    expect(await focused(page)).toContain('Two Lovelace')
    await page.keyboard.press('Shift+K')
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('Shift+ArrowUp')
    await page.getByText('3 selected').waitFor()
    await page.keyboard.press(' ')
    await page.getByText('2 selected').waitFor()
    await row(page, 'One').click({ modifiers: ['Shift'] })
    await page.getByText('4 selected').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('article', { name: 'One Lovelace' }).and(page.locator(':focus')).waitFor()
    await openWithin(page, '/approvals?action=none/none/0')
    await page.getByText('The action of this link is not on this page').waitFor()
  })

  test('a decision can be undone for some seconds; then it has begun to execute', async () => {
    await newTenant()
    const { ref } = await waiting('Hasty')
    await waiting('Other')
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await row(page, 'Hasty').click()
    await nextFrame(page)
    await page.keyboard.press('a')
    const bar = page.getByRole('region', { name: 'Last decision' })
    await bar.getByText(/^Approved for .?Hasty Lovelace.?\. It executes in a few seconds\.$/).waitFor()
    await screenshot(page, 'approvals-undo')
    await page.keyboard.press('z')
    await bar.getByText('Undone: the action waits again.').waitFor()
    await page.getByRole('article', { name: 'Hasty Lovelace' }).getByRole('button', { name: 'Approve' }).waitFor()
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'pending_approval', decided_by: null })
    await page.keyboard.press('r')
    await page.getByRole('button', { name: 'Wrong tone' }).click()
    await bar.getByRole('button', { name: 'Undo' }).click()
    // The choice comes back with the action; until then, the keys decide the one that is shown.
    await page.getByRole('article', { name: 'Hasty Lovelace' }).getByRole('button', { name: 'Approve' }).waitFor()
    await nextFrame(page)
    await page.keyboard.press('a')
    await row(page, 'Hasty')
      .getByText(/^Sent to/)
      .waitFor()
    await expect.poll(() => bar.getByRole('button', { name: 'Undo' }).count()).toBe(0)
  })

  test('a key that is pressed before an undo is answered decides nobody else', async () => {
    await newTenant()
    const { ref: other } = await waiting('Other')
    await waiting('Hasty')
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await row(page, 'Hasty').click()
    await nextFrame(page)
    await page.keyboard.press('a')
    const bar = page.getByRole('region', { name: 'Last decision' })
    await bar.getByRole('button', { name: 'Undo' }).waitFor()
    const gate = Promise.withResolvers<void>()
    await page.route('**/v1/approvals/undo', async (route) => {
      await gate.promise
      await route.continue()
    })
    await page.keyboard.press('z')
    await nextFrame(page)
    await page.keyboard.press('a')
    await nextFrame(page)
    gate.resolve()
    await bar.getByText('Undone: the action waits again.').waitFor()
    expect(await actionOf(tenant.handle, other)).toMatchObject({ status: 'pending_approval' })
  })

  test('many are approved at once, in view of how far they are, and undone together', async () => {
    await newTenant()
    for (let index = 0; index < 12; index++) await waiting(`Person${index}`)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await page.getByLabel('Select all 12').click()
    const gate = Promise.withResolvers<void>()
    let requests = 0
    await page.route('**/v1/approvals/approve', async (route) => {
      if (++requests > 1) await gate.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Approve selected' }).click()
    const bar = page.getByRole('region', { name: 'Last decision' })
    await bar.getByText('Approving: 5 of 12 done').waitFor()
    gate.resolve()
    await bar.getByText('12 approved. They execute in a few seconds.').waitFor()
    await screenshot(page, 'approvals-many')
    await bar.getByRole('button', { name: 'Undo' }).click()
    await bar.getByText('Undone: 12 actions wait again.').waitFor()
    await page.getByLabel('Select all 12').waitFor()
    const statuses = await tenant.handle.db.selectFrom('agent_actions').select('status').distinct().execute()
    expect(statuses).toEqual([{ status: 'pending_approval' }])
  })

  test('a late undo says that the action has begun to execute', async () => {
    await newTenant()
    const { ref } = await waiting('Late')
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await page.getByRole('article', { name: 'Late Lovelace' }).getByRole('button', { name: 'Approve' }).click()
    const bar = page.getByRole('region', { name: 'Last decision' })
    await bar.getByRole('button', { name: 'Undo' }).waitFor()
    await tenant.handle.db
      .updateTable('agent_actions')
      .set({ execution: JSON.stringify({ attempts: 1, failures: 0, key: 'k', may_have_been_sent: true }) })
      .where('run_id', '=', ref.runId)
      .execute()
    await bar.getByRole('button', { name: 'Undo' }).click()
    await bar.getByText('The service has begun to execute this action').waitFor()
    await screenshot(page, 'approvals-undo-late')
  })

  test('on a phone the preview opens over the list, and the next one follows a decision', async () => {
    await newTenant()
    for (const name of ['One', 'Two', 'Three']) await waiting(name)
    const reasoning = 'Viewed “Pricing” three times since 18 October. '.repeat(5)
    await tenant.handle.db.updateTable('agent_run_contacts').set({ reasoning }).execute()
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await page.setViewportSize({ width: 390, height: 780 })
    await row(page, 'Three').waitFor()
    expect(await page.getByRole('article').count()).toBe(0)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    const rowWidth = await row(page, 'Three').evaluate((each) => each.getBoundingClientRect().right)
    expect([wide <= 0, rowWidth <= 390]).toEqual([true, true])
    await keepPicture(page, 'approvals-phone-list')
    await row(page, 'Three').click()
    const preview = page.getByRole('article', { name: 'Three Lovelace' })
    await preview.getByRole('button', { name: 'Back to the list' }).click()
    await row(page, 'Three').and(page.locator(':focus')).waitFor()
    await row(page, 'Three').click()
    await preview.waitFor()
    await page.goBack()
    await row(page, 'Three').waitFor()
    await row(page, 'Three').click()
    await expect.poll(() => page.locator('article iframe').evaluateAll(countFitted)).toBe(1)
    await keepPicture(page, 'approvals-phone-preview')
    await preview.getByRole('button', { name: 'Approve' }).click()
    for (const name of ['Two', 'One']) {
      const next = page.getByRole('article', { name: `${name} Lovelace` })
      await next.and(page.locator(':focus')).waitFor()
      await next.getByRole('button', { name: 'Reject' }).click()
      await page.getByRole('button', { name: 'Not now' }).click()
    }
    await row(page, 'Two')
      .getByText(/^Rejected\./)
      .waitFor()
  })

  test('the list is narrowed to an agent and a kind of action', async () => {
    await newTenant()
    await waiting('Mailed')
    const proposedBy = { kind: 'service' } as const
    await waiting('Noted', { ...NOTE, proposedBy, agentId: await insertAgent(tenant.handle, identityId, 'Note taker') })
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await row(page, 'Noted').waitFor()
    await page.getByLabel('Kind of action').selectOption('Email')
    await row(page, 'Noted').waitFor({ state: 'detached' })
    await page.getByLabel('Agent', { exact: true }).selectOption('Note taker')
    await page.getByRole('heading', { name: 'No waiting action matches these filters' }).waitFor()
    await page.getByRole('button', { name: 'Show all' }).click()
    await row(page, 'Mailed').waitFor()
    await row(page, 'Noted').waitFor()
  })

  test('after a decision, the row of the next action is wholly in view, below the bar, and its preview beside it', async () => {
    await newTenant()
    for (let index = 0; index < 15; index++) await waiting(`Person${index}`)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    await page.setViewportSize({ width: 1440, height: 600 })
    await row(page, 'Person14').waitFor()
    await nextFrame(page)
    for (const key of [...'jjjjjjjjjjarjkj']) {
      await page.keyboard.press(key === 'r' ? 'j' : key)
      await nextFrame(page)
      const place = await page.evaluate(() => {
        const bar = document.querySelector('section[aria-label="Selection"]')
        const preview = document.querySelector('article')
        const option = document.activeElement?.closest('[role=option]')
        if (!option || !bar || !preview) throw new Error('nothing has the focus')
        const box = option.getBoundingClientRect()
        const { bottom: end } = bar.getBoundingClientRect()
        const { top: beside } = preview.getBoundingClientRect()
        return { top: box.top, bottom: box.bottom, bar: end, beside }
      })
      expect(place.top, key).toBeGreaterThanOrEqual(place.bar)
      expect(place.bottom, key).toBeLessThanOrEqual(600)
      expect(place.beside, key).toBeGreaterThanOrEqual(0)
    }
    await keepPicture(page, 'approvals-focus')
  })

  test('an approval that would fail is not offered, and says what is missing', async () => {
    await newTenant()
    const mute = await insertIdentity(tenant.handle)
    const { ref } = await waiting('Mute', { identityId: mute })
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    const card = page.getByRole('article', { name: 'Mute Lovelace' })
    await card.getByText('The identity has no mailbox to send from. Connect one.').waitFor()
    expect(await card.getByText('All guardrails pass').count()).toBe(0)
    expect(await card.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true)
    await nextFrame(page)
    await page.keyboard.press('a')
    await card.getByRole('alert').getByText('The action is still waiting').waitFor()
    await page.getByLabel('Select all 1').click()
    await page.getByRole('button', { name: 'Approve selected' }).click()
    await row(page, 'Mute')
      .getByText(/^Still waiting: The identity has no mailbox/)
      .waitFor()
    await screenshot(page, 'approvals-blocked')
    expect(await actionOf(tenant.handle, ref)).toMatchObject({ status: 'pending_approval' })
    await card.getByRole('link', { name: 'Open the sender' }).click()
    await page.waitForURL(`/identities/${mute}`)
    await tenant.handle.db.updateTable('agent_actions').set({ identity_id: identityId }).execute()
    await openWithin(page, '/approvals')
    await card.getByText('All guardrails pass').waitFor()
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByText(/^Sent to/).waitFor()
  })

  test('what somebody else proposes for an agent says who and why, in the inbox and in its run', async () => {
    await newTenant()
    const settings = { name: 'Pricing scout', capabilities: ['notes'], identity_id: identityId, enabled: true }
    const { agent_id } = (await tenant.call('POST', '/v1/agents', settings)).body.agent
    const contact_id = await tenant.contact('outside@example.com', { firstname: 'Olga', lastname: 'Lovelace' })
    const proposal = { contact_id, ...NOTE, reason: `They asked twice. ${HOSTILE}` }
    const proposed = await tenant.call('POST', `/v1/agents/${agent_id}/actions`, proposal)
    expect(proposed.status).toBe(201)
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    const card = page.getByRole('article', { name: 'Olga Lovelace' })
    await card.getByText('Proposed by API key “all” for the agent Pricing scout').waitFor()
    await card.getByText('They asked twice.').waitFor()
    await screenshot(page, 'approvals-proposed')
    await card.getByRole('link', { name: 'Pricing scout' }).click()
    await page.getByRole('heading', { name: 'Proposal' }).waitFor()
    await page.getByText(/^proposed by API key “all”, /).waitFor()
    await page.getByText('They asked twice.').waitFor()
    expect(await page.getByRole('region', { name: 'Summary' }).count()).toBe(0)
    await screenshot(page, 'run-proposal')
    await page.getByRole('link', { name: 'Decide in the inbox' }).click()
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByText('Added.').waitFor()
    await page.getByRole('navigation').getByRole('link', { name: 'Agents' }).click()
    await page
      .getByRole('row', { name: /^Pricing scout.*Enabled.*never/ })
      .getByRole('link')
      .click()
    await page.getByRole('cell', { name: 'proposed by API key “all”' }).waitFor()
    await screenshot(page, 'agent-with-proposal')
  })

  test('an email that the mail server refuses is announced, and shown in the card and in the run', async () => {
    await newTenant()
    const { ref } = await waiting('Refused')
    const { smtp } = bench.servers
    smtp.onRecipient = () => ({ code: 550, text: '5.1.1 no such user' })
    const page = await browser.signedIn(tenant, { path: '/approvals', role: 'member' })
    const card = page.getByRole('article', { name: 'Refused Lovelace' })
    await card.getByRole('button', { name: 'Approve' }).click()
    await card.getByRole('alert').getByText('no such user').waitFor()
    await card.getByText('Failed', { exact: true }).waitFor()
    await page.locator('.mantine-Notification-root').getByText('Email for Refused Lovelace failed').waitFor()
    await screenshot(page, 'approvals-failed')
    await openWithin(page, `/agents/runs/${ref.runId}`)
    const result = page.getByRole('article', { name: 'Refused Lovelace' })
    await result.getByText('Email failed').waitFor()
    await result.getByText('no such user').first().waitFor()
    smtp.onRecipient = () => null
  })

  test('several are decided at once, and each shows its result', async () => {
    await newTenant()
    const proposed = [await waiting('First'), await waiting('Second'), await waiting('Third')]
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByLabel('Select all 3').click()
    const gone = proposed[0]
    if (!gone) throw new Error('nothing was proposed')
    const actor = { kind: 'user', id: '00000000-0000-4000-8000-000000000001', name: 'Mary Quick' } as const
    await approveAction(tenant.handle, service.jobs, gone.ref, { actor }, new Date())
    await page.getByRole('button', { name: 'Reject selected' }).click()
    await page.getByLabel('Another reason').fill('Not now')
    await page.getByRole('button', { name: 'Reject 3' }).click()
    await row(page, 'First')
      .getByText(/Mary Quick already approved/)
      .waitFor()
    await row(page, 'Second')
      .getByText(/^Rejected\./)
      .waitFor()
    await row(page, 'Third')
      .getByText(/^Rejected\./)
      .waitFor()
    await page.getByText('1 could not be rejected. The list says why.').waitFor()
    await screenshot(page, 'approvals-bulk')
  })

  test('hostile content of every kind is shown harmlessly, small and large, light and dark', async () => {
    await newTenant()
    await waiting(HOSTILE, { params: { subject: HOSTILE, message: `${HOSTILE}\n\n[x](javascript:alert(1))` } })
    // Notes and updates wait only if somebody else proposes them.
    const proposedBy = { kind: 'service' } as const
    await waiting('Noted', { ...NOTE, proposedBy })
    await waiting('Social', { type: 'social_message', params: { message: `Hello\n\n${'x'.repeat(400)}` } })
    await waiting('Changed', {
      proposedBy,
      type: 'crm_update',
      params: { properties: { lifecyclestage: 'lead', [HOSTILE]: HOSTILE } },
    })
    const page = await browser.signedIn(tenant, { path: '/approvals' })
    await page.getByRole('listbox').getByRole('option').first().waitFor()
    for (const [index, name] of ['changed', 'social', 'noted', 'mail'].entries()) {
      await page.getByRole('listbox').getByRole('option').nth(index).click()
      await page.getByRole('listbox').getByRole('option').nth(index).and(page.locator('[aria-current=true]')).waitFor()
      await nextFrame(page)
      if (name === 'mail') await expect.poll(() => page.locator('article iframe').evaluateAll(countFitted)).toBe(1)
      expect(await page.locator('img[src="x"]').count()).toBe(0)
      expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
      expect(await checkPage(page, `approvals-${name}`)).toEqual([])
    }
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

/** The row of a person in the list. */
function row(page: Page, firstname: string): Locator {
  return page.getByRole('option', { name: `${firstname} Lovelace` })
}

function focused(page: Page): Promise<string> {
  return page.evaluate(() => document.activeElement?.textContent ?? '')
}

/** Runs in the page: how many frames show their whole mail. */
function countFitted(frames: Element[]): number {
  const isFitted = (frame: Element) =>
    frame instanceof HTMLIFrameElement &&
    frame.contentDocument?.readyState === 'complete' &&
    frame.contentDocument.documentElement.offsetHeight === frame.offsetHeight
  return frames.filter(isFitted).length
}
