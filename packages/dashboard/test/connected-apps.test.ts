import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { insertMember } from '../../server/src/access/users.ts'
import { HAS_BROWSER } from '../../server/test/chromium.ts'
import {
  authorizationRequest,
  CALLBACK,
  McpApp,
  register,
  startOAuthService,
  whoCalls,
} from '../../server/test/oauth.ts'
import { createPerson, PASSWORD } from '../../server/test/people.ts'
import { createTestTenant, type TestService, type TestTenant } from '../../server/test/service.ts'
import { checkPage, openBrowser, openWithin, screenshot, type TestBrowser } from './browser.ts'

describe.skipIf(!HAS_BROWSER)('connected apps', () => {
  let service: TestService
  let browser: TestBrowser
  let tenant: TestTenant

  beforeAll(async () => {
    service = await startOAuthService()
    browser = await openBrowser(service)
    tenant = await createTestTenant(service)
  })
  afterAll(async () => {
    await browser?.close()
    await service?.close()
  })

  /** Problems of the pages, without the way back to the application, which is another host. */
  const problems = () => browser.problems.filter((problem) => !problem.includes(CALLBACK))

  test('a person signs in, chooses what an application may do, and disconnects it later', async () => {
    const other = await createTestTenant(service)
    const email = 'ada@example.com'
    const userId = await createPerson(service.stores, tenant.id, { email, name: 'Ada Lovelace', role: 'admin' })
    await insertMember(service.stores.database, other.id, { userId, role: 'viewer' }, new Date())
    const app = new McpApp(service)
    await app.connect()
    const page = await browser.tab()
    await page.route(`${CALLBACK}**`, (route) => route.fulfill({ body: 'back in the application' }))
    await page.goto(String(app.authorizationUrl))
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()

    await page.getByRole('heading', { name: /Connect .?“Claude”/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
    await page.getByText(/You return to a program on this computer \(.?127\.0\.0\.1:33418/).waitFor()
    await page.getByText(`You are signed in as ${email}.`).waitFor()
    expect(await page.getByLabel('Hide personal data').isChecked()).toBe(true)
    expect(await page.getByLabel('Contacts, their notes and conversations').isChecked()).toBe(true)
    expect(await page.getByLabel('Contacts and notes').isChecked()).toBe(false)
    expect(await page.getByLabel('Workspace', { exact: true }).locator('option').count()).toBe(2)
    expect(await checkPage(page, 'oauth-consent')).toEqual([])

    await page.getByLabel('Workspace', { exact: true }).selectOption(tenant.id)
    await page.getByLabel('Contacts and notes').check()
    await page.getByLabel('Settings of the workspace').uncheck()
    await page.getByLabel('All tools').uncheck()
    await page.getByLabel('Update a contact').uncheck()
    expect(await page.getByLabel('Create a segment').count()).toBe(0)
    await screenshot(page, 'oauth-consent-tools')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('back in the application').waitFor()
    const held = await app.comeBack(page.url())
    const who = await whoCalls(service, held.access_token)
    expect(who.body).toMatchObject({
      tenant_id: tenant.id,
      redacts: true,
      actor: { name: 'Ada Lovelace (via Claude)' },
    })
    expect(who.body.scopes).toContain('contacts:write')
    expect(who.body.scopes).not.toContain('settings:read')
    expect(who.body.tools).toEqual(expect.arrayContaining(['describe_schema', 'search_contacts', 'add_note']))
    expect(who.body.tools).not.toContain('update_contact')

    await page.goto('/connect/mcp')
    await page.getByText('Connected, last seen', { exact: false }).waitFor()
    await openWithin(page, '/settings/connected-apps')
    const row = page.getByRole('row').filter({ hasText: 'Claude' })
    await row.waitFor()
    expect(await row.textContent()).toMatch(/127\.0\.0\.1:33418.*Ada Lovelace.*you.*hidden/)
    expect(await checkPage(page, 'settings-connected-apps')).toEqual([])
    await row.getByRole('button', { name: 'Tools of Claude' }).click()
    const tools = page.getByRole('dialog')
    await tools.getByLabel('Add a note').uncheck()
    await tools.getByLabel('Update a contact').check()
    await screenshot(page, 'settings-connected-app-tools')
    await tools.getByRole('button', { name: 'Save' }).click()
    await tools.waitFor({ state: 'detached' })
    const after = (await whoCalls(service, held.access_token)).body.tools
    expect([after.includes('add_note'), after.includes('update_contact')]).toEqual([false, true])
    await row.getByRole('button', { name: 'Disconnect Claude' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('No connected apps').waitFor()
    expect((await whoCalls(service, held.access_token)).status).toBe(401)
    await screenshot(page, 'settings-connected-apps-empty')
    expect(problems()).toEqual([])
  })

  test('cancelling goes back without access, and a wrong request goes nowhere without a click', async () => {
    const { body } = await register(service, { client_name: 'Helper', redirect_uris: ['https://helper.example/back'] })
    const redirect = { redirect_uri: 'https://helper.example/back' }
    const address = (changes: Record<string, string>) =>
      `/oauth/authorize${authorizationRequest(service, body.client_id, { ...redirect, ...changes }).query}`
    const page = await browser.signedIn(tenant, { role: 'viewer' })
    await page.route('https://helper.example/**', (route) => route.fulfill({ body: 'back at the helper' }))
    await page.goto(address({}))
    await page.getByText(/You return to .?helper\.example/).waitFor()
    expect(await page.getByText('What it may change').count()).toBe(0)
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('back at the helper').waitFor()
    expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')

    await page.goto(address({ response_type: 'token' }))
    await page.getByText('The application sent a wrong request').waitFor()
    await screenshot(page, 'oauth-refusal')
    await page.getByRole('button', { name: /Return to .?helper\.example/ }).click()
    await page.getByText('back at the helper').waitFor()
    expect(new URL(page.url()).searchParams.get('error')).toBe('unsupported_response_type')

    await page.goto(address({ redirect_uri: 'https://attacker.example/' }))
    await page.getByText('Do not continue.').waitFor()
    expect(await page.getByRole('button').count()).toBe(0)
    await screenshot(page, 'oauth-unknown-address')
    await page.close()
    expect(problems().filter((problem) => !problem.includes('https://helper.example/back'))).toEqual([])
  })

  test('a key for an agent hides personal data and works only over MCP, unless a person chooses otherwise', async () => {
    const page = await browser.signedIn(tenant, { path: '/settings/keys?dialog=true' })
    const create = async (name: string, use: string) => {
      await page.getByRole('textbox', { name: 'Name' }).fill(name)
      await page.getByRole('button', { name: 'Read only' }).click()
      await page.getByLabel(use, { exact: true }).check()
    }
    const created = async (name: string) => {
      await page.getByRole('button', { name: 'Create key' }).click()
      const secret = (await page.getByText(/^cds_/).textContent()) ?? ''
      await page.getByRole('button', { name: 'I have saved it' }).click()
      return { secret, row: page.getByRole('row').filter({ hasText: name }) }
    }
    expect(await page.getByLabel('Your apps and servers').isChecked()).toBe(true)
    await create('Agent', 'An AI agent')
    await page.getByLabel('All tools').uncheck()
    await page.getByLabel('Conversations of a contact').uncheck()
    await screenshot(page, 'settings-new-key-redaction')
    const hiding = await created('Agent')
    await hiding.row.getByText('MCP only', { exact: true }).waitFor()
    expect((await tenant.call('GET', '/v1/contacts', undefined, hiding.secret)).body.error.code).toBe('redacting_key')
    const { redacts, tools } = (await whoCalls(service, hiding.secret)).body
    expect([redacts, tools.includes('search_contacts'), tools.includes('conversations')]).toEqual([true, true, false])

    await page.getByRole('button', { name: 'New key' }).click()
    await create('Sees names', 'An AI agent that sees personal data')
    const open = await created('Sees names')
    await open.row.getByText('visible', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'New key' }).click()
    await create('Server', 'Your apps and servers')
    const server = await created('Server')
    await server.row.getByText('hidden', { exact: true }).waitFor()
    expect((await tenant.call('GET', '/v1/contacts', undefined, server.secret)).status).toBe(200)
    expect((await whoCalls(service, server.secret)).body).toMatchObject({ redacts: true, tools: ['all'] })

    await server.row.getByRole('button', { name: 'Tools of Server' }).click()
    await page.getByRole('dialog').getByLabel('All tools').uncheck()
    await page.getByRole('dialog').getByLabel('Query events').uncheck()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect((await whoCalls(service, server.secret)).body.tools).not.toContain('query_events')
    await screenshot(page, 'settings-keys-redaction')
    expect(problems().filter((problem) => !problem.includes('helper.example'))).toEqual([])
  })
})
