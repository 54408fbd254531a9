import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../server/src/platform/ids.ts'
import { insertAgent } from '../../server/test/actions.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import { type MailBench, startMailBench } from '../../server/test/mail.ts'
import { createTestTenant, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, reopen, screenshot, type TestBrowser } from './browser.ts'

const HOSTILE = '<img src=x onerror="alert(1)"> ‮gnihsif'

let bench: MailBench
let browser: TestBrowser
let tenant: TestTenant

/** @returns its id. */
async function identity(firstName: string): Promise<string> {
  const { body } = await tenant.call('POST', '/v1/identities', { firstName, lastName: 'Hopper', role: 'Sales' })
  return body.identity.identity_id
}

describe.skipIf(!HAS_BROWSER)('the identities', () => {
  beforeAll(async () => {
    bench = await startMailBench()
    browser = await openBrowser(bench.service)
    tenant = await createTestTenant(bench.service)
  })
  afterAll(async () => {
    await browser?.close()
    await bench?.close()
  })

  test('an identity is created, changed and deleted, with a warning about its agents', async () => {
    const page = await browser.signedIn(tenant, { path: '/identities' })
    await page.getByRole('heading', { name: 'No senders yet' }).waitFor()
    await page.getByRole('button', { name: 'New sender' }).first().click()
    await page.getByLabel('First name').fill('Grace')
    await page.getByLabel('Last name').fill('Hopper')
    await page.getByLabel('Role').fill('Sales')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('heading', { name: 'Grace Hopper', level: 1 }).waitFor()
    await page.getByLabel('Job title').fill('Head of sales')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    const identityId = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/identities/${identityId}`)).body.identity.jobTitle)
      .toBe('Head of sales')
    await page.getByLabel('Job title').fill('')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect
      .poll(async () => (await tenant.call('GET', `/v1/identities/${identityId}`)).body.identity.jobTitle)
      .toBe(null)
    await insertAgent(tenant.handle, identityId, 'Pricing scout')
    await reopen(page)
    await page.getByRole('link', { name: 'Pricing scout' }).waitFor()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByText('This agent uses it').waitFor()
    await screenshot(page, 'identity-delete')
    await page.getByRole('button', { name: 'Delete sender' }).click()
    await page.getByRole('heading', { name: 'No senders yet' }).waitFor()
  })

  test("a mailbox is saved once both logins succeed; the servers' errors are shown", async () => {
    const identityId = await identity('Mailing')
    const mailbox = await bench.servers.addMailbox('mailing@mail.example')
    const page = await browser.signedIn(tenant, { path: `/identities/${identityId}` })
    const provider = page.getByRole('combobox', { name: 'Provider' })
    await provider.selectOption('Gmail or Google Workspace')
    await page.getByText('Requires an app password').waitFor()
    await screenshot(page, 'identity-preset')
    await provider.selectOption('Another')
    await page.getByLabel('Email address').fill(mailbox.user)
    await page.getByRole('textbox', { name: 'Password' }).fill('wrong')
    await page.getByLabel('Server').first().fill('localhost')
    await page.getByLabel('Port').first().fill(String(bench.servers.smtp.port))
    await page.getByRole('switch', { name: 'Read incoming email' }).click()
    await page.getByLabel('Maximum per day').fill('40')
    await page.getByRole('button', { name: 'Log in and save' }).click()
    await page.getByRole('alert').getByText('5.7.8 Username and password not accepted').waitFor()
    expect(await checkPage(page, 'identity-refused')).toEqual([])
    await page.getByRole('textbox', { name: 'Password' }).fill(mailbox.password)
    await page.getByRole('button', { name: 'Log in and save' }).click()
    await page.getByText('Sends through').waitFor()
    await page.getByText('40 emails').waitFor()
    await page.getByRole('button', { name: 'Test the login' }).click()
    await page.getByText('The login works.').waitFor()
    expect(await checkPage(page, 'identity')).toEqual([])
    // Changed without the password, which is kept.
    await page.getByRole('button', { name: 'Change' }).click()
    await page.getByLabel('Maximum per day').fill('10')
    await page.getByRole('button', { name: 'Log in and save' }).click()
    await page.getByText('10 emails').waitFor()
    bench.servers.smtp.logins.delete(mailbox.user)
    await page.getByRole('button', { name: 'Test the login' }).click()
    await page.getByRole('alert').getByText('not accepted').waitFor()
    await page.getByText('login fails').waitFor()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Remove mailbox' }).click()
    await page.getByRole('combobox', { name: 'Provider' }).waitFor()
  })

  test('a social login asks for a code, reports a wrong one, and connects', async () => {
    const identityId = await identity('Social')
    const page = await browser.signedIn(tenant, { path: `/identities/${identityId}` })
    const card = page.getByRole('region', { name: 'Social network' })
    await card.getByText('The network is a sandbox').waitFor()
    await card.getByRole('button', { name: 'Log in', exact: true }).click()
    await card.getByLabel('User name or email address').fill('2fa@example.com')
    await card.getByRole('textbox', { name: 'Password' }).fill('a password')
    await card.getByRole('button', { name: 'Log in', exact: true }).click()
    await card.getByText('The network asks for a two-factor authentication code').waitFor()
    await card.getByText(/^\d+:\d\d left$/).waitFor()
    expect(await checkPage(page, 'identity-code')).toEqual([])
    // Opened anew, the page continues where it was.
    await reopen(page)
    await card.getByLabel('Code').fill('999999')
    await card.getByRole('button', { name: 'Send the code' }).click()
    await card
      .getByText(/code/i)
      .filter({ hasText: /wrong|reject/i })
      .first()
      .waitFor()
    await card.getByLabel('Code').fill('123456')
    await card.getByRole('button', { name: 'Send the code' }).click()
    await card.getByText('connected', { exact: true }).waitFor()
    await card.getByRole('button', { name: 'Check' }).click()
    await card.getByText('The session is valid.').waitFor()
    await card.getByRole('button', { name: 'Renew the login' }).click()
    await card.getByText('The login succeeded.').waitFor()
    await screenshot(page, 'identity-connected')
  })

  test('a login that waits for an email completes on its own, and a rejected one shows why', async () => {
    const identityId = await identity('Waiting')
    const page = await browser.signedIn(tenant, { path: `/identities/${identityId}` })
    const card = page.getByRole('region', { name: 'Social network' })
    const logIn = async (username: string) => {
      await card.getByRole('button', { name: 'Log in', exact: true }).click()
      await card.getByLabel('User name or email address').fill(username)
      await card.getByRole('textbox', { name: 'Password' }).fill('a password')
      await card.getByRole('button', { name: 'Log in', exact: true }).click()
    }
    await logIn('wrong@example.com')
    await card.getByRole('alert').getByText('The network rejected the credentials').waitFor()
    await card.getByRole('button', { name: 'Cancel' }).click()
    // The sandbox continues after a few polls, however long the page takes to show the state.
    const { database } = bench.service.stores
    await sql`ALTER TABLE social_sandbox_logins ALTER polls SET DEFAULT -1000`.execute(database)
    await logIn('email@example.com')
    await card.getByText('The network has sent an email').waitFor()
    await screenshot(page, 'identity-email-step')
    await sql`UPDATE social_sandbox_logins SET polls = 2 WHERE polls < 0`.execute(database)
    await card.getByText('The login succeeded.').waitFor()
  })

  test('a viewer sees what an identity is connected to, but no controls to change it', async () => {
    const identityId = await identity(HOSTILE)
    const page = await browser.signedIn(tenant, { path: '/identities', role: 'viewer' })
    await page.getByRole('link', { name: /img src/ }).click()
    await page.getByText('No mailbox: this sender cannot send email.').waitFor()
    for (const name of ['Save', 'Delete', 'Log in', 'Log in and save']) {
      expect(await page.getByRole('button', { name, exact: true }).count(), name).toBe(0)
    }
    expect(page.url()).toContain(identityId)
    expect(await page.locator('img[src="x"]').count()).toBe(0)
    await page.getByRole('link', { name: 'Senders' }).first().click()
    await page.getByRole('link', { name: /img src/ }).waitFor()
    expect(await page.getByRole('button', { name: 'New sender' }).count()).toBe(0)
    expect(await checkPage(page, 'identities')).toEqual([])
  })

  test('a long list is paged and searched by the service', async () => {
    const crowded = await createTestTenant(bench.service)
    const created_at = new Date()
    const rows = Array.from({ length: 51 }, (_, index) => ({
      identity_id: newId(),
      first_name: index === 0 ? 'Zelda' : 'Robin',
      last_name: `Marsh${index}`,
      role: 'Sales',
      created_at: new Date(created_at.getTime() + index),
      updated_at: created_at,
    }))
    await crowded.handle.db.insertInto('identities').values(rows).execute()
    const page = await browser.signedIn(crowded, { path: '/identities', role: 'viewer' })
    await page.getByText('1–50 of 51').waitFor()
    expect(await page.getByRole('row').count()).toBe(51)
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByRole('link', { name: 'Zelda Marsh0' }).waitFor()
    await reopen(page)
    await page.getByText('51–51 of 51').waitFor()
    await page.getByRole('searchbox', { name: 'Search by name or address' }).fill('sales marsh50')
    await page.getByText('1–1 of 1').waitFor()
    await page.getByRole('link', { name: 'Robin Marsh50' }).waitFor()
    await page.getByRole('searchbox', { name: 'Search by name or address' }).fill('nobody')
    await page.getByRole('heading', { name: 'No sender matches' }).waitFor()
  })

  test('no page had errors, policy violations or requests to other hosts', () => {
    expect(browser.problems).toEqual([])
  })
})
