import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, screenshot, type TestBrowser } from './browser.ts'

const MARKUP = '<img src=x onerror="document.title=\'broken into\'"><script>document.title="broken into"</script>'
const NOTE = [
  MARKUP,
  '[press](javascript:alert(1)) <javascript:alert(2)> [data](data:text/html,x) ![track](https://evil.example/pixel.gif)',
  '[ref]: javascript:alert(3)',
  '[ref]',
  'AT&amp;T &lt;b&gt;',
].join('\n\n')

describe.skipIf(!HAS_BROWSER)('hostile data', () => {
  let service: TestService
  let tenant: TestTenant
  let browser: TestBrowser
  let contactId: string

  beforeAll(async () => {
    service = await sharedService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
    const { body } = await tenant.call('POST', '/v1/companies', {
      name: `${MARKUP}${'w'.repeat(900)}`,
      domain: 'a.example',
    })
    contactId = await tenant.contact(
      'eve@example.com',
      {
        firstname: MARKUP,
        lastname: 'שלום עולם \u202Eevil',
        jobtitle: 'j'.repeat(10_000),
        linkedin_url: 'javascript:alert(1)',
        website: 'https://example.com/"><script>alert(1)</script>',
        [`key ${MARKUP}`.slice(0, 120)]: MARKUP,
      },
      { visitor_id: 'eve', company_id: body.company.company_id },
    )
    await tenant.call('POST', `/v1/contacts/${contactId}/notes`, { content: NOTE })
    await tenant.track({
      visitor_id: 'eve',
      events: [
        { event: MARKUP.slice(0, 200), url: 'javascript:alert(1)', title: 't'.repeat(10_000) },
        { event: 'page_view', url: `https://${tenant.site}/<script>`, title: MARKUP, data: { text: '\u202Eabc' } },
      ],
    })
  })
  afterAll(() => browser?.close())

  test.each([
    ['/contacts', 'hostile-contacts'],
    ['/companies', 'hostile-companies'],
    ['/contacts/ID', 'hostile-contact'],
    ['/contacts/ID?tab=notes', 'hostile-notes'],
    ['/contacts/ID?tab=profile', 'hostile-sources'],
    ['/', 'hostile-home'],
  ])('stays text on %s', async (path, name) => {
    const page = await browser.signedIn(tenant, { path: path.replace('ID', contactId) })
    await page.getByText('<img src=x', { exact: false }).first().waitFor()
    expect(await checkPage(page, name)).toEqual([])
    expect(await page.title()).not.toBe('broken into')
    const links = await page.locator('a').evaluateAll((all) => all.map((link) => (link as HTMLAnchorElement).href))
    expect(links.filter((href) => !/^(https?|mailto):/.test(href))).toEqual([])
    expect(await page.locator('img[src*="evil"], script:not([src])').count()).toBe(0)
    expect(browser.problems).toEqual([])
  })

  test('renders markdown, and its images as links', async () => {
    const page = await browser.signedIn(tenant, { path: `/contacts/${contactId}?tab=notes` })
    const note = page.getByRole('article', { name: 'Note' })
    await note.getByText('AT&T <b>').waitFor()
    expect(await note.getByRole('link').allTextContents()).toEqual(['[picture: track]'])
    expect(browser.problems).toEqual([])
  })

  test('runs no scripts in a mail, even if it was not sanitized', async () => {
    const from = { name: MARKUP, address: 'eve@example.com' }
    const message = {
      message_id: '1',
      direction: 'inbound',
      from,
      to: [from],
      cc: [],
      sent_at: '2026-01-01T00:00:00.000Z',
      text: `Dear you ${MARKUP}`,
      html: `<p style="color:red">Dear <b>you</b></p><a href="https://example.com/" target="_blank">look</a>${MARKUP}
        <script>parent.document.title='broken into'</script><form action="/v1"><input></form>`,
      attachments: [{ filename: MARKUP, content_type: 'text/html', bytes: 2_000 }],
    }
    const thread = {
      thread_id: '1',
      channel: 'email',
      source: 'email',
      subject: MARKUP,
      participants: [from],
      message_count: 1,
      last_message_at: message.sent_at,
      messages: [message],
    }
    const page = await browser.signedIn(tenant, { path: `/contacts/${contactId}` })
    await page.route('**/v1/contacts/*/conversations*', (route) =>
      route.fulfill({ json: { status: 'success', conversations: [thread], total_items: 1, returned: 1 } }),
    )
    await page.getByRole('tab', { name: 'Conversations' }).click()
    await page.getByRole('heading', { level: 2 }).getByRole('button').click()
    await page.getByText('Dear you <img', { exact: false }).waitFor()
    expect(await checkPage(page, 'hostile-conversations')).toEqual([])
    await page.getByRole('button', { name: 'Show as sent' }).click()
    const frame = page.frameLocator('iframe')
    await frame.locator('b', { hasText: 'you' }).waitFor()
    expect(await frame.locator('body').evaluate((body) => getComputedStyle(body).fontSize)).toBe('14px')
    // Loaded wholly, so an image's error has happened too.
    await expect.poll(() => frame.locator('body').evaluate((body) => body.ownerDocument.readyState)).toBe('complete')
    expect(await page.title()).not.toBe('broken into')
    expect(await page.locator('iframe').getAttribute('sandbox')).not.toMatch(/allow-(scripts|same-origin|forms|top)/)
    await screenshot(page, 'hostile-mail')
    // The browser reports what it blocked; nothing else may have happened.
    const refused = browser.problems.splice(0)
    expect(refused.filter((problem) => !/Blocked script|Content Security Policy/.test(problem))).toEqual([])
    expect(refused.length).toBeGreaterThan(0)
  })
})
