import { readdir } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDirectory } from '../../../test/process.ts'
import { makeCertificate } from '../../../test/receiver.ts'
import type { Download } from './download.ts'
import { createJsonApi, type JsonApi } from './json-api.ts'

const TEXT = Array.from({ length: 50_000 }, (_, index) => `{"line":${index}}\n`).join('')
const MIB = 1024 ** 2

const { key, certificate } = makeCertificate()
const server = createServer({ key, cert: certificate }, (request, response) => {
  if (request.url === '/plain') response.end(TEXT)
  else if (request.url === '/gzip') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT))
  else if (request.url === '/damaged') {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT).subarray(0, 5_000))
  } else if (request.url === '/redirect') response.writeHead(302, { location: '/plain' }).end()
  else if (request.url === '/cut') {
    response.writeHead(200, { 'content-length': String(TEXT.length) }).write(TEXT.slice(0, 1_000), () => {
      response.destroy()
    })
  } else if (request.url === '/ids')
    response.end('{"id":1234567890123456781,"ids":[1.234567890123456781e18,12345678901234567.1],"price":0.1,"count":3}')
  else response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":"Nothing is here."}')
})
let directory: string
let api: JsonApi
let base: string

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  base = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  directory = await openDirectory()
  api = createJsonApi({ allowPrivate: true, ca: certificate, temporaryDirectory: directory })
})
afterAll(async () => {
  await api?.close()
  server.closeAllConnections()
  server.close()
})

const get = (path: string, bytesMax = 10 * MIB) =>
  api.download({ method: 'GET', url: base + path, headers: {} }, bytesMax)

async function textOf(file: Download | null): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of file?.read() ?? []) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test.each(['/plain', '/gzip'])('%s is stored without a name, and can be read again and again', async (path) => {
  const { status, file } = await get(path)
  expect(status).toBe(200)
  expect(await readdir(directory)).toEqual([])
  expect(await textOf(file)).toBe(TEXT)
  expect(await textOf(file)).toBe(TEXT)
  const again = await get(path)
  expect(again.file?.digest).toBe(file?.digest)
  await file?.close()
  await again.file?.close()
})

test('an error is read as JSON, and a redirect is not followed', async () => {
  expect(await get('/missing')).toMatchObject({ status: 404, file: null, body: { error: 'Nothing is here.' } })
  expect(await get('/redirect')).toMatchObject({ status: 302, file: null })
})

test('an id beyond 2^53 keeps its digits, so that two records of a system do not become one', async () => {
  const { body } = await api.call({ method: 'GET', url: `${base}/ids`, headers: {} })
  const ids = ['1.234567890123456781e18', '12345678901234567.1']
  expect(body).toEqual({ id: '1234567890123456781', ids, price: 0.1, count: 3 })
})

test('a longer response, one that is cut off and one that is damaged fail, and leave nothing behind', async () => {
  await expect(get('/plain', 100_000)).rejects.toMatchObject({ code: 'too_long' })
  await expect(get('/cut')).rejects.toMatchObject({ name: 'OutboundError' })
  const { file } = await get('/damaged')
  await expect(textOf(file)).rejects.toMatchObject({ code: 'corrupt' })
  await file?.close()
  expect(await readdir(directory)).toEqual([])
})

test('a private address is refused', async () => {
  const guarded = createJsonApi({ allowPrivate: false, resolve: async () => [{ address: '10.0.0.7', family: 4 }] })
  const call = { method: 'GET' as const, url: 'https://export.example.com/', headers: {} }
  await expect(guarded.download(call, MIB)).rejects.toMatchObject({ code: 'url_not_allowed' })
  await guarded.close()
})
