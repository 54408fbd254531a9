import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../test/dns-server.ts'
import { createConnector } from './connect.ts'

let dns: DnsServer
let server: Server
let port: number
const sockets: Socket[] = []

beforeAll(async () => {
  dns = await startDnsServer()
  server = createServer((socket) => sockets.push(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  for (const socket of sockets) socket.destroy()
  server.close()
  dns.close()
})

const connector = (allowPrivate: boolean) => createConnector({ allowPrivate, resolve: dns.resolve })

test('a name is resolved for each connection, which uses the resolved address', async () => {
  dns.zone.set('mail.example.com', ['127.0.0.1'])
  for (const count of [1, 2]) {
    const socket = await connector(true).connect('mail.example.com', port)
    expect(socket.remoteAddress).toBe('127.0.0.1')
    expect(dns.queries.get('mail.example.com')).toBe(count)
    socket.destroy()
  }
})

test('no connection is made to a name with any private address, even if it only changes to one later', async () => {
  const before = sockets.length
  dns.zone.set('inside.example.com', ['127.0.0.1'])
  dns.zone.set('mixed.example.com', ['93.184.215.14', '127.0.0.1'])
  for (const host of ['inside.example.com', 'mixed.example.com']) {
    await expect(connector(false).connect(host, port)).rejects.toMatchObject({ code: 'url_not_allowed' })
  }
  let asked = 0
  dns.zone.set('rebinding.example.com', () => (++asked === 1 ? ['93.184.215.14'] : ['127.0.0.1']))
  await dns.resolve('rebinding.example.com')
  await expect(connector(false).connect('rebinding.example.com', port)).rejects.toMatchObject({
    code: 'url_not_allowed',
  })
  expect(sockets.length).toBe(before)
})

test.each([
  '127.0.0.1',
  '::1',
  '::ffff:127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  'localhost',
  'db',
  'x.internal',
  'x.local.',
])('%s is rejected before any DNS query', (host) => {
  expect(() => connector(false).guard(host)).toThrow(expect.objectContaining({ code: 'url_not_allowed' }))
})

test.each([
  '',
  'a b',
  'a\r\nb',
  'https://example.com',
  'example.com/x',
  'u@example.com',
  '[::1]',
  '0x7f.1',
  '127.1',
  '1',
  `${'a.'.repeat(130)}com`,
])('%j is not a host, even if private addresses are allowed', (host) => {
  expect(() => connector(true).guard(host)).toThrow(expect.objectContaining({ code: 'url_not_allowed' }))
})

test('a name without an address and a port without a listener give different errors', async () => {
  await expect(connector(true).connect('nowhere.example.com', port)).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(connector(true).connect('127.0.0.1', 1)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
