import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { makeCertificate, type Receiver, startReceiver } from '../../server/test/receiver.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

let service: TestService
let receiver: Receiver
let browser: TestBrowser
let tenant: TestTenant

describe.skipIf(!HAS_BROWSER)('the webhooks', () => {
  beforeAll(async () => {
    const certificate = makeCertificate()
    receiver = await startReceiver(certificate)
    service = await startTestService(
      { CDS_WEBHOOK_ALLOW_PRIVATE: '1' },
      { outbound: { ca: certificate.certificate, resolve: async () => [{ address: '127.0.0.1', family: 4 }] } },
    )
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
    await receiver?.close()
  })

  test('a webhook is created, tested, paused and given a new secret, and its deliveries are shown and resent', async () => {
    const page = await browser.signedIn(tenant, { path: '/webhooks' })
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    await page.getByRole('link', { name: 'New webhook' }).first().click()
    await page.getByRole('combobox', { name: 'Event' }).fill('page_view')
    await page.getByText('"subscription_id"').waitFor()
    await screenshot(page, 'webhook-new')
    await page.getByRole('textbox', { name: 'URL' }).fill('http://hooks.example/insecure')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('alert').getByText('https').waitFor()
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url('/hook', 'hooks.example'))
    await page.getByRole('button', { name: 'Add a pattern' }).click()
    await page.getByLabel('Pattern 1', { exact: true }).fill('/pricing')
    await page.getByRole('button', { name: 'Add a header' }).click()
    await page.getByLabel('Header 1', { exact: true }).fill('X-Team')
    await page.getByLabel('Value of header 1', { exact: true }).fill('very-secret-value')
    expect(await checkPage(page, 'webhook-new')).toEqual([])
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('link', { name: 'I have saved it' }).click()
    await page.getByRole('heading', { name: 'page_view', level: 1 }).waitFor()
    expect(await page.content()).not.toContain('very-secret-value')

    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('heading', { name: 'Test delivery' }).waitFor()
    await page.getByText('delivered').waitFor()
    expect(receiver.received.at(-1)?.headers['x-team']).toBe('very-secret-value')
    await screenshot(page, 'webhook-delivery')
    await page.getByRole('button', { name: 'Resend' }).click()
    await expect.poll(() => receiver.received.length).toBe(2)

    receiver.respond = (response) => response.writeHead(500).end('<b>broken</b>')
    const events = [{ event: 'page_view', url: `https://${tenant.site}/pricing` }]
    await tenant.track({ visitor_id: 'v', events })
    await page.getByRole('link', { name: 'page_view' }).click()
    const deliveries = page.getByRole('region', { name: 'Deliveries' })
    // Only in the table: the receiver's port on the page may contain these digits.
    await deliveries.getByRole('cell', { name: '500', exact: true }).waitFor()
    await deliveries.getByText('waiting').waitFor()
    await page.getByText('1 of 2 fail').waitFor()
    await page.getByText('some fail', { exact: true }).waitFor()
    await tenant.track({ visitor_id: 'v', events: [...events, ...events] })
    await page.getByText('failing', { exact: true }).waitFor()
    await screenshot(page, 'webhook')

    // Three deliveries wait for a retry.
    const sentBefore = receiver.received.length
    receiver.respond = (response) => response.end('ok')
    await page.getByRole('button', { name: 'Resend deliveries' }).click()
    const dialog = page.getByRole('dialog', { name: 'Resend deliveries' })
    expect(await dialog.getByRole('radio', { name: 'Failed' }).isChecked()).toBe(true)
    expect(await checkPage(page, 'webhook-resend')).toEqual([])
    await dialog.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('There is nothing to resend in this period.').waitFor()
    await page.getByRole('button', { name: 'Resend deliveries' }).click()
    await dialog.getByRole('radio', { name: 'Waiting for a retry' }).check()
    await dialog.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('3 deliveries are being resent.').waitFor()
    await expect.poll(() => receiver.received.length).toBe(sentBefore + 3)
    await page.getByRole('button', { name: 'Resend deliveries' }).click()
    await dialog.getByRole('radio', { name: 'All' }).check()
    await dialog.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('4 deliveries are being resent.').waitFor()
    await expect.poll(() => receiver.received.length).toBe(sentBefore + 7)

    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('paused').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'New signing secret' }).click()
    await page.getByRole('button', { name: 'Create a new secret' }).click()
    await page.getByText(/^whsec_/).waitFor()
    await page.getByRole('button', { name: 'I have saved it' }).click()
    await page.getByText('Previous secret valid until').waitFor()
    const more = page.getByRole('button', { name: 'More' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Edit webhook' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    // A person with a keyboard goes on where they were.
    await expect.poll(() => more.evaluate((button) => button === document.activeElement)).toBe(true)
  })

  test('a chat message is written with a preview of the service, and its URL is not shown again', async () => {
    const own = await createTestTenant(service)
    const page = await browser.signedIn(own, { path: '/webhooks/new' })
    await page.getByText('Chat message', { exact: true }).click()
    await page.getByRole('combobox', { name: 'Event' }).fill('segment_entered')
    await page.getByText('Ada Lovelace entered the segment Trial users').waitFor()
    const template = page.getByRole('textbox', { name: 'Text' })
    await template.fill('{{contact.unknown}}')
    await page.getByRole('alert').getByText('unknown placeholder').waitFor()
    await template.fill('Look: {{contact.firstname}} <3 {{event.data.segment_name}}')
    await page.getByText('Look: Ada <3 Trial users').waitFor()
    await page.getByRole('textbox', { name: 'URL' }).fill(receiver.url('/services/a-secret', 'hooks.example'))
    expect(await checkPage(page, 'webhook-message')).toEqual([])
    receiver.respond = (response) => response.end('ok')
    await page.getByRole('button', { name: 'Create webhook' }).click()
    await page.getByRole('link', { name: 'I have saved it' }).click()
    await page.getByText('Look: {{contact.firstname}}').waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Edit webhook' }).click()
    await page.getByRole('button', { name: 'Use the default text' }).click()
    await page.getByRole('button', { name: 'Save changes' }).click()
    await page.getByText('default text for the event').waitFor()
    expect(await page.content()).not.toContain('a-secret')
    const sentBefore = receiver.received.length
    await page.getByRole('button', { name: 'Send a test' }).click()
    await expect.poll(() => receiver.received.length, { timeout: 60_000 }).toBeGreaterThan(sentBefore)
    expect(JSON.parse(String(receiver.received.at(-1)?.body))).toEqual({
      text: 'Ada Lovelace entered the segment Trial users: ada@example.com',
    })
  })

  test('a viewer sees webhooks but no controls to change them', async () => {
    const page = await browser.signedIn(tenant, { path: '/webhooks', role: 'viewer' })
    await page.getByRole('link', { name: 'page_view' }).click()
    await page.getByRole('heading', { name: 'page_view', level: 1 }).waitFor()
    for (const name of ['Send a test', 'Pause', 'More', 'Resend deliveries']) {
      expect(await page.getByRole('button', { name }).count()).toBe(0)
    }
  })

  test('every page is accessible, on small and large screens, light and dark', async () => {
    const page = await browser.signedIn(tenant, { path: '/webhooks' })
    await page.getByRole('link', { name: 'page_view' }).waitFor()
    expect(await checkPage(page, 'webhooks')).toEqual([])
    await page.getByRole('link', { name: 'page_view' }).click()
    await page.getByText('1–4 of 4').waitFor()
    expect(await checkPage(page, 'webhook')).toEqual([])
    await page.getByRole('region', { name: 'Deliveries' }).getByRole('link').first().click()
    await page.getByRole('heading', { name: 'Attempts' }).waitFor()
    expect(await checkPage(page, 'webhook-delivery')).toEqual([])
  })

  test('deletes after confirmation', async () => {
    const page = await browser.signedIn(tenant, { path: '/webhooks' })
    await page.getByRole('link', { name: 'page_view' }).click()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor()
    expect(browser.problems).toEqual([])
  })
})
