import { connect, type Socket } from 'node:net'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { sendCsv } from '../src/platform/http/csv.ts'
import { boundUnreadResponses } from '../src/platform/http/unread-responses.ts'
import { openTenant } from '../src/platform/tenant.ts'
import { createTestTenant, startTestService, type TestService, type TestTenant } from './service.ts'
import { until } from './webhooks.ts'

/** More than the buffers of a connection on this machine. */
const LARGE_BYTES = 8_000_000

/** Long enough for a process that a busy machine does not run for a while. */
const STALLED_SECONDS = 3

let service: TestService
let tenant: TestTenant
let listed: number

beforeAll(async () => {
  service = await startTestService({ CDS_UNREAD_RESPONSE_SECONDS: String(STALLED_SECONDS) })
  tenant = await createTestTenant(service)
  const properties = Object.fromEntries(Array.from({ length: 2 }, (_, index) => [`p${index}`, 'x'.repeat(55_000)]))
  for (let index = 0; index < 80; index += 8) {
    const records = Array.from({ length: 8 }, (_, at) => ({ external_id: `big${index + at}`, properties }))
    const { body } = await tenant.call('POST', '/v1/sources/big/contacts', { records })
    expect(body.failed).toBe(0)
  }
  listed = 0
  service.app.server.on('request', () => listed++)
})
afterAll(() => service.close())

function open(url: string, requests: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.pause()
  socket.write(requests)
  onTestFinished(() => void socket.destroy())
  return socket
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.key}\r\n\r\n`

const connections = (app: { server: TestService['app']['server'] }) =>
  new Promise<number>((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

test('clients that never read a large list are closed', async () => {
  const before = await connections(service.app)
  for (let client = 0; client < 4; client++) open(service.url, ask('/v1/contacts?limit=100'))
  await until(() => expect(listed).toBe(4))
  await until(async () => expect(await connections(service.app)).toBeLessThanOrEqual(before))
})

test('so are those that send an Expect header', async () => {
  const before = await connections(service.app)
  let expecting = 0
  service.app.server.on('checkExpectation', () => expecting++)
  const request = ask('/v1/contacts?limit=100').replace('\r\n\r\n', '\r\nExpect: something\r\n\r\n')
  for (let client = 0; client < 3; client++) open(service.url, request)
  await until(() => expect(expecting).toBe(3))
  await until(async () => expect(await connections(service.app)).toBeLessThanOrEqual(before))
})

test('a client that reads slowly gets everything', async () => {
  const socket = open(service.url, ask('/v1/contacts?limit=100'))
  let received = 0
  const startedAt = performance.now()
  while (received < LARGE_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, 40))
    received += (socket.read(Math.min(100_000, socket.readableLength)) as Buffer | null)?.length ?? 0
    if (socket.destroyed) break
  }
  expect(received).toBeGreaterThanOrEqual(LARGE_BYTES)
  // For longer than a client may stall, so its progress must have counted.
  expect(performance.now() - startedAt).toBeGreaterThan(STALLED_SECONDS * 1_000)
})

/** A server with one route, to observe what a client makes it do. */
async function startServer(handle: () => Promise<unknown> | unknown) {
  const app = Fastify()
  boundUnreadResponses(app, 1)
  app.get('/', handle)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  return { app, url }
}

test('of the requests that a client sends at once and never reads, only one starts', async () => {
  let started = 0
  const { app, url } = await startServer(() => {
    started++
    return 'x'.repeat(LARGE_BYTES)
  })
  open(url, ask('/').repeat(50))
  await until(() => expect(started).toBeGreaterThan(0))
  await until(async () => expect(await connections(app)).toBe(0))
  expect(started).toBe(1)
})

test('a client that keeps sending and never reads is closed', async () => {
  const { app, url } = await startServer(() => 'x'.repeat(LARGE_BYTES))
  const socket = open(url, ask('/'))
  // Line breaks before a request do not belong to it: the client may send them forever.
  const sending = setInterval(() => socket.write('\r\n'), 20)
  onTestFinished(() => clearInterval(sending))
  await until(async () => expect(await connections(app)).toBe(1))
  await until(async () => expect(await connections(app)).toBe(0))
})

test('pipelined requests all get their responses in order', async () => {
  let started = 0
  const { url } = await startServer(async () => `response ${++started};`)
  const socket = open(url, ask('/').repeat(100))
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.resume()
  const responses = Array.from({ length: 100 }, (_, index) => `response ${index + 1};`)
  await until(() => expect(text.match(/response \d+;/g)).toEqual(responses))
})

test('a client that pipelines too many requests is closed', async () => {
  const { url } = await startServer(() => new Promise((resolve) => setTimeout(resolve, 200, 'late')))
  const socket = open(url, ask('/').repeat(200))
  socket.resume()
  await until(() => expect(socket.destroyed).toBe(true))
})

test('a download that nobody reads stops reading from the database, and ends', async () => {
  let [pages, isEnded] = [0, false]
  async function* endless() {
    try {
      for (;;) {
        pages++
        yield Array<string>(1_000).fill('x'.repeat(1_000))
      }
    } finally {
      isEnded = true
    }
  }
  const app = Fastify()
  boundUnreadResponses(app, 1)
  app.get('/', (_request, reply) =>
    sendCsv(openTenant(service.stores, tenant.id), reply, {
      name: 'x',
      columns: ['a'],
      pages: endless(),
      cellsOf: (row: string) => [row],
      beforeSending: async () => {},
    }),
  )
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  onTestFinished(() => app.close())
  open(url, ask('/'))
  await until(() => expect(isEnded).toBe(true))
  expect(pages).toBeLessThan(30)
})
