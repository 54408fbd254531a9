import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { verifyWebhook } from '../../../../client/src/index.ts'
import { startFailingFront } from '../../../../client/test/failing-front.ts'
import { CLI, type RunningCommand, type Started, startCommand, startProcess } from '../../../test/process.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { until } from '../../../test/webhooks.ts'
import { HOUR_MS } from '../../platform/time.ts'
import type { Values } from '../command.ts'
import { FOLLOWING_COMMANDS } from './commands.ts'

const READY = /End with Ctrl\+C|signing_secret/

let service: TestService
let tenant: TestTenant
beforeEach(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** Starts a command and waits until it sees new events. If it opened databases, it would fail. */
async function start(args: string[], { url = service.url, key = tenant.key } = {}): Promise<Started> {
  const environment = { CDS_URL: url, CDS_KEY: key, DATABASE_URL: 'nonsense' }
  const started = await startProcess(CLI, args, environment, READY)
  onTestFinished(() => void started.end('SIGKILL'))
  return started
}

/** The same in this process, which has loaded the code; it ends with the test. */
async function startHere(name: string, values: Values, { url = service.url, key = tenant.key } = {}) {
  const command = FOLLOWING_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  vi.stubEnv('CDS_URL', url)
  vi.stubEnv('CDS_KEY', key)
  let output = ''
  for (const method of ['log', 'error'] as const) {
    vi.spyOn(console, method).mockImplementation((line) => {
      output += `${line}\n`
    })
  }
  const ending = new AbortController()
  const ended = command.follow(values, ending.signal)
  onTestFinished(async () => {
    ending.abort()
    await ended.catch(() => {})
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
  })
  await Promise.race([ended, until(() => expect(output).toMatch(READY))])
  return { output: () => output }
}

/** The error of a command that cannot follow. */
const refusal = (values: Values, options?: { url?: string; key?: string }) =>
  startHere('event tail', values, options).then(
    () => 'it follows',
    ({ code, message }: Error & { code?: string }) => `${code} ${message}`,
  )

const view = (path: string) =>
  tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url: `https://${tenant.site}${path}`, title: path }] })

const linesOf = (started: Pick<Started, 'output'>) =>
  started
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

