import { createHmac } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, reopen, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant
let owner: Page

describe.skipIf(!HAS_BROWSER)('the identification settings', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    owner = await browser.signedIn(tenant, { path: '/settings/identification' })
  })
  afterAll(() => browser?.close())

  const warnings = async (userHash?: string) => {
    const body = { visitor_id: 'v', events: [], identify: { external_user_id: 'u1' }, user_hash: userHash }
    return ((await tenant.track(body)).body.warnings ?? []).join()
  }
  const sign = (secret: string) => createHmac('sha256', secret).update('u1').digest('hex')
  const shownSecret = async () => (await owner.getByText(/^cdsid_/).textContent()) ?? ''
  const keep = async () => {
    await owner.getByRole('button', { name: 'I have saved it' }).click()
    await owner.getByText(/^cdsid_/).waitFor({ state: 'detached' })
  }

  test('a secret is shown once, when it is created; rotation asks for confirmation and keeps the previous one valid for a day', async () => {
    await owner.getByText('There is no secret yet').waitFor()
    expect(await checkPage(owner, 'settings-identification-empty')).toEqual([])
    await owner.getByRole('button', { name: 'Create secret' }).click()
    const first = await shownSecret()
    expect(await checkPage(owner, 'settings-identification-made')).toEqual([])
    await expect.poll(() => warnings(sign(first))).toBe('')
    await keep()
    expect(await owner.content()).not.toContain(first)
    await owner.getByRole('button', { name: 'Rotate secret' }).click()
    const dialog = owner.getByRole('dialog')
    await dialog.getByText('stays valid for 24 hours').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'hidden' })
    await owner.getByRole('button', { name: 'Rotate secret' }).click()
    await dialog.getByRole('button', { name: 'Rotate secret' }).click()
    const second = await shownSecret()
    expect(second).not.toBe(first)
    await keep()
    await owner.getByText('The previous secret is valid until').waitFor()
    await expect.poll(() => warnings(sign(second))).toBe('')
    expect(await warnings(sign(first))).toBe('')
  })

  test('signed identification can be required, and made optional again', async () => {
    const required = owner.getByRole('switch', { name: 'Require signed identification' })
    await required.click()
    await expect.poll(() => warnings()).toContain('identify was ignored')
    await reopen(owner)
    await expect.poll(() => required.isChecked()).toBe(true)
    await required.click()
    await expect.poll(() => warnings()).toBe('')
  })

  test('words that name nobody are saved, and pages cannot use them as an ID', async () => {
    const words = owner.locator('input').and(owner.getByLabel('IDs to ignore'))
    await words.fill(' Demo ')
    await words.press('Enter')
    await words.fill('kiosk')
    await owner.getByRole('button', { name: 'Save IDs' }).click()
    await owner.getByText('IDs saved.').waitFor()
    expect((await tenant.call('GET', '/v1/tenant')).body.tenant.ignored_ids).toEqual(['Demo', 'kiosk'])
    expect(await checkPage(owner, 'settings-identification-ignored')).toEqual([])
    const { body } = await tenant.track({ visitor_id: 'v', external_contact_id: 'KIOSK', events: [{ event: 'e' }] })
    expect(body.warnings).toEqual([expect.stringMatching(/^ignored_id: external_contact_id/)])
    await reopen(owner)
    await owner.getByText('kiosk', { exact: true }).waitFor()
    expect(await owner.getByRole('button', { name: 'Save IDs' }).isDisabled()).toBe(true)
  })

  test('each language has its sample code', async () => {
    for (const [language, code] of [
      ['Python', 'hmac.new('],
      ['PHP', 'hash_hmac('],
      ['Go', 'hmac.New('],
      ['Node.js', 'createHmac('],
    ] as const) {
      await owner.getByRole('tab', { name: language }).click()
      await owner
        .getByRole('region', { name: `Code: the signature in ${language}` })
        .getByText(code)
        .waitFor()
    }
    expect(browser.problems).toEqual([])
  })

  test('a member sees the settings but cannot change them', async () => {
    const member = await browser.signedIn(tenant, { role: 'member', path: '/settings/identification' })
    await member.getByText('Created on').waitFor()
    expect(await member.getByRole('button', { name: 'Rotate secret' }).count()).toBe(0)
    expect(await member.getByRole('switch', { name: 'Require signed identification' }).isDisabled()).toBe(true)
    expect(await member.locator('input').and(member.getByLabel('IDs to ignore')).isDisabled()).toBe(true)
    expect(await member.getByRole('button', { name: 'Save IDs' }).count()).toBe(0)
    const settings = member.getByRole('navigation', { name: 'Settings' })
    expect(await settings.getByRole('link', { name: 'Identification' }).count()).toBe(0)
  })
})
