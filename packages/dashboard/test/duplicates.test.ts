import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkSome } from '../../server/src/duplicates/find.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, type TestBrowser } from './browser.ts'

let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('duplicates', () => {
  beforeAll(async () => {
    const service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const ada = { firstname: 'Ada', lastname: 'Lovelace', city: 'London' }
    await tenant.contact('ada.lovelace@gmail.com', { ...ada, jobtitle: 'Analyst' })
    await tenant.contact('adalovelace+news@googlemail.com', { ...ada, jobtitle: 'Countess' })
    const robert = { lastname: 'Noyce', company: 'Acme' }
    await tenant.contact('robert@example.com', { ...robert, firstname: 'Robert' })
    await tenant.contact('bob@example.org', { ...robert, firstname: 'Bob' })
    await checkSome(tenant.handle, new Date())
  })
  afterAll(() => browser?.close())

  test('pairs are reviewed by keyboard: merged, undone and dismissed', async () => {
    const page = await browser.signedIn(tenant, { path: '/contacts' })
    await page.getByRole('link', { name: 'Duplicates' }).click()
    await page.getByText('Almost certainly one person, 95%').waitFor()
    await page.getByText('The email addresses differ only in dots or plus tags.').waitFor()
    await page.getByRole('row', { name: /^Job title.*Different.*Analyst.*Countess/ }).waitFor()
    expect(await page.getByRole('row', { name: /^City/ }).textContent()).not.toContain('Different')
    expect(await checkPage(page, 'duplicates')).toEqual([])

    await page.keyboard.press('j')
    await page.getByText('Pair 2 of 2').waitFor()
    await page.getByText('Likely one person, 84%').waitFor()
    await page.keyboard.press('ArrowLeft')
    await page.getByText('Pair 1 of 2').waitFor()

    await page.keyboard.press('m')
    await page.getByText('Ada Lovelace was merged.').waitFor()
    await page.getByText('Pair 1 of 1').waitFor()
    expect((await tenant.call('GET', '/v1/contacts?search=lovelace')).body.contacts).toMatchObject([
      { properties: { email: 'ada.lovelace@gmail.com' } },
    ])
    await page.keyboard.press('u')
    await page.getByText('The merge was undone.').waitFor()
    await page.getByText('Pair 1 of 2').waitFor()

    await page.getByText('Almost certainly one person, 95%').waitFor()
    await page.keyboard.press('d')
    await page.getByText('The pair was dismissed.').waitFor()
    await page.getByText('Pair 1 of 1').waitFor()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await page.getByRole('heading', { name: 'No duplicates' }).waitFor()
    expect(await checkPage(page, 'duplicates-none')).toEqual([])
  })
})
