import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { addVerifiedDomain } from '../packages/server/src/access/domains-of-tenant.ts'
import { newSigningSecret, signatureHeaders } from '../packages/server/src/webhooks/signature.ts'
import { HAS_BROWSER, sharedChromium } from '../packages/server/test/chromium.ts'
import { freePort } from '../packages/server/test/ports.ts'
import { type Started, startProcess } from '../packages/server/test/process.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../packages/server/test/service.ts'
import { until } from '../packages/server/test/webhooks.ts'

/** The examples, started as their READMEs say, against a real service. */
let service: TestService
beforeAll(async () => {
  service = await sharedService()
  // The examples use the client as it is published.
  execFileSync(process.execPath, ['packages/client/build.ts'], { stdio: 'pipe' })
})

async function start(
  program: string,
  args: string[],
  tenant: TestTenant,
  more: object = {},
): Promise<Started & { port: number }> {
  const port = await freePort()
  const environment = { CDS_URL: service.url, CDS_KEY: tenant.key, PORT: String(port), ...more }
  const started = await startProcess(
    program,
    [...args, ...(args.length > 0 ? [String(port)] : [])],
    environment,
    /http:\/\/localhost/,
  )
  // Next.js has a second process, which ends with the first only if that is asked to end.
  onTestFinished(() => void started.end('SIGTERM'))
  return { ...started, port }
}

/** Opens a page of an example under a host name that only this tenant has; browsers find it on this machine. */
async function visit(tenant: TestTenant, port: number): Promise<Page> {
  const host = `${tenant.id}.localhost`
  await addVerifiedDomain(tenant.handle, host, new Date())
  const context = await (await sharedChromium()).newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  // Next.js compiles a page when it is first opened.
  await page.goto(`http://${host}:${port}/`, { timeout: 150_000 })
  return page
}

const namesOf = async (tenant: TestTenant): Promise<string[]> => {
  const { body } = await tenant.call('GET', '/v1/events?sort_dir=asc&limit=100')
  return body.events.map(({ event }: { event: string }) => event)
}

test.skipIf(!HAS_BROWSER)('static site: page views and an own event arrive', async () => {
  const tenant = await createTestTenant(service)
  const { port } = await start('examples/static-site/serve.ts', [], tenant)
  const page = await visit(tenant, port)
  await page.getByRole('button', { name: 'Order a sample' }).click()
  await page.getByRole('link', { name: 'Pricing' }).click()
  await until(async () => {
    const names = await namesOf(tenant)
    expect(names).toContain('sample_ordered')
    expect(names.filter((name) => name === 'page_view')).toHaveLength(2)
  })
})

test('Node server: a sign-up, an order and a webhook', async () => {
  const tenant = await createTestTenant(service)
  const secret = newSigningSecret()
  const server = await start('examples/node-server/server.ts', [], tenant, { WEBHOOK_SECRET: secret })
  await tenant.track({ visitor_id: 'visitor-of-ada', events: [{ event: 'page_view' }] })
  const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', body, headers })
    return { status: response.status, body: await response.json() }
  }
  const person = JSON.stringify({ user_id: 'user-1', email: 'ada@example.com' })
  const signedUp = await post('/sign-up', person, { cookie: 'a=b; service_visitor_id=visitor-of-ada' })
  expect(signedUp).toMatchObject({ status: 200, body: { created: true } })
  expect(await post('/orders', '{"user_id":"user-1","total":120}')).toMatchObject({ status: 200 })
  expect(await post('/sign-up', '{"email":"no address"}')).toMatchObject({ status: 400 })
  expect(await post('/sign-up', 'garbage')).toMatchObject({ status: 400 })
  const body = JSON.stringify({ event: 'page_view', data: { contact: { email: 'ada@example.com' } } })
  const message = { messageId: 'e-1', at: new Date(), body: Buffer.from(body) }
  expect(await post('/hooks', body, signatureHeaders({ primary: secret, valid: [secret] }, message))).toMatchObject({
    status: 200,
  })
  expect(server.output()).toContain('webhook: page_view of ada@example.com')
  expect(await post('/hooks', body)).toMatchObject({ status: 400 })
  expect(await server.end('SIGTERM')).toBe(0)
  const { events } = (await tenant.call('GET', `/v1/contacts/events/${signedUp.body.contact_id}`)).body
  expect(events.map(({ event }: { event: string }) => event)).toEqual(['order_placed', 'page_view'])
})

const NEXT = 'examples/nextjs/node_modules/next/dist/bin/next'

test.skipIf(!HAS_BROWSER || !existsSync(NEXT))(
  'Next.js (left out unless npm install has run in examples/nextjs): a visit becomes that of the person who signs in',
  async () => {
    const tenant = await createTestTenant(service)
    const { port } = await start(NEXT, ['dev', 'examples/nextjs', '--port'], tenant)
    const page = await visit(tenant, port)
    await until(async () => expect(await namesOf(tenant)).toContain('page_view'))
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'Welcome, ada@example.com' }).waitFor()
    const { contacts } = (await tenant.call('GET', '/v1/contacts')).body
    expect(contacts).toMatchObject([{ properties: { email: 'ada@example.com' } }])
    const { events } = (await tenant.call('GET', `/v1/contacts/events/${contacts[0].contact_id}`)).body
    const names = events.map(({ event }: { event: string }) => event)
    expect(names).toEqual(expect.arrayContaining(['page_view', 'signed_in']))
  },
  600_000,
)
