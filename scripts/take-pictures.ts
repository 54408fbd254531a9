/**
 * Takes the README's screenshots of the dashboard: start `npm run demo` with an empty data directory, then run this file,
 * with the service's URL if it is not the default.
 */
import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { sharedChromium } from '../packages/server/test/chromium.ts'

const [, , url = 'http://localhost:8080'] = process.argv
const TARGET = fileURLToPath(new URL('../docs/images/', import.meta.url))
/** The members of this segment of every demo have events. */
const SEGMENT = 'Viewed pricing twice this week'

mkdirSync(TARGET, { recursive: true })
const browser = await sharedChromium()
try {
  const context = await browser.newContext({
    baseURL: url,
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    colorScheme: 'light',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  await page.goto('/sign-in?redirect=/%3Frange%3D7d')
  await page.getByLabel('Email').fill('demo@example.com')
  await page.getByLabel('Password', { exact: true }).fill('demo password')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Events by day' }).waitFor()
  await page.locator('[data-live="true"]').waitFor()
  // The first invented visitors arrive within seconds.
  await page.getByRole('list', { name: 'Who is here, by what they did last' }).getByText('just now').nth(2).waitFor()
  await page.screenshot({ path: `${TARGET}home.png` })

  await page.goto('/segments')
  await page.getByRole('link', { name: SEGMENT }).click()
  // A contact with a company and a job title, so that no cell of its row is empty.
  const members = page.getByRole('region', { name: 'Segment members' }).getByRole('row')
  await members.filter({ hasNotText: '–' }).getByRole('link').first().click()
  await page.getByRole('tabpanel', { name: 'Timeline' }).getByRole('listitem').first().waitFor()
  await page.getByRole('list', { name: 'Segments' }).waitFor()
  await page.getByRole('region', { name: 'At a glance' }).getByText('page views').waitFor()
  await page.mouse.move(0, 0)
  await page.screenshot({ path: `${TARGET}contact.png` })
} finally {
  await browser.close()
}