/** A program of a developer, which gets webhooks. */
async function startReceiver(status = 200) {
  const received: { headers: IncomingHttpHeaders; body: Buffer; path: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push({
      headers: request.headers,
      body: Buffer.concat(chunks),
      path: new URL(request.url ?? '', 'http://x').pathname,
    })
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { received, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks` }
}

test('event tail prints each event once as it arrives, in order, and ends at Ctrl+C', async () => {
  await view('/before')
  const tail = await start(['event', 'tail', '--json'])
  const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
  await view('/one')
  await view('/two')
  const other = await createTestTenant(service)
  await other.track({ visitor_id: 'x', events: [{ event: 'theirs' }] })
  await view('/three')
  await until(() => expect(linesOf(tail).at(-1)?.url).toContain('/three'))
  const shown = linesOf(tail)
  const paths = shown.filter(({ event }) => event === 'page_view').map(({ url }) => new URL(url).pathname)
  expect(paths).toEqual(['/one', '/two', '/three'])
  expect(shown.find(({ event }) => event === 'contact_created')).toMatchObject({ internal_contact_id: contactId })
  expect(shown.some(({ event }) => event === 'theirs')).toBe(false)
  expect(shown.at(-1)).toMatchObject({ contact: { email: 'ada@example.com' } })
  expect(await tail.end('SIGINT')).toBe(0)
})

test('event tail prints lines for people, of the named events only', async () => {
  const tail = await startHere('event tail', { event: ['signed_up', 'contact_created'] })
  await tenant.contact('grace@example.com')
  await tenant.track({ visitor_id: 'v', events: [{ event: 'other' }, { event: 'signed_up' }] })
  await until(() => expect(tail.output()).toContain('signed_up'))
  const [, ...lines] = tail.output().trim().split('\n')
  expect(lines).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z {2}contact_created {2}grace@example\.com$/),
    expect.stringMatching(/Z {2}signed_up {2}v$/),
  ])
})

test('an event that arrives late is shown, and one from the past of an import is not', async () => {
  const tail = await startHere('event tail', { json: true })
  const ago = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()
  const events = [
    { event: 'two_days_ago', timestamp: ago(48) },
    { event: 'an_hour_ago', timestamp: ago(1) },
    { event: 'now' },
  ]
  await tenant.track({ visitor_id: 'v', events })
  await until(() => expect(linesOf(tail)).toHaveLength(2))
  expect(
    linesOf(tail)
      .map(({ event }) => event)
      .toSorted(),
  ).toEqual(['an_hour_ago', 'now'])
})

test('what happens while the service is away follows when it is back, once', async () => {
  const front = await startFailingFront(service)
  const names = ['--event', 'page_view', '--event', 'signed_up']
  const tail = await start(['event', 'tail', '--json', ...names], { url: front.url })
  front.failures = Array(1_000).fill('lost request')
  await until(() => expect(tail.output()).toContain('Trying again'))
  for (const path of ['/1', '/2', '/3']) await view(path)
  front.failures = []
  await until(() => expect(linesOf(tail)).toHaveLength(3))
  expect(linesOf(tail).map(({ url }) => new URL(url).pathname)).toEqual(['/1', '/2', '/3'])
  expect(await tail.end('SIGTERM')).toBe(0)
})

test('listen sends events as signed webhooks to a private address, and prints the responses', async () => {
  const receiver = await startReceiver(202)
  const values = { 'forward-to': receiver.url, events: 'page_view, contact_created', json: true }
  const listen = await startHere('listen', values)
  const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'v' })
  await view('/pricing')
  await tenant.track({ visitor_id: 'v', events: [{ event: 'other' }] })
  await until(() => expect(receiver.received).toHaveLength(2))
  const [{ signing_secret: secret }] = linesOf(listen)
  const payloads = await Promise.all(receiver.received.map((each) => verifyWebhook({ ...each, secret })))
  const [, viewed] = payloads
  expect(payloads.map(({ event }) => event)).toEqual(['contact_created', 'page_view'])
  expect(viewed).toMatchObject({
    tenant_id: tenant.id,
    data: { title: '/pricing', path: '/pricing', visitorId: 'v', internal_contact_id: contactId },
  })
  expect(receiver.received[1]).toMatchObject({
    path: '/hooks',
    headers: {
      'content-type': 'application/json',
      'x-service-event': 'page_view',
      'x-service-subscription': viewed?.subscription_id,
      'webhook-id': viewed?.event_id,
    },
  })
  await until(() => expect(linesOf(listen)).toHaveLength(3))
  expect(linesOf(listen)[2]).toEqual({ event: 'page_view', event_id: viewed?.event_id, status: 202 })
})

test('listen signs with a secret of the caller, and goes on when the program does not respond', async () => {
  const receiver = await startReceiver()
  const secret = `whsec_${Buffer.from('a secret of the developer').toString('base64')}`
  const listen = await startHere('listen', { 'forward-to': receiver.url, secret })
  expect(listen.output()).toContain(secret)
  await view('/one')
  await until(() => expect(listen.output()).toMatch(/\/one {2}→ 200/))
  const [first] = receiver.received
  expect(await verifyWebhook({ body: '', headers: {}, ...first, secret })).toMatchObject({ event: 'page_view' })
  receiver.server.closeAllConnections()
  receiver.server.close()
  await view('/two')
  await until(() => expect(listen.output()).toMatch(/\/two {2}→ ECONNREFUSED/))
})

test('Ctrl+C ends a command with 0, whatever it is waiting for', async () => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
  const endOf = async (command: RunningCommand, waits: Promise<unknown>) => {
    onTestFinished(() => void command.process.kill('SIGKILL'))
    await waits
    command.process.kill('SIGINT')
    const { exit, stderr } = await command.ended
    expect([exit, stderr.replace(/^Waiting for events.*\n|^cdsctl: .* Trying again until .*\n/gm, '')]).toEqual([0, ''])
  }
  const environment = { CDS_URL: service.url, CDS_KEY: tenant.key, DATABASE_URL: 'nonsense' }
  const tail = ['event', 'tail']
  // The first response of the service.
  const atSilent = startCommand(tail, { ...environment, CDS_URL: silentUrl })
  await endOf(atSilent, once(silent, 'request'))
  // The program that gets the events.
  const listen = startCommand(['listen', '--forward-to', silentUrl], environment)
  const forwarded = once(silent, 'request')
  await once(listen.process.stdout as NodeJS.ReadableStream, 'data')
  await view('/one')
  await endOf(listen, forwarded)
  // A service that is away.
  const front = await startFailingFront(service)
  const atFront = startCommand(tail, { ...environment, CDS_URL: front.url })
  const printed = atFront.process.stderr as NodeJS.ReadableStream
  await once(printed, 'data')
  front.failures = Array(1_000).fill('lost request')
  await endOf(atFront, once(printed, 'data'))
})

test('a command that cannot follow says what to do', async () => {
  expect(await refusal({}, { key: '' })).toContain('Set CDS_KEY to an API key')
  expect(await refusal({}, { key: 'cds_wrong' })).toContain('invalid_api_key')
  expect(await refusal({}, { key: await tenant.keyWith('contacts:read') })).toContain('insufficient_scope')
  await expect(start(['event', 'tail'], { url: 'nonsense' })).rejects.toThrow(
    /ended with 2:\n.*requires a URL as CDS_URL/,
  )
  const check = (values: Values) => FOLLOWING_COMMANDS.listen?.check?.(values)
  expect(check({ 'forward-to': 'localhost' })).toContain('requires a URL as --forward-to')
  expect(check({ 'forward-to': 'http://x', events: 'a,,b' })).toContain('without a name')
  expect(check({ 'forward-to': 'http://x', secret: 'short' })).toContain('requires a --secret')
})
