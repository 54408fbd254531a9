import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createApiFetch } from './api-fetch.ts'
import { RefusedAddress } from './urls.ts'

let server: Server
let url: string
const paths: string[] = []

beforeAll(async () => {
  server = createServer((request, response) => {
    paths.push(request.url ?? '')
    if (request.url === '/away') response.writeHead(302, { location: '/landed' }).end()
    else if (request.url === '/long') response.end(Buffer.alloc(5 * 1024 * 1024))
    else response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close())

const POST = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }

test.each([
  ['plain HTTP', { allowPrivate: true }, 'http://llm.example/v1'],
  ['a private address', { allowPrivate: false, allowHttp: true }, 'http://127.0.0.1:9/v1'],
  ['a local name', { allowPrivate: false }, 'https://localhost/v1'],
  ['the metadata service', { allowPrivate: false }, 'https://169.254.169.254/latest'],
  ['a password in the address', { allowPrivate: true }, 'https://user:secret@llm.example/v1'],
])('%s is rejected when it is set and when it is called', async (_what, rules, address) => {
  const api = createApiFetch(rules)
  await expect(api.check(address)).rejects.toBeInstanceOf(RefusedAddress)
  await expect(api.fetch(address, POST)).rejects.toBeInstanceOf(RefusedAddress)
  await api.close()
})

test('a name that resolves to a private address is rejected, whatever it resolved to before', async () => {
  const addresses = ['93.184.215.14', '127.0.0.1']
  const resolve = async () => [{ address: addresses.shift() ?? '127.0.0.1', family: 4 }]
  const api = createApiFetch({ allowPrivate: false, resolve })
  await api.check('https://llm.example/v1')
  await expect(api.fetch('https://llm.example/v1', POST)).rejects.toThrow()
  expect(addresses).toEqual([])
  await api.close()
})

test('responses are read whole, redirects are returned, and responses that are too long fail', async () => {
  const api = createApiFetch({ allowPrivate: true, allowHttp: true })
  const response = await api.fetch(`${url}/v1`, POST)
  expect([response.status, await response.json()]).toEqual([200, { ok: true }])
  expect((await api.fetch(`${url}/away`, POST)).status).toBe(302)
  expect(paths).not.toContain('/landed')
  await expect(api.fetch(`${url}/long`, POST)).rejects.toThrow('fetch failed')
  const ended = AbortSignal.abort(new Error('enough'))
  await expect(api.fetch(`${url}/v1`, { ...POST, signal: ended })).rejects.toThrow('enough')
  await api.close()
})
