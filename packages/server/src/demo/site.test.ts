import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { HAS_BROWSER, sharedChromium } from '../../test/chromium.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from '../../test/service.ts'
import { addVerifiedDomain } from '../access/domains.ts'
import { serveDemoSite } from './site.ts'

describe.skipIf(!HAS_BROWSER)('the shop of the demo', () => {
  let service: TestService
  let tenant: TestTenant

  beforeAll(async () => {
    service = await startTestService({ HOST: 'localhost' }, { beforeListen: serveDemoSite })
    tenant = await createTestTenant(service)
    await addVerifiedDomain(service.stores.database, tenant.id, 'localhost', new Date())
  })
  afterAll(() => service.close())

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
    const names = async () => {
      const answer = await tenant.call('GET', '/v1/events?limit=100&identified_only=true')
      return answer.body.events
        .filter((event: { internal_contact_id: string }) => event.internal_contact_id === body.contacts[0].contact_id)
        .map(({ event }: { event: string }) => event)
    }
    const expected = 'page_view first_visit button_click link_click page_leave added_to_basket video_play video_pause'
    await expect
      .poll(names)
      .toEqual(expect.arrayContaining([...expected.split(' '), 'video_milestone', 'video_conversion', 'form_submit']))
    expect(problems).toEqual([])
  })
})
