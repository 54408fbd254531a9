import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { startMailbox, type TestMailbox, tokenIn } from '../../server/test/mailbox.ts'
import { PASSWORD } from '../../server/test/people.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('with a mail server, an invitation', () => {
  let mailbox: TestMailbox
  let service: TestService
  let browser: TestBrowser
  let tenant: TestTenant

  beforeAll(async () => {
    mailbox = await startMailbox()
    service = await startTestService(mailbox.settings)
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await mailbox?.close()
  })

  test('is only mailed: the inviter never sees the link, and can resend it', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/team' })
    const invite = async (email: string) => {
      await page.getByRole('button', { name: 'Invite someone' }).click()
      await page.getByLabel('Email').fill(email)
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
    }
    await invite('mailed@example.com')
    await page.getByText('Invitation sent').waitFor()
    expect(await page.content()).not.toContain('/invitation/')
    expect(await checkPage(page, 'settings-invitation-mailed')).toEqual([])
    await page.getByRole('button', { name: 'Done' }).click()

    mailbox.refuses = true
    await invite('later@example.com')
    await page.getByText('The email could not be sent').waitFor()
    await screenshot(page, 'settings-invitation-not-mailed')
    mailbox.refuses = false
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Resend to later@example.com' }).click()
    await page.getByRole('button', { name: 'Resend', exact: true }).last().click()
    await page.getByText('Invitation sent').waitFor()

    const guest = await browser.tab()
    await guest.goto(`/invitation/${tokenIn(await mailbox.newest('later@example.com'))}`)
    await guest.getByLabel('Your name').fill('New Person')
    await guest.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await guest.getByRole('button', { name: 'Join' }).click()
    await guest.getByRole('navigation', { name: 'Main' }).waitFor()
    expect(browser.problems).toEqual([])
  })
})
