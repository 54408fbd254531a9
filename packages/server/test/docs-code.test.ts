import { spawn, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { addVerifiedDomain } from '../src/access/domains-of-tenant.ts'
import { readSources } from '../src/docs/contents.ts'
import { HAS_BROWSER, sharedChromium } from './chromium.ts'
import { blocksOf, commandsOf, folderOf, installClient, isInstalled, runCommand, writeFilesOf } from './docs-code.ts'
import { freePort } from './ports.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** The code of quick starts and recipes, run as a reader runs it, against a real service. */
let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const HAS_PYTHON = isInstalled('python3')
const withCurl = test.skipIf(!isInstalled('curl'))

/** Runs all commands of a page. @returns what each printed */
async function follow(page: string, tenant: TestTenant, environment: Record<string, string> = {}): Promise<string[]> {
  const access = { url: service.url, key: tenant.key }
  const folder = folderOf(page, access)
  const printed: string[] = []
  for (const command of commandsOf(page)) {
    printed.push(await runCommand(command, folder, { ...environment, ...access }))
  }
  return printed
}

const visit = (tenant: TestTenant, visitor: string, path = '/') =>
  tenant.track({ visitor_id: visitor, events: [{ event: 'page_view', url: `https://${tenant.site}${path}` }] })

withCurl('the introduction: the check of the URL and the key', async () => {
  const tenant = await createTestTenant(service)
  const [response = ''] = await follow('README.md', tenant)
  expect(JSON.parse(response)).toEqual({ status: 'success', count: 0 })
})

withCurl('hooks: a hook is created, and a body becomes an event', async () => {
  const tenant = await createTestTenant(service)
  const [, sent = '', read = ''] = await follow('hooks.md', tenant)
  expect(JSON.parse(sent)).toMatchObject({ state: 'recorded', event: 'order_paid' })
  expect(JSON.parse(read).events).toMatchObject([
    { event: 'order_paid', timestamp: '2026-01-31T08:00:00.000Z', data: { total: 49.9, first_item: 'Engine' } },
  ])
})

test('quick start Node', async () => {
  const tenant = await createTestTenant(service)
  await visit(tenant, 'visitor-of-ada')
  const [identified, sent, linked, read, pushed] = await follow('quickstart/node.md', tenant)
  expect(identified).toContain('created: true')
  expect(sent).toContain("'accepted'")
  expect(linked).toMatch(/^found [0-9a-f-]{36}\n$/)
  expect(read).toMatch(/^Ada pro\n/)
  expect(read).toMatch(/Z page_view\n/)
  expect(read).toMatch(/Z order_paid\n/)
  expect(pushed).toBe('c-1 updated \nc-2 created \n0 failed\n')
})

test.skipIf(!HAS_PYTHON)('quick start Python', async () => {
  const tenant = await createTestTenant(service)
  await visit(tenant, 'visitor-of-ada')
  const [identified, sent, linked, read, pushed] = await follow('quickstart/python.md', tenant)
  expect(identified).toContain("'created': True")
  expect(sent).toContain("'accepted'")
  expect(linked).toMatch(/^found [0-9a-f-]{36}\n$/)
  expect(read).toMatch(/^Ada pro\n/)
  expect(read).toMatch(/Z page_view\n/)
  expect(read).toMatch(/Z order_paid\n/)
  expect(pushed).toBe('w-1 updated\nw-2 created\n')
})

withCurl('quick start HubSpot: the export is imported, and a second time nothing changes', async () => {
  const tenant = await createTestTenant(service)
  const environment = {
    TENANT_ID: tenant.id,
    DATABASE_URL: service.config.databaseUrl ?? '',
    CDS_DATA_DIR: service.config.dataDirectory,
  }
  const [imported, shown = '', pushed = ''] = await follow('quickstart/hubspot.md', tenant, environment)
  expect(imported).toMatch(/^created +3$/m)
  const [ada] = JSON.parse(shown).contacts
  expect(ada).toMatchObject({
    properties: { lifecyclestage: 'mql', company: 'Analytical Engines', country: 'United Kingdom' },
    properties_provenance: { country: { source: 'import' } },
  })
  expect(JSON.parse(pushed).results).toMatchObject([{ external_id: '101', status: 'created' }])
  const [again] = await follow('quickstart/hubspot.md', tenant, environment)
  expect(again).toMatch(/^unchanged +3$/m)
})

test('quick start Next.js: the module for the server identifies a visitor', async () => {
  const tenant = await createTestTenant(service)
  await visit(tenant, 'visitor-next')
  const page = 'quickstart/nextjs.md'
  const folder = folderOf(page)
  const module = blocksOf(page).find(({ title }) => title === 'lib/customer-data.ts')?.code ?? ''
  writeFileSync(join(folder, 'customer-data.ts'), module)
  writeFileSync(
    join(folder, 'run.mjs'),
    `import { identify } from './customer-data.ts'
console.log(await identify('visitor-next', { userId: 'u', email: 'ada@example.com', properties: { plan: 'pro' } }))`,
  )
  const id = (await runCommand('node run.mjs', folder, { url: service.url, key: tenant.key })).trim()
  const { body } = await tenant.call('GET', `/v1/contacts/events/${id}`)
  expect(body.events.map(({ event }: { event: string }) => event)).toContain('page_view')
})

describe.skipIf(!HAS_BROWSER)('quick start website', () => {
  test('the snippets of the page record a visit and identify the visitor', async () => {
    const tenant = await createTestTenant(service)
    const host = `docs-${tenant.id}.localhost`
    await addVerifiedDomain(tenant.handle, host, new Date())
    const snippets = blocksOf('quickstart/website.md').flatMap(({ language, code }) =>
      language === 'html' ? [code] : [],
    )
    expect(snippets).toHaveLength(3)
    const html = snippets.join('').replace('https://cds.example.com', service.url)
    const site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<!doctype html><title>Shop</title>${html}<h1>Shop</h1>`)
    })
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    onTestFinished(() => void site.close())
    const page = await (await sharedChromium()).newPage()
    onTestFinished(() => page.close())
    await page.goto(`http://${host}:${(site.address() as { port: number }).port}/`)
    await expect
      .poll(async () => {
        const { body } = await tenant.call('GET', '/v1/contacts?search=ada@example.com&limit=1')
        const [contact] = body.contacts
        if (!contact) return []
        const { events } = (await tenant.call('GET', `/v1/contacts/events/${contact.contact_id}`)).body
        return events.map(({ event }: { event: string }) => event)
      })
      .toEqual(expect.arrayContaining(['page_view', 'trial_started']))
  })
})

withCurl('from Segment: the SDKs send with the new URL and key', async () => {
  const tenant = await createTestTenant(service)
  const page = 'from-segment.md'
  const folder = folderOf(page)
  // The repository has the packages that a reader installs.
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const [create = '', segment = '', rudder = '', list = ''] = commandsOf(page).map((command) =>
    command.replace(/^npm install .*\n/m, ''),
  )
  const reader = { url: service.url, key: tenant.key }
  const { write_key: WRITE_KEY } = JSON.parse(await runCommand(create, folder, reader))
  for (const command of [segment, rudder]) await runCommand(command, folder, { ...reader, WRITE_KEY })
  // RudderStack's SDK sends its first call at once and the others together.
  await expect
    .poll(async () => {
      const { events } = JSON.parse(await runCommand(list, folder, reader))
      return events.map(({ event }: { event: string }) => event).sort()
    })
    .toEqual(['Invoice Paid', 'Order Completed'])
  const contact = await tenant.contactOf('ada@example.com')
  expect(contact).toMatchObject({ properties: { firstname: 'Ada', company: 'Analytical Engines' } })
})

test('recipe: link a signed-in user', async () => {
  const tenant = await createTestTenant(service)
  await visit(tenant, 'visitor-1')
  const [printed] = await follow('recipes/link-a-signed-in-user.md', tenant)
  expect(printed).toMatch(/^[0-9a-f-]{36} 1\n$/)
})

withCurl('recipe: contacts who viewed pricing', async () => {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
  for (const path of ['/pricing', '/pricing', '/']) await visit(tenant, 'v', path)
  const [asked = '', counted = '', saved = '', subscribed = ''] = await follow(
    'recipes/contacts-who-viewed-pricing.md',
    tenant,
  )
  expect(JSON.parse(asked).contacts).toHaveLength(1)
  expect(JSON.parse(counted).count).toBe(1)
  expect(JSON.parse(saved).segment.name).toBe('Looked at pricing twice')
  expect(JSON.parse(subscribed).status).toBe('success')
})

withCurl('recipe: export everything', async () => {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com', { lifecyclestage: 'customer' })
  const page = 'recipes/export-everything.md'
  const folder = folderOf(page)
  for (const command of commandsOf(page)) await runCommand(command, folder, { url: service.url, key: tenant.key })
  const listed = spawnSync('tar', ['-tf', join(folder, 'export.tar')], { encoding: 'utf8' }).stdout
  expect(listed).toMatch(/contacts/)
  expect(readFileSync(join(folder, 'contacts.csv'), 'utf8')).toContain('ada@example.com')
})

/** Starts the verification of the tenant's erasure, which the service schedules for a minute after it. */
const verifyNow = (tenant: TestTenant) =>
  until(async () => {
    const { numUpdatedRows } = await tenant.handle.db
      .updateTable('erasures')
      .set({ due_at: sql`now()` })
      .where('waiting_for', '=', 'verification')
      .executeTakeFirst()
    expect(numUpdatedRows).toBe(1n)
  })

withCurl('recipe: erase a person', async () => {
  const tenant = await createTestTenant(service)
  const [printed] = await Promise.all([follow('recipes/erase-a-person.md', tenant), verifyNow(tenant)])
  expect(printed.join('')).toMatch(/Erased and verified at \S+Z\. Receipt [0-9a-f-]{36}\./)
  expect((await tenant.call('GET', '/v1/contacts?count_only=true')).body.count).toBe(0)
})

withCurl('recipe: draft follow-ups', async () => {
  const tenant = await createTestTenant(service)
  await tenant.contact('ada@example.com', { firstname: 'Ada' }, { visitor_id: 'v' })
  await visit(tenant, 'v', '/pricing')
  const [, printed] = await follow('recipes/draft-follow-ups.md', tenant)
  expect(printed).toMatch(/The run has completed\.\nemail_message ada@example.com \S/)
})

test.each([
  ['node', 'receiver.mjs', true],
  ['python3', 'receiver.py', HAS_PYTHON],
])('recipe: receive a webhook, in %s', async (program, file, isThere) => {
  if (!isThere) return
  const port = await freePort()
  const folder = folderOf('recipes/receive-a-webhook.md')
  const command = program === 'node' ? process.execPath : program
  const receiver = spawn(command, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, PORT: String(port), WEBHOOK_SECRET: 'whsec_test' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void receiver.kill())
  let printed = ''
  receiver.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  await expect.poll(() => printed).toContain('listening')
  const body = JSON.stringify({ event: 'page_view', event_id: 'e-1', data: { contact: { email: 'ada@example.com' } } })
  const send = async (signature: string) => {
    const headers = { 'x-service-signature': signature }
    return (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status
  }
  const signature = `sha256=${createHmac('sha256', 'whsec_test').update(body).digest('hex')}`
  expect(await send(signature)).toBe(204)
  await expect.poll(() => printed).toContain('page_view e-1 ada@example.com')
  expect(await send(signature.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).toBe(401)
  expect(await send('')).toBe(401)
})

withCurl('recipe: receive a webhook, the subscription', async () => {
  const tenant = await createTestTenant(service)
  const [response = ''] = await follow('recipes/receive-a-webhook.md', tenant)
  expect(JSON.parse(response).signing_secret).toMatch(/^whsec_/)
})

/** Commands of programs that are not on the machines that run the tests. */
const OF_OTHER_PROGRAMS = /^claude /

/**
 * A new reader's service: one tenant, one folder, one shell's variables, the key that the introduction creates. What a page
 * creates must not stop the examples of a later one.
 */
test.skipIf(!isInstalled('curl') || !HAS_PYTHON)(
  'every page in the order of the navigation, one after another',
  async () => {
    const tenant = await createTestTenant(service)
    const introduction = blocksOf('README.md').map(({ code }) => code)
    const [, scopes = ''] = /key create --name \S+ --scopes (\S+)/.exec(introduction.join('')) ?? []
    const created = await tenant.call('POST', '/v1/api-keys', { name: 'examples', scopes: scopes.split(',') })
    expect(created.status).toBe(201)
    const access = { url: service.url, key: created.body.api_key }
    const folder = folderOf('README.md', access)
    const client = installClient()
    onTestFinished(() => rmSync(client, { recursive: true, force: true }))
    // What the pages install.
    mkdirSync(join(folder, 'node_modules'))
    const packages = [
      ['@customer-data-service', client],
      ['@segment', process.cwd()],
      ['@rudderstack', process.cwd()],
    ] as const
    for (const [scope, where] of packages) {
      symlinkSync(join(where, 'node_modules', scope), join(folder, 'node_modules', scope))
    }
    const environment = {
      TENANT_ID: tenant.id,
      DATABASE_URL: service.config.databaseUrl ?? '',
      CDS_DATA_DIR: service.config.dataDirectory,
    }
    let writeKey = ''
    const failed: string[] = []
    const walked: string[] = []
    for (const { file } of await readSources()) {
      if (!file.startsWith('docs/') || file.startsWith('docs/decisions/')) continue
      const page = file.slice('docs/'.length)
      const commands = commandsOf(page).filter((command) => !OF_OTHER_PROGRAMS.test(command))
      if (commands.length === 0) continue
      walked.push(page)
      writeFilesOf(page, folder, access)
      const verified = page.endsWith('erase-a-person.md') ? verifyNow(tenant) : null
      for (const command of commands) {
        const run = command.replace(/^npm install .*\n/m, '')
        try {
          const printed = await runCommand(run, folder, { ...environment, ...access, WRITE_KEY: writeKey })
          writeKey = /"write_key":"([^"]+)/.exec(printed)?.[1] ?? writeKey
        } catch (error) {
          const { stdout, stderr } = error as { stdout?: string; stderr?: string }
          failed.push(`${page}: ${command}\n${stdout}\n${stderr}`)
        }
      }
      await verified
    }
    expect(failed).toEqual([])
    expect(walked.length).toBeGreaterThan(14)
  },
)
