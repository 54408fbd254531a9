import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type DnsServer, startDnsServer } from '../../server/test/dns-server.ts'
import { PASSWORD } from '../../server/test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { codeOf } from '../../server/test/totp.ts'
import {
  accessibilityProblems,
  checkPage,
  openBrowser,
  openWithin,
  reopen,
  screenshot,
  type TestBrowser,
} from './browser.ts'

const HOSTILE = '"><img src=x onerror=alert(1)> \u202eevil'
const NEW_PASSWORD = 'a battery of horses'

let dns: DnsServer
let service: TestService
let browser: TestBrowser
let tenant: TestTenant
/** Signed in once, for tests that only read. */
let owner: Page

describe.skipIf(!HAS_BROWSER)('the settings', () => {
  beforeAll(async () => {
    dns = await startDnsServer()
    service = await startTestService(
      { CDS_RATE_LIMITS: 'on', CDS_RATE_LIMIT_SIGN_IN_PER_IP_PER_MINUTE: '1000' },
      { dnsServers: [dns.server], outbound: { resolve: dns.resolve } },
    )
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    owner = await browser.signedIn(tenant, { path: '/settings' })
    await owner.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    dns?.close()
  })

  const clipboard = () => owner.evaluate(() => navigator.clipboard.readText())

  const goTo = async (page: Page, label: string) => {
    // Opened anew, so that nothing from the previous test is open.
    await openWithin(page, '/settings')
    const link = page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: label })
    await link.click()
    await page.getByRole('heading', { name: label, level: 1 }).waitFor()
  }

  test('start with the profile; a name can be changed to any text', async () => {
    await owner.waitForURL('**/settings/profile')
    await owner.getByLabel('Your name').fill(HOSTILE)
    await owner.getByRole('button', { name: 'Save name' }).click()
    await owner.getByText('Name saved.').waitFor()
    await goTo(owner, 'Team')
    await owner.getByRole('region', { name: 'Members' }).getByText(HOSTILE).waitFor()
    expect(browser.problems).toEqual([])
  })

  test('the workspace page has its id to copy, and renames it', async () => {
    await goTo(owner, 'Workspace')
    await owner.getByRole('button', { name: 'Copy workspace ID' }).click()
    await expect.poll(clipboard).toBe(tenant.id)
    await owner.getByLabel('Workspace name').fill('see https://evil.example/now')
    await owner.getByRole('button', { name: 'Save name' }).click()
    await owner.getByRole('alert').getByText('A name cannot contain a link.').waitFor()
    await owner.getByLabel('Workspace name').fill('Engines & Co.')
    await owner.getByRole('button', { name: 'Save name' }).click()
    await owner.getByText('Name saved.').waitFor()
    await owner.getByRole('button', { name: /^Account and workspace: .*Engines & Co\./ }).waitFor()
    expect(await owner.title()).toBe('Workspace · Customer Data')
    const hidden = owner.locator('input').and(owner.getByLabel('Properties to hide'))
    await hidden.fill(' Salary ')
    await hidden.press('Enter')
    await hidden.fill('shoe size')
    await owner.getByRole('button', { name: 'Save properties' }).click()
    await owner.getByText('Properties saved.').waitFor()
    const { personal_properties } = (await tenant.call('GET', '/v1/tenant')).body.tenant
    expect(personal_properties).toEqual(['Salary', 'shoe size'])
    expect(await checkPage(owner, 'settings-workspace-personal')).toEqual([])
    await goTo(owner, 'Workspace')
    await owner.getByText('shoe size', { exact: true }).waitFor()
    expect(await owner.getByRole('button', { name: 'Save properties' }).isDisabled()).toBe(true)
    const viewer = await browser.signedIn(tenant, { path: '/settings/workspace', role: 'viewer' })
    await viewer.getByText(tenant.id).waitFor()
    expect(await viewer.getByLabel('Workspace name').count()).toBe(0)
  })

  test("times are shown in the workspace's time zone, wherever the reader is", async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/settings/workspace' })
    const zone = page.getByRole('combobox', { name: 'Time zone of the workspace' })
    await zone.fill('adel')
    await page.getByRole('option', { name: 'Australia/Adelaide' }).click()
    await page.getByText('Time zone saved.').waitFor()
    expect(await checkPage(page, 'settings-workspace-time-zone')).toEqual([])
    await goTo(page, 'Audit log')
    await page.locator('time').first().hover()
    await page.getByRole('tooltip').getByText('GMT+10:30').waitFor()
    expect((await own.call('GET', '/v1/tenant')).body.tenant.time_zone).toBe('Australia/Adelaide')
  })

  test('suggests which properties to hide from AI agents, and which to show; nothing changes until they are saved', async () => {
    const own = await createTestTenant(service)
    for (let index = 0; index < 20; index++) {
      const properties = { location: 'North gate', partner: `p${index}@private.example`, [`${HOSTILE} salary`]: 'much' }
      await own.contact(`c${index}@example.com`, properties)
    }
    const page = await browser.signedIn(own, { path: '/settings/workspace' })
    const suggestions = page.getByRole('region', { name: 'Suggestions' })
    await suggestions
      .getByRole('row')
      .filter({ hasText: 'partner' })
      .getByText('20 of 20 values look personal.')
      .waitFor()
    await suggestions
      .getByRole('row')
      .filter({ hasText: HOSTILE.slice(0, 20) })
      .getByText('its name looks personal')
      .waitFor()
    expect(await checkPage(page, 'settings-workspace-suggestions')).toEqual([])
    await suggestions.getByRole('button', { name: 'Hide partner' }).click()
    await suggestions.getByRole('button', { name: 'Show location' }).click()
    expect(await suggestions.getByRole('row').filter({ hasText: 'partner' }).count()).toBe(0)
    const chosen = async () => {
      const { personal_properties, visible_properties } = (await own.call('GET', '/v1/tenant')).body.tenant
      return { personal_properties, visible_properties }
    }
    expect(await chosen()).toEqual({ personal_properties: [], visible_properties: [] })
    await page.getByRole('button', { name: 'Save properties' }).click()
    await page.getByText('Properties saved.').waitFor()
    expect(await chosen()).toEqual({ personal_properties: ['partner'], visible_properties: ['location'] })
    // A name that a person moves to the other list leaves the first.
    const hidden = page.locator('input').and(page.getByLabel('Properties to hide'))
    await hidden.fill('location')
    await hidden.press('Enter')
    await page.getByRole('button', { name: 'Save properties' }).click()
    await expect.poll(chosen).toEqual({ personal_properties: ['partner', 'location'], visible_properties: [] })
    expect(browser.problems).toEqual([])
  })

  test('a key is created with scopes, shown once, works, and is rejected once revoked', async () => {
    await goTo(owner, 'API keys')
    await owner.getByRole('button', { name: 'New key' }).click()
    const dialog = owner.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Warehouse')
    expect(await dialog.getByRole('button', { name: 'Create key' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Read only' }).click()
    await dialog.getByLabel('Expires').selectOption('In 90 days')
    expect(await checkPage(owner, 'settings-key-new')).toEqual([])
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const key = (await dialog.getByText(/^cds_/).textContent()) ?? ''
    expect((await tenant.call('GET', '/v1/contacts', undefined, key)).status).toBe(200)
    expect((await tenant.call('POST', '/v1/contacts', { email: 'a@example.com' }, key)).status).toBe(403)
    // It closes only after a confirmation.
    await owner.keyboard.press('Escape')
    expect(await checkPage(owner, 'settings-key-made')).toEqual([])
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await owner.content()).not.toContain(key)
    await owner.getByRole('button', { name: 'Revoke Warehouse' }).click()
    await owner.getByRole('button', { name: 'Revoke key' }).click()
    await owner.getByText('revoked').waitFor()
    await expect.poll(async () => (await tenant.call('GET', '/v1/contacts', undefined, key)).status).toBe(401)
  })

  test('a source is created, renamed, given a new key and deleted; its key is shown once', async () => {
    await goTo(owner, 'Sources')
    await owner.getByRole('button', { name: 'New source' }).first().click()
    const dialog = owner.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Shop backend')
    expect(await checkPage(owner, 'settings-source-new')).toEqual([])
    await dialog.getByRole('button', { name: 'Create source' }).click()
    const first = (await dialog.getByText(/^wk_/).textContent()) ?? ''
    // It closes only after a confirmation.
    await owner.keyboard.press('Escape')
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await dialog.waitFor({ state: 'hidden' })
    expect(await owner.content()).not.toContain(first)
    await owner.getByText(`…${first.slice(-4)}`).waitFor()
    const choose = async (name: string, item: string) => {
      await owner.getByRole('button', { name: `Actions for ${name}` }).click()
      await owner.getByRole('menuitem', { name: item }).click()
    }
    await choose('Shop backend', 'Rename')
    await dialog.getByLabel('Name').fill('Checkout')
    await dialog.getByRole('button', { name: 'Save name' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await choose('Checkout', 'Replace the write key')
    await dialog.getByLabel('Revoke the old key now').check()
    expect(await checkPage(owner, 'settings-source-rotate')).toEqual([])
    await dialog.getByRole('button', { name: 'Replace key' }).click()
    const second = (await dialog.getByText(/^wk_/).textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I have saved it' }).click()
    await owner.getByText(`…${second.slice(-4)}`).waitFor()
    await choose('Checkout', 'Delete')
    await owner.getByRole('button', { name: 'Delete source' }).click()
    await owner.getByText('No sources yet').waitFor()
  })

  test('a domain is added, checked in DNS until its record is correct, and removed', async () => {
    await goTo(owner, 'Domains')
    await owner.getByRole('button', { name: 'Add a domain' }).first().click()
    await owner.getByLabel('Domain, such as example.com').fill('shop.example.org')
    await owner.getByRole('button', { name: 'Create' }).click()
    const card = owner.getByRole('region', { name: 'shop.example.org' })
    await card.getByText('_cds-verification.shop.example.org').waitFor()
    const [name = '', value = ''] = await card
      .getByRole('tabpanel', { name: 'DNS record' })
      .getByRole('row')
      .getByRole('cell')
      .allTextContents()
      .then((texts) => texts.slice(1))
    await card.getByRole('button', { name: 'Copy record value' }).press('Enter')
    await expect.poll(clipboard).toBe(value)
    await card.getByRole('button', { name: 'Verify' }).click()
    await card.getByText('there is no TXT record under this name yet').waitFor()
    dns.texts.set(name, [`not ${value}`])
    await card.getByRole('button', { name: 'Verify' }).click()
    await card.getByText(`not ${value}`).waitFor()
    expect(await checkPage(owner, 'settings-domains')).toEqual([])
    await card.getByRole('tab', { name: 'File' }).click()
    await card.getByRole('button', { name: 'Copy file URL' }).press('Enter')
    await expect.poll(clipboard).toBe('https://shop.example.org/.well-known/cds-verification.txt')
    await card.getByRole('tab', { name: 'Meta tag' }).click()
    await card.getByRole('button', { name: 'Copy meta tag' }).press('Enter')
    await expect.poll(clipboard).toBe(`<meta name="cds-verification" content="${value}">`)
    await owner.getByText(`/v1/public/form-submission/${tenant.id}/FORM_ID`).waitFor()
    dns.texts.set(name, ['v=spf1 -all', value])
    await card.getByRole('button', { name: 'Verify' }).click()
    await card.getByText('The DNS record is there').waitFor()
    await card.getByText('by a DNS record', { exact: false }).waitFor()
    await card.getByText('verified', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Remove' }).click()
    await owner.getByRole('button', { name: 'Remove domain' }).click()
    await card.waitFor({ state: 'detached' })
  })

  test('the tracker page waits for the first event and reports it', async () => {
    await goTo(owner, 'Tracker')
    await owner.getByText('Waiting for your first event').waitFor()
    const copy = owner.getByRole('button', { name: 'Copy the snippet' })
    await copy.click()
    const { snippet } = await owner.evaluate(() => fetch('/v1/tracker').then((response) => response.json()))
    await expect.poll(clipboard).toBe(snippet)
    // Over plain HTTP, a browser has no clipboard.
    const removed = await owner.evaluateHandle(() => {
      const clipboard = Object.getOwnPropertyDescriptor(Navigator.prototype, 'clipboard') ?? {}
      Reflect.deleteProperty(Navigator.prototype, 'clipboard')
      return clipboard
    })
    await copy.click()
    await owner.getByRole('button', { name: 'Copying failed. Select the text instead.' }).waitFor()
    await removed.evaluate((clipboard) => Object.defineProperty(Navigator.prototype, 'clipboard', clipboard))
    expect(await checkPage(owner, 'settings-tracker-waiting')).toEqual([])
    const url = `https://${tenant.site}/hello`
    await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url }] })
    await owner.getByText('We received your first event').waitFor()
    await owner.getByRole('link', { name: url.replace('https://', '') }).waitFor()
  })

  test('a person is invited, joins with the link, gets another role, and is removed', async () => {
    await goTo(owner, 'Team')
    await owner.getByRole('button', { name: 'Invite someone' }).click()
    await owner.getByLabel('Email').fill('grace@example.com')
    await owner.getByLabel('Role', { exact: true }).selectOption('viewer')
    await owner.getByRole('button', { name: 'Invite', exact: true }).click()
    const link = (await owner.getByText(/\/invitation\//).textContent()) ?? ''
    expect(await checkPage(owner, 'settings-invitation')).toEqual([])
    await owner.getByRole('button', { name: 'Done' }).click()
    expect(await checkPage(owner, 'settings-team')).toEqual([])

    const guest = await browser.tab()
    await guest.goto(new URL(link).pathname)
    await guest.getByLabel('Your name').fill('Grace Hopper')
    await guest.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await guest.getByRole('button', { name: 'Join' }).click()
    await guest.getByRole('navigation', { name: 'Main' }).waitFor()
    await reopen(owner)
    await owner.getByLabel('Role of Grace Hopper').selectOption('member')
    await expect
      .poll(async () => guest.evaluate(() => fetch('/api/me').then((r) => r.json())))
      .toMatchObject({ role: 'member' })
    await owner.getByRole('button', { name: 'Remove Grace Hopper' }).click()
    await owner.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await owner.getByLabel('Role of Grace Hopper').waitFor({ state: 'detached' })
  })

  test("an invitation's link is shown once; a new one replaces it, until the invitation is deleted", async () => {
    await goTo(owner, 'Team')
    await owner.getByRole('button', { name: 'Invite someone' }).click()
    await owner.getByLabel('Email').fill('late@example.com')
    await owner.getByRole('button', { name: 'Invite', exact: true }).click()
    await owner.getByRole('button', { name: 'Done' }).click()
    await owner.getByRole('region', { name: 'Invitations' }).getByText('late@example.com').waitFor()
    // The list does not show the link again.
    expect(await owner.content()).not.toContain('/invitation/')
    await owner.getByRole('button', { name: 'New link for late@example.com' }).click()
    await owner.getByRole('button', { name: 'Create link' }).click()
    const fresh = owner.getByRole('dialog', { name: 'New link' })
    await fresh.getByRole('button', { name: 'Copy the link' }).click()
    await expect.poll(clipboard).toBe(await fresh.getByText(/\/invitation\//).textContent())
    await screenshot(owner, 'settings-invitation-renewed')
    expect(await accessibilityProblems(owner)).toEqual([])
    await fresh.getByRole('button', { name: 'Done' }).click()
    await owner.getByRole('button', { name: 'Delete the invitation of late@example.com' }).click()
    await owner.getByRole('button', { name: 'Delete invitation' }).click()
    await owner.getByRole('heading', { name: 'No pending invitations' }).waitFor()
  })

  test('a password is changed, and two-factor authentication set up, renewed and turned off, by keyboard', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/profile', role: 'member' })
    await page.getByLabel('Current password').fill('wrong horse battery')
    await page.getByLabel('New password').fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('Invalid password').waitFor()
    await page.getByLabel('Current password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByText('Password changed').waitFor()

    await page.getByRole('button', { name: 'Set up' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Current password', { exact: true }).fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'QR code' }).waitFor()
    const secret = (await page.getByRole('dialog').locator('code').textContent())?.replaceAll(' ', '') ?? ''
    expect(await checkPage(page, 'settings-two-factor')).toEqual([])
    await page.getByLabel('Code from the app').fill('000000')
    await page.keyboard.press('Enter')
    await page.getByText('The code is wrong').waitFor()
    await page.getByLabel('Code from the app').fill(codeOf(`otpauth://totp/x?secret=${secret}`))
    await page.keyboard.press('Enter')
    await page.getByText('Save these codes now').waitFor()
    const codes = await page.getByRole('dialog').getByRole('listitem').allTextContents()
    expect(new Set(codes).size).toBeGreaterThanOrEqual(8)
    expect(await checkPage(page, 'settings-backup-codes')).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByText('on', { exact: true }).waitFor()
    expect(await checkPage(page, 'settings-profile')).toEqual([])

    await page.getByRole('button', { name: 'New backup codes' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Current password', { exact: true }).fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByText('Save these codes now').waitFor()
    expect(await page.getByRole('dialog').getByRole('listitem').allTextContents()).not.toEqual(codes)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Turn off' }).press('Enter')
    await page.getByRole('dialog').getByLabel('Current password', { exact: true }).fill(NEW_PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByText('off', { exact: true }).waitFor()
  })

  test('all data is exported and downloaded, and erasures are listed', async () => {
    const contact = await tenant.contact('gone@example.com')
    await goTo(owner, 'Data')
    await owner.getByRole('heading', { name: 'No exports yet' }).waitFor()
    await screenshot(owner, 'settings-data-empty')
    await owner.getByRole('button', { name: 'Export all data' }).click()
    const download = owner.waitForEvent('download')
    await owner.getByRole('link', { name: 'Download' }).click()
    expect((await download).suggestedFilename()).toMatch(/^export-.*\.tar$/)
    const erased = await owner.evaluate(
      (id) =>
        fetch('/v1/erasures', {
          method: 'POST',
          headers: { 'x-requested-by': 'dashboard', 'content-type': 'application/json' },
          body: JSON.stringify({ contact_id: id }),
        }).then((r) => r.status),
      contact,
    )
    expect(erased).toBe(202)
    await reopen(owner)
    await owner.getByText(contact).waitFor()
    expect(await checkPage(owner, 'settings-data')).toEqual([])
  })

  test('an export and an erasure in progress show their progress, and refresh automatically', async () => {
    const { db } = tenant.handle
    await owner.getByText(/^erased/).waitFor()
    await db.updateTable('exports').set({ status: 'running', progress: 0.4, file: null }).execute()
    // Not due, so that nobody works on it.
    await db.updateTable('erasures').set({ status: 'running', erased_at: null, subject: '{}', due_at: null }).execute()
    await reopen(owner)
    await owner.getByText('in progress, 40%').waitFor()
    expect(await owner.getByRole('progressbar').getAttribute('aria-valuenow')).toBe('40')
    await owner.getByText('in progress', { exact: true }).waitFor()
    await db.updateTable('exports').set({ status: 'completed', progress: 1, file: 'any.tar' }).execute()
    await db.updateTable('erasures').set({ status: 'waiting', erased_at: new Date() }).execute()
    await owner.getByRole('link', { name: 'Download' }).waitFor()
    await owner.getByText('erased', { exact: true }).waitFor()
  })

  test('limits are shown with their use', async () => {
    await goTo(owner, 'Rate limits')
    await owner.getByRole('region', { name: 'Current limits' }).getByText('API requests with one key').waitFor()
    expect(await checkPage(owner, 'settings-limits')).toEqual([])
  })

  test('the address stores the filters of the audit log and the open entry', async () => {
    await goTo(owner, 'Audit log')
    await owner.getByRole('button', { name: 'Verified a domain' }).waitFor()
    await owner.getByRole('button', { name: 'Verified a domain' }).press('Enter')
    await owner.getByRole('dialog').getByText('"shop.example.org"').waitFor()
    await reopen(owner)
    await owner.getByRole('dialog').getByText('"shop.example.org"').waitFor()
    expect(await checkPage(owner, 'settings-audit-entry')).toEqual([])
    await owner.getByRole('button', { name: 'Everything about this domain' }).click()
    await owner.getByRole('button', { name: 'Created an API key' }).waitFor({ state: 'detached' })
    await owner.getByText('1–3 of 3').waitFor()
    await openWithin(owner, '/settings/audit?actor=agent')
    await owner.getByRole('heading', { name: 'No entry matches' }).waitFor()
  })

  test('a viewer sees the settings, but no controls to change them', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/team', role: 'viewer', width: 360 })
    await page.getByRole('region', { name: 'Members' }).waitFor()
    const links = page.getByRole('navigation', { name: 'Settings' }).getByRole('link')
    expect(await links.allTextContents()).toEqual([
      'Profile and security',
      'Workspace',
      'Team',
      'Computed properties',
      'Enrichment',
      'Tracker',
      'Domains',
      'Sources',
      'Connected apps',
      'OAuth clients',
      'Warehouse',
      'Rate limits',
    ])
    const main = page.locator('#main')
    const others = main.getByRole('button').and(main.locator('button:not(nav[aria-label^="Pages of"] *)'))
    expect(await others.count()).toBe(0)
    expect(await main.getByRole('combobox').count()).toBe(0)
    await goTo(page, 'Domains')
    await page.getByRole('region', { name: tenant.site }).waitFor()
    expect(await main.getByRole('button', { name: /Add|Check|Verify|Remove/ }).count()).toBe(0)
    for (const path of ['keys', 'audit', 'data']) {
      await openWithin(page, `/settings/${path}`)
      await page.getByText('You do not have access').first().waitFor()
      expect(await main.getByRole('button', { name: /New key|Export all data/ }).count()).toBe(0)
    }
  })

  test('an owner creates another workspace, and switches to it and back', async () => {
    await goTo(owner, 'Workspace')
    await owner.getByRole('button', { name: 'New workspace' }).click()
    await owner.getByRole('dialog').getByLabel('Name').fill('Second shop')
    await owner.getByRole('button', { name: 'Create' }).click()
    await owner.getByRole('heading', { name: 'Three steps to your first event' }).waitFor()
    await openWithin(owner, '/settings/domains')
    await owner.getByRole('heading', { name: 'No domains yet' }).waitFor()
    expect(await checkPage(owner, 'settings-domains-empty')).toEqual([])
    await goTo(owner, 'Workspace')
    await owner.getByRole('button', { name: /^Open / }).click()
    await owner.waitForURL((url) => url.pathname === '/')
    await openWithin(owner, '/settings/domains')
    await owner.getByRole('region', { name: tenant.site }).waitFor()
    expect(browser.problems).toEqual([])
  })

  // The last, because the tab keeps its clock.
  test('the audit log fits on a phone, even with absolute dates', async () => {
    await owner.setViewportSize({ width: 360, height: 780 })
    await owner.clock.setFixedTime(Date.now() + 90 * 86_400_000)
    await openWithin(owner, '/settings/audit')
    const log = owner.getByRole('region', { name: 'Audit log' })
    await log.getByRole('button', { name: 'Verified a domain' }).waitFor()
    await screenshot(owner, 'settings-audit-dates')
    expect(await log.evaluate((element) => element.scrollWidth - element.clientWidth)).toBe(0)
    // The words of the action are not broken.
    const deleted = log.getByText('Deleted an invitation').first()
    const lines = await deleted.evaluate((element) => {
      const range = document.createRange()
      range.selectNodeContents(element)
      return range.getClientRects().length
    })
    expect(lines).toBeLessThanOrEqual(3)
    expect(browser.problems).toEqual([])
  })
})
