import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../../test/dns-server.ts'
import { type Certificate, makeCertificate, type Receiver, startReceiver } from '../../../test/receiver.ts'
import { refusalOf } from './addresses.ts'
import { createOutbound, type Outbound, type OutboundOptions } from './client.ts'
import { checkUrl } from './urls.ts'

let dns: DnsServer
let certificate: Certificate
let receiver: Receiver
const open: Outbound[] = []

beforeAll(async () => {
  dns = await startDnsServer()
  certificate = makeCertificate()
  receiver = await startReceiver(certificate)
})
afterEach(async () => {
  for (const outbound of open.splice(0)) await outbound.close()
  receiver.received.length = 0
  receiver.respond = (response) => response.end('ok')
  dns.queries.clear()
})
afterAll(async () => {
  await receiver.close()
  dns.close()
})

function client(options: Partial<OutboundOptions> = {}): Outbound {
  const outbound = createOutbound({
    allowPrivate: true,
    resolve: dns.resolve,
    ca: certificate.certificate,
    ...options,
  })
  open.push(outbound)
  return outbound
}

const post = (outbound: Outbound, url: string, body = '{}') => outbound.post(url, {}, Buffer.from(body))

describe('addresses', () => {
  test.each([
    ['private', ['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['link-local', ['169.254.1.1', 'fe80::1', 'febf::1', 'fec0::1']],
    ['multicast and broadcast', ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1']],
    ['CGNAT', ['100.64.0.1', '100.127.255.255']],
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:7f00:1', '::127.0.0.1', '::ffff:0:8.8.8.8']],
    ['NAT64', ['64:ff9b::7f00:1', '64:ff9b::808:808', '64:ff9b:1::1']],
    ['6to4', ['2002:7f00:1::', '192.88.99.1']],
    ['Teredo', ['2001::1', '2001:0:7f00:1::']],
    ['documentation', ['192.0.2.1', '198.51.100.7', '203.0.113.9', '2001:db8::1', '3fff::1']],
    ['benchmarking', ['198.18.0.1', '198.19.255.255', '2001:2::1']],
    ['class E', ['240.0.0.1', '254.1.2.3']],
    ['metadata', ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254']],
    ['others', ['192.0.0.1', '100::1', '4000::1', 'a000::1', '5f00::1', 'fe80::1%eth0', 'no address', '']],
  ])('%s addresses are rejected', (_, addresses) => {
    for (const address of addresses) expect(refusalOf(address), address).not.toBeNull()
  })

  test('ordinary public addresses are accepted', () => {
    for (const address of ['8.8.8.8', '93.184.215.14', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) {
      expect(refusalOf(address), address).toBeNull()
    }
  })
})

describe('URLs', () => {
  test.each([
    'http://hooks.example/',
    'ftp://hooks.example/',
    'hooks.example',
    '',
    'https://user:secret@hooks.example/',
    'https://hooks.example:22/',
    'https://hooks.example:80/',
    'https://hooks.example:6667/',
    `https://hooks.example/${'x'.repeat(2_100)}`,
  ])('%s is rejected, even if private addresses are allowed', (url) => {
    for (const allowPrivate of [true, false]) {
      expect(() => checkUrl(url, { allowPrivate })).toThrow(expect.objectContaining({ code: 'url_not_allowed' }))
    }
  })

  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://api.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://intranet/',
    'https://①②⑦.0.0.1/',
  ])('%s is a local address', (url) => {
    expect(() => checkUrl(url, { allowPrivate: false })).toThrow(expect.objectContaining({ code: 'url_not_allowed' }))
    expect(checkUrl(url, { allowPrivate: true })).toBeInstanceOf(URL)
  })

  test('the addresses of a name are checked too; a name without any is accepted until it is called', async () => {
    dns.zone.set('inside.example', ['10.0.0.1'])
    dns.zone.set('mixed.example', ['8.8.8.8', '127.0.0.1'])
    dns.zone.set('six.example', ['::1'])
    dns.zone.set('public.example', ['8.8.8.8'])
    const outbound = client({ allowPrivate: false })
    for (const name of ['inside', 'mixed', 'six']) {
      await expect(outbound.check(`https://${name}.example/`)).rejects.toMatchObject({ code: 'url_not_allowed' })
    }
    await outbound.check('https://public.example/')
    await outbound.check('https://nowhere.example/')
  })
})

describe('calls', () => {
  beforeAll(() => dns.zone.set('hooks.example', ['127.0.0.1']))

  test('a response has its status, body and address', async () => {
    receiver.respond = (response) => response.writeHead(418).end('teapot')
    const result = await post(client(), receiver.url('/a?b=c'), '{"x":"ä"}')
    expect(result).toMatchObject({ status: 418, address: '127.0.0.1' })
    expect(result.body.toString()).toBe('teapot')
    expect(receiver.received[0]).toMatchObject({ path: '/a?b=c', body: Buffer.from('{"x":"ä"}') })
  })

  test('no connection is made to a private address, named or literal', async () => {
    const outbound = client({ allowPrivate: false })
    const message = /not a public internet address/
    await expect(post(outbound, receiver.url())).rejects.toMatchObject({ code: 'url_not_allowed', message })
    await expect(post(outbound, receiver.url('/', '127.0.0.1'))).rejects.toMatchObject({ code: 'url_not_allowed' })
    expect(receiver.received).toEqual([])
  })

  test('a name that becomes private between check and connection is rejected at the connection', async () => {
    const responses = [['93.184.215.14'], ['127.0.0.1']]
    dns.zone.set('rebind.hooks.example', () => responses[0] ?? [])
    const outbound = client({ allowPrivate: false })
    await outbound.check(receiver.url('/', 'rebind.hooks.example'))
    responses.shift()
    await expect(post(outbound, receiver.url('/', 'rebind.hooks.example'))).rejects.toMatchObject({
      code: 'url_not_allowed',
    })
    expect(receiver.received).toEqual([])
  })

  test('the socket gets the checked address and makes no second look-up', async () => {
    let asked = 0
    dns.zone.set('flip.hooks.example', () => (asked++ < 2 ? ['127.0.0.1'] : ['10.0.0.1']))
    await post(client(), receiver.url('/', 'flip.hooks.example'))
    expect(dns.queries.get('flip.hooks.example')).toBe(1)
    expect(receiver.received).toHaveLength(1)
  })

  test('connections are reused, and a new one resolves the name again', async () => {
    const outbound = client()
    const connections = () => new Set(receiver.received.map(({ connection }) => connection)).size
    for (let n = 0; n < 10; n++) await post(outbound, receiver.url())
    expect([connections(), dns.queries.get('hooks.example')]).toEqual([1, 1])
    receiver.respond = (response) => response.writeHead(200, { connection: 'close' }).end()
    for (let n = 0; n < 4; n++) await post(outbound, receiver.url())
    expect([connections(), dns.queries.get('hooks.example')]).toEqual([4, 4])
  })

  test('a server gets one connection per concurrent request, and a failed one is not reused', async () => {
    const outbound = client()
    const url = receiver.url()
    const used = () => [...new Set(receiver.received.splice(0).map(({ connection }) => connection))].sort()
    const sendAtOnce = async (count: number) => {
      await Promise.all(
        Array.from({ length: count }, async () => {
          for (let n = 0; n < 20; n++) await post(outbound, url)
        }),
      )
      return used()
    }
    const first = await sendAtOnce(6)
    expect(first.length).toBeLessThanOrEqual(6)
    expect(new Set(first).isSupersetOf(new Set(await sendAtOnce(3)))).toBe(true)

    receiver.respond = (response) => response.socket?.destroy()
    await expect(post(outbound, url)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
    receiver.respond = (response) => void response.end('x'.repeat(40_000))
    expect(await post(outbound, url)).toMatchObject({ status: 200 })
    const broken = new Set(used())
    expect(broken.size).toBe(2)
    receiver.respond = (response) => response.end('ok')
    for (const connection of await sendAtOnce(6)) expect(broken.has(connection)).toBe(false)
  })

  test('a server that closes idle connections silently gets every request', async () => {
    const response = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
    const server = createServer({ key: certificate.key, cert: certificate.certificate }, (socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.write(response, () => socket.destroy()))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      const outbound = client()
      const { port } = server.address() as AddressInfo
      for (let n = 0; n < 50; n++) {
        expect(await post(outbound, `https://hooks.example:${port}/`)).toMatchObject({ status: 200 })
      }
    } finally {
      server.close()
    }
  })

  test('a call that is aborted while it waits opens no connection', async () => {
    const given = AbortSignal.abort(new Error('given up'))
    await post(client(), receiver.url())
    await expect(client().post(receiver.url(), {}, Buffer.from('{}'), given)).rejects.toThrow('given up')
    await post(client(), receiver.url())
    const [before, after] = receiver.received.map(({ connection }) => connection)
    expect(after).toBe((before ?? 0) + 1)
  })

  test('redirects are returned, not followed', async () => {
    receiver.respond = (response) => response.writeHead(307, { location: receiver.url('/elsewhere') }).end()
    expect(await post(client(), receiver.url())).toMatchObject({ status: 307 })
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook'])
  })

  test('proxies set in the environment are not used', async () => {
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY']
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:9'
    try {
      expect(await post(client(), receiver.url())).toMatchObject({ status: 200 })
    } finally {
      for (const name of names) delete process.env[name]
    }
  })

  test('the first 16 KB of a long body are kept, and the rest is not read', async () => {
    let written = 0
    receiver.respond = (response) => {
      const write = () => {
        if (response.destroyed || written > 50_000_000) return
        written += 65_536
        response.write('x'.repeat(65_536), write)
      }
      write()
    }
    const { status, body } = await post(client(), receiver.url())
    expect({ status, length: body.length }).toEqual({ status: 200, length: 16_384 })
    expect(written).toBeLessThan(5_000_000)
  })

  test.each([
    ['never ends', (response: ServerResponse) => response.write('taken')],
    ['is cut off', (response: ServerResponse) => response.write('taken', () => setImmediate(() => response.destroy()))],
    ['never begins', (response: ServerResponse) => response.flushHeaders()],
    ['is shorter than announced', (response: ServerResponse) => response.end('taken')],
  ])('a 2xx counts once its headers arrive, even if its body %s', async (how, write) => {
    receiver.respond = (response) => {
      response.writeHead(202, how === 'is shorter than announced' ? { 'content-length': '100' } : {})
      response.strictContentLength = false
      write(response)
    }
    const sender = client()
    const { status, body } = await post(sender, receiver.url())
    expect(status).toBe(202)
    if (how === 'never ends') expect(String(body)).toBe('taken')
    // Such a connection is not reused.
    receiver.respond = (response) => response.end('ok')
    expect(String((await post(sender, receiver.url())).body)).toBe('ok')
    expect(new Set(receiver.received.map(({ connection }) => connection)).size).toBe(2)
  })

  test('the ten seconds cover the whole response of a failure, however slowly it drips', async () => {
    let drips = 0
    receiver.respond = (response) => {
      response.writeHead(500)
      const drip = setInterval(() => response.write('.', () => drips++), 300)
      response.on('close', () => clearInterval(drip))
    }
    const startedAt = Date.now()
    await expect(post(client(), receiver.url())).rejects.toMatchObject({ code: 'timeout', address: '127.0.0.1' })
    expect(Date.now() - startedAt).toBeGreaterThan(9_500)
    // Counted in drips (11.5 seconds' worth), which stall like the call if this process is suspended.
    expect(drips).toBeLessThan(11_500 / 300)
  })

  test('names without an address, refused connections and unknown certificates are distinct errors', async () => {
    await expect(post(client(), receiver.url('/', 'gone.hooks.example'))).rejects.toMatchObject({ code: 'ENOTFOUND' })
    await expect(post(client(), 'https://hooks.example:65531/')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
      address: '127.0.0.1',
    })
    dns.zone.set('wrong.name', ['127.0.0.1'])
    await expect(post(client(), receiver.url('/', 'wrong.name'))).rejects.toMatchObject({
      code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    const outbound = createOutbound({ allowPrivate: true, resolve: dns.resolve })
    open.push(outbound)
    await expect(post(outbound, receiver.url())).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(receiver.received).toEqual([])
  })

  test('a resolver that never responds takes no longer than the call', async () => {
    const outbound = client({ resolve: () => new Promise(() => {}) })
    const signal = AbortSignal.timeout(200)
    await expect(outbound.post(receiver.url(), {}, Buffer.from('{}'), signal)).rejects.toThrow()
    await outbound.check(receiver.url())
  })
})
