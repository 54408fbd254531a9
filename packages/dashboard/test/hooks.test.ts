import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createHook, ORDERS, order, send, type TestHook } from '../../server/test/hooks.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('hooks', () => {
  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(() => browser?.close())

  test('a hook is created, and its first delivery fills in the fields, which a person checks and saves', async () => {
    const page = await browser.signedIn(tenant, { path: '/hooks' })
    await page.getByRole('heading', { name: 'No hooks yet' }).waitFor()
    await page.getByRole('link', { name: 'New hook' }).first().click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Shop orders')
    await page.getByRole('button', { name: 'Create hook' }).click()
    await page.getByRole('heading', { name: 'Shop orders', level: 1 }).waitFor()
    const shown = await page.getByText('/v1/public/hooks/hk_').textContent()
    await page.getByRole('button', { name: 'Copy URL of the hook' }).waitFor()
    await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor()
    await page.getByText('Waiting for the first delivery').waitFor()
    expect(await checkPage(page, 'hook-waiting')).toEqual([])

    // A page that was opened before the first delivery shows it by itself.
    await page.getByRole('link', { name: 'Edit mapping' }).click()
    await page.getByText('Waiting for the first delivery').waitFor()
    const url = new URL(shown ?? '').pathname
    const company = { name: 'Analytical Engines', website: 'https://engines.example/about' }
    await send(service, { url }, { ...order('1815', 'ada@example.com', { plan: 'pro' }), company, seats: 12 })
    await page.getByText('Filled in from this delivery').waitFor()
    const fields = page.getByRole('region', { name: 'Contact', exact: true })
    expect(await fields.getByRole('textbox', { name: 'Email' }).inputValue()).toBe('customer.email')
    await fields.getByText('ada@example.com').waitFor()
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('This would be recorded').waitFor()
    await preview.getByText('engines.example', { exact: true }).waitFor()
    expect(await checkPage(page, 'hook-guess')).toEqual([])
    await page.getByText('Also record the delivery that has already arrived').waitFor()
    await page.getByRole('button', { name: 'Save mapping' }).click()

    const received = page.getByRole('region', { name: 'Deliveries received' })
    await received.getByText('recorded', { exact: true }).waitFor()
    const { companies } = (await tenant.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([{ domain: 'engines.example', name: 'Analytical Engines' }])
    const events = (await tenant.call('GET', '/v1/events?event=order_paid')).body.events
    expect(events).toMatchObject([{ data: { total: 49.9, seats: 12 } }])
    // The URL is hidden when the page is loaded again, and shown to those who may change the hook.
    await page.reload()
    await received.waitFor()
    expect(await page.content()).not.toContain(shown ?? '')
    await page.getByRole('button', { name: 'Show URL' }).click()
    await page.getByText(shown ?? '').waitFor()
    await received.getByRole('link', { name: 'created', exact: true }).click()
    await page.getByRole('heading', { name: 'ada@example.com' }).waitFor()
  })

  test('fields are mapped by clicks, in either order, and deliveries are run again', async () => {
    const own = await createTestTenant(service)
    const hook = await createHook(own, { name: 'Clicks', mapping: { event: { name: { value: 'order' } } } })
    const more = { plan: 'pro', site: 'https://engines.example/about', employer: 'Analytical Engines', seats: 12 }
    await send(service, hook, order('1815', 'ada@example.com', more))
    const page = await browser.signedIn(own, { path: `/hooks/${hook.id}/mapping` })

    // A click on a value puts its path into the chosen field; a key press does too.
    await page.getByRole('textbox', { name: 'Event name' }).click()
    await page.getByRole('combobox', { name: 'Where Event name comes from' }).selectOption('Path')
    await page.getByRole('button', { name: 'use type for Event name' }).click()
    await page.getByRole('textbox', { name: 'Event ID' }).focus()
    await page.getByRole('button', { name: 'use order.id for Event ID' }).focus()
    await page.keyboard.press('Enter')
    expect(await page.getByRole('textbox', { name: 'Event ID' }).inputValue()).toBe('order.id')
    const preview = page.getByRole('region', { name: 'Preview' })
    await preview.getByText('This cannot be recorded').waitFor()
    await page.getByRole('textbox', { name: 'Email' }).click()
    await page.getByRole('button', { name: 'use customer.email for Email' }).click()
    await preview.getByText('This would be recorded').waitFor()
    await page
      .getByRole('region', { name: 'Contact', exact: true })
      .getByRole('button', { name: 'Add a property' })
      .click()
    await page.getByRole('button', { name: 'use customer.plan for a new field' }).click()
    expect(await page.getByRole('textbox', { name: 'Name of contact property 1' }).inputValue()).toBe('plan')
    await preview.getByText('ada@example.com').waitFor()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByRole('button', { name: 'use type for Path of condition 1' }).click()
    await page.getByRole('textbox', { name: 'Values of condition 1' }).fill('order_refunded')
    await preview.getByText('This would be skipped').waitFor()
    await page.getByRole('button', { name: 'Remove condition 1' }).click()
    await preview.getByText('This would be recorded').waitFor()

    // Without a chosen field, a value asks what it is.
    await page.getByRole('button', { name: 'choose what customer.site is' }).click()
    await page.getByRole('menuitem', { name: 'Domain' }).click()
    await page.getByRole('button', { name: 'choose what customer.employer is' }).click()
    await page.getByRole('menuitem', { name: 'Name', exact: true }).click()
    await page.getByRole('button', { name: 'choose what customer.seats is' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: 'New company property “seats”' }).press('Enter')
    expect(await page.getByRole('textbox', { name: 'Name of company property 1' }).inputValue()).toBe('seats')
    await preview.getByText('engines.example', { exact: true }).waitFor()
    await preview.getByText('Analytical Engines').waitFor()
    // What the sender also sends is filled in where nothing is yet.
    await page.getByRole('button', { name: 'Fill in empty fields from this delivery' }).click()
    await preview.getByText('49.9').waitFor()
    await screenshot(page, 'hook-mapping')
    await page.getByRole('button', { name: 'Save mapping' }).click()

    await page.getByRole('region', { name: 'Deliveries received' }).getByRole('link').first().click()
    await page.getByText('"ada@example.com"').waitFor()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('The delivery was recorded').waitFor()
    await page.getByRole('link', { name: 'order_paid' }).waitFor()
    await page.getByRole('link', { name: 'Company', exact: true }).waitFor()
    const { companies } = (await own.call('GET', '/v1/companies')).body
    expect(companies).toMatchObject([
      { domain: 'engines.example', name: 'Analytical Engines', properties: { seats: 12 } },
    ])
    expect(browser.problems).toEqual([])
  })

  test('a hook of a ready-made kind is turned on with its secret, gets a new URL, and is deleted', async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/hooks/new' })
    await page.getByRole('radio', { name: 'Stripe' }).check()
    expect(await page.getByRole('textbox', { name: 'Name' }).inputValue()).toBe('Stripe')
    expect(await checkPage(page, 'hook-new')).toEqual([])
    await page.getByRole('button', { name: 'Create hook' }).click()
    await page.getByText('This hook rejects deliveries').waitFor()
    await page.getByRole('button', { name: 'Add the signing secret' }).click()
    await page.getByRole('textbox', { name: 'Signing secret' }).fill('short')
    await page.getByRole('button', { name: 'Save and turn on' }).click()
    await page.getByRole('alert').getByText('signing_secret').waitFor()
    await page.getByRole('textbox', { name: 'Signing secret' }).fill('whsec_long_enough')
    await page.getByRole('button', { name: 'Save and turn on' }).click()
    await page.getByText('checked in stripe-signature').waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByRole('button', { name: 'Turn on' }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'New URL' }).click()
    await page.getByRole('button', { name: 'Create a new URL' }).click()
    await page.getByRole('button', { name: 'Copy URL of the hook' }).waitFor()
    await page.getByText('Previous URL valid until').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete hook' }).click()
    await page.getByRole('heading', { name: 'No hooks yet' }).waitFor()
  })

  test('a viewer sees hooks, bodies and the mapping, but no controls to change them', async () => {
    const own = await createTestTenant(service)
    const hook = await createHook(own, { name: 'Seen' })
    await send(service, hook, { type: 7 })
    const page = await browser.signedIn(own, { path: `/hooks/${hook.id}`, role: 'viewer' })
    await page.getByText('type: must be a text').waitFor()
    for (const name of ['Turn off', 'More', 'Show URL'])
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    await page.getByRole('link', { name: 'View mapping' }).click()
    await page.getByText('Only admins and owners').waitFor()
    await page.getByText('This cannot be recorded').waitFor()
    expect(await page.getByRole('button', { name: 'Save mapping' }).count()).toBe(0)
  })

  test('every page is accessible, on small and large screens, light and dark', async () => {
    const own = await createTestTenant(service)
    const hook: TestHook = await createHook(own, { name: 'Orders', mapping: ORDERS })
    await send(service, hook, order('1', 'ada@example.com'))
    await send(service, hook, { type: 'order_paid', customer: { email: 'nobody' }, note: 'half an emoji \ud83d' })
    const page = await browser.signedIn(own, { path: '/hooks' })
    await page.getByRole('link', { name: 'Orders' }).waitFor()
    expect(await checkPage(page, 'hooks')).toEqual([])
    await page.getByRole('link', { name: 'Orders' }).click()
    await page.getByText('is not a valid email address').waitFor()
    expect(await checkPage(page, 'hook')).toEqual([])
    await page.getByRole('region', { name: 'Deliveries received' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Content' }).waitFor()
    await page.getByText('note was left out').waitFor()
    expect(await checkPage(page, 'hook-body')).toEqual([])
    await page.getByRole('link', { name: 'Use in the mapping' }).click()
    await page.getByText('This cannot be recorded').waitFor()
    await page.getByRole('textbox', { name: 'Email' }).click()
    expect(await checkPage(page, 'hook-mapping')).toEqual([])
    expect(browser.problems).toEqual([])
  })
})
