import { createTransport } from 'nodemailer'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER, sharedChromium } from '../../test/chromium.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { addVerifiedDomain } from '../access/domains-of-tenant.ts'
import type { App } from '../platform/http/app-types.ts'
import { answerMail } from './answer.ts'
import { openSandboxMailbox, type SandboxMailbox } from './mailbox.ts'
import { serveMailbox } from './mailbox-page.ts'
import { serveDemoSite } from './site.ts'
import { receiveVisits } from './visits.ts'

describe.skipIf(!HAS_BROWSER)('the shop of the demo', () => {
  let service: TestService
  let tenant: TestTenant
  let mailbox: SandboxMailbox

  beforeAll(async () => {
    mailbox = await openSandboxMailbox()
    const beforeListen = (app: App) => {
      serveDemoSite(app)
      serveMailbox(app, mailbox, (mail, text) => answerMail(tenant.handle, service.writing, null, mail, text))
    }
    service = await startTestService({ HOST: 'localhost' }, { beforeListen })
    tenant = await createTestTenant(service)
    await addVerifiedDomain(tenant.handle, 'localhost', new Date())
  })
  afterAll(async () => {
    await service.close()
    await mailbox.close()
  })

  test('the events of a visit arrive, from the first page to the identification of the visitor', async () => {
    const page = await (await sharedChromium()).newPage()
    onTestFinished(() => page.close())
    const problems: string[] = []
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => problems.push(message.text()))
    // Recovery may not happen: not for a visitor who leaves at once, nor if the fingerprint takes too long.
    const recovery = page.waitForResponse(/recover-visitor/, { timeout: 10_000 }).catch(() => null)
    await page.goto(`${service.url}/demo-site/`)
    await recovery
    await page.locator('#me').waitFor({ state: 'visible' })
    expect(await page.getAttribute('#me', 'href')).toMatch(/^\/visitors\/[0-9a-f-]{36}$/)
    await page.click('text=Show me the offer')
    await page.click('text=See the lamps')
    await page.waitForURL(/shop/)
    await page.click('text=Moon')
    await page.click('text=Add to the basket')
    await page.click('text=The film')
    await page.waitForURL(/film/)
    await page.waitForFunction(() => document.querySelector('video')?.readyState === 4)
    await page.evaluate(() => (document.querySelector('video') as HTMLVideoElement).play())
    await page.evaluate(() => Object.assign(document.querySelector('video') as HTMLVideoElement, { currentTime: 4.1 }))
    await page.fill('#film-email input', 'ada@example.com')
    await page.click('#film-email button')
    await page.click('text=Contact')
    await page.waitForURL(/contact/)
    await page.fill('[name=firstName]', 'Ada')
    await page.fill('#contact [name=email]', 'ada@example.com')
    await page.click('#contact button')
    await expect
      .poll(async () => (await tenant.call('GET', '/v1/contacts?search=ada@example.com')).body.contacts[0]?.properties)
      .toMatchObject({ firstname: 'Ada' })
    const { body } = await tenant.call('GET', '/v1/contacts?search=ada@example.com')
    // The film asked first, and its form identifies.
    expect(body.contacts[0].creation_source).toBe('form')
    const names = async () => {
      const response = await tenant.call('GET', '/v1/events?limit=100&identified_only=true')
      return response.body.events
        .filter((event: { internal_contact_id: string }) => event.internal_contact_id === body.contacts[0].contact_id)
        .map(({ event }: { event: string }) => event)
    }
    const expected = 'page_view first_visit button_click link_click page_leave added_to_basket video_play video_pause'
    await expect
      .poll(names)
      .toEqual(expect.arrayContaining([...expected.split(' '), 'video_milestone', 'video_conversion', 'form_submit']))
    expect(problems).toEqual([])
  })

  test('has a mailbox where mails appear as they arrive, and run nothing', async () => {
    const page = await (await sharedChromium()).newPage()
    onTestFinished(() => page.close())
    await page.goto(`${service.url}/demo-site/mailbox`)
    await page.getByText('No mails yet').waitFor()
    const { host, port, user, password } = mailbox.smtp
    const mailer = createTransport({ host, port, auth: { user, pass: password } })
    const mail = { from: 'grace@example.com', to: 'lin@example.com', subject: '<b>Plans?</b>' }
    await mailer.sendMail({ ...mail, html: '<p>Hello Ada</p><script>parent.document.title = "owned"</script>' })
    await page.getByRole('heading', { name: '<b>Plans?</b>' }).waitFor()
    await page.getByText('From grace@example.com to lin@example.com').waitFor()
    await page.frameLocator('iframe').getByText('Hello Ada').waitFor()
    expect(await page.title()).toBe('Sandbox mailbox')
    // The recipient answers, which the service reads as if the sender's mailbox had received it.
    const contactId = await tenant.contact('lin@example.com')
    await page.getByLabel('Answer as lin@example.com').fill('Yes, please call me.')
    await page.getByRole('button', { name: 'Send the answer' }).click()
    await page.getByText('Answered').waitFor()
    const { conversations } = (await tenant.call('GET', `/v1/contacts/${contactId}/conversations`)).body
    expect(conversations).toMatchObject([{ subject: 'Re: <b>Plans?</b>', message_count: 1 }])
    const nobody = await fetch(`${service.url}/demo-site/mailbox/1/reply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"text":"Hello"}',
    })
    expect(nobody.status).toBe(404)
    const stranger = createTransport({ host, port, auth: { user, pass: 'wrong' } })
    await expect(stranger.sendMail({ ...mail, text: 'x' })).rejects.toMatchObject({ code: 'EAUTH' })
  })

  test('gets invented visitors, until the demo stops', async () => {
    const stopping = new AbortController()
    const site = `www.${tenant.site}`
    const visits = receiveVisits(service.app, { tenantId: tenant.id, site }, stopping.signal)
    const first = async () => (await tenant.call('GET', `/v1/events?domain=${site}&limit=1`)).body.events[0]
    await expect.poll(first).toMatchObject({ event: 'page_view', domain: site })
    stopping.abort()
    await visits
  })
})
