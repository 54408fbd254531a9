import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { HAS_BROWSER, lookAt, openBrowser, PASSWORD, type TestBrowser } from './browser.ts'
import { totp } from './totp.ts'

const OTHER = 'another horse battery'

describe.skipIf(!HAS_BROWSER)("a person's account", () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser

  beforeAll(async () => {
    service = await startTestService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  test('is protected by a second factor, which can be taken away again', async () => {
    const page = await browser.signedIn(tenant, { role: 'viewer', path: '/contacts' })
    await page.getByRole('button', { name: /Account and tenant/ }).click()
    await page.getByRole('menuitem', { name: 'Your account' }).click()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    expect(await page.getByRole('button', { name: 'New tenant' }).count()).toBe(0)
    expect(await lookAt(page, 'account')).toEqual([])
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByLabel('Your password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add the account to your authenticator' })
    await dialog.waitFor()
    expect(await lookAt(page, 'account-authenticator')).toEqual([])
    const uri = (await dialog.getByRole('link', { name: 'open it there' }).getAttribute('href')) ?? ''
    const secret = new URL(uri).searchParams.get('secret') ?? ''
    expect((await dialog.locator('pre').textContent())?.replaceAll(' ', '')).toBe(secret)
    await dialog.getByLabel('The code that it shows').fill('000000')
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await dialog.getByRole('alert').waitFor()
    await dialog.getByLabel('The code that it shows').fill(totp(secret))
    await dialog.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByText('A code of your authenticator is asked for').waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByLabel('Your password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'Turn on' }).waitFor()
    expect(browser.problems).toEqual([])
    await page.context().close()
  })

  test('gets a new password only from who knows the old one', async () => {
    const page = await browser.signedIn(tenant, { path: '/account' })
    await page.getByLabel('Present password', { exact: true }).fill('wrong horse battery')
    await page.getByLabel('New password', { exact: true }).fill(OTHER)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Present password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Change the password' }).click()
    await page.getByText('Your password is changed.').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Your account' }).waitFor()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await page.getByRole('button', { name: 'Sign out elsewhere' }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'New tenant' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Second brand')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: /Account and tenant/ }).click()
    await page.getByRole('menuitem', { name: 'Second brand' }).waitFor()
    expect(browser.problems).toEqual([])
    await page.context().close()
  })
})
