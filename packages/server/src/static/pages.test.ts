import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { call, type TestResponse } from '../../test/service.ts'
import type { App } from '../platform/http/app-types.ts'
import { applyConventions } from '../platform/http/conventions.ts'
import { servePages } from './pages.ts'

let directory: string
let app: App
let service: { url: string }

const INDEX = '<!doctype html><meta property="csp-nonce" nonce=""><style nonce=""></style><div id="root"></div>'
const SCRIPT = 'export const number = 42'

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'cds-pages-'))
  await mkdir(join(directory, 'assets'))
  app = Fastify({ exposeHeadRoutes: true }) as unknown as App
  applyConventions(app)
  await servePages(app, directory)
  service = { url: await app.listen({ port: 0, host: '127.0.0.1' }) }
})
afterAll(async () => {
  await app.close()
  await rm(directory, { recursive: true, force: true })
})

const open = (
  path: string,
  headers: Record<string, string> = { accept: 'text/html,*/*;q=0.8' },
): Promise<TestResponse> => call(service, 'GET', path, { headers })

async function built(): Promise<void> {
  await writeFile(join(directory, 'index.html'), INDEX)
  await writeFile(join(directory, 'favicon.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await writeFile(join(directory, '.built-from'), 'secret of the build')
  await writeFile(join(directory, 'assets', 'main-1a2b.js'), SCRIPT)
  await writeFile(join(directory, 'assets', 'main-1a2b.js.br'), brotliCompressSync(SCRIPT))
}

test('before the first build, the page says how to build, and the API works', async () => {
  const { status, body, headers } = await open('/')
  expect([status, headers.get('retry-after')]).toEqual([503, '10'])
  expect(body).toContain('ensure-built.ts')
  expect((await open('/v1/nothing')).body.error.code).toBe('route_not_found')
})

test('every path of a page returns index.html with a new nonce', async () => {
  await built()
  const nonces = new Set<string>()
  for (const path of ['/', '/contacts', '/contacts/019a2b3c?tab=notes', '/settings/team', '/apis', '/x.png']) {
    const { status, headers, body } = await open(path)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
    const policy = headers.get('content-security-policy') ?? ''
    const [, nonce = ''] = /style-src 'self' 'nonce-([^']{20,})'/.exec(policy) ?? []
    expect(body).toBe(INDEX.replaceAll('nonce=""', `nonce="${nonce}"`))
    nonces.add(nonce)
    expect(headers.get('cache-control')).toBe('no-cache')
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    for (const part of ["default-src 'self'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"]) {
      expect(policy.split('; ')).toContain(part)
    }
  }
  expect(nonces.size).toBe(6)
})

test('requests of programs never get a page', async () => {
  await built()
  for (const path of [
    '/v1',
    '/v1/nothing',
    '/api/nothing',
    '/assets/none.js',
    '/docs/x',
    '/openapi.json',
    '/track/x',
  ]) {
    const { status, body } = await open(path)
    expect([path, status, body.error?.code]).toEqual([path, 404, 'route_not_found'])
  }
  const json = await open('/contacts', { accept: 'application/json' })
  expect([json.status, json.body.error.code]).toEqual([404, 'route_not_found'])
  for (const method of ['POST', 'PUT', 'DELETE']) {
    expect((await call(service, method, '/contacts', { headers: { accept: 'text/html' } })).status).toBe(404)
  }
})

test('built files are served compressed and cached forever; others are revalidated', async () => {
  await built()
  const compressed = await open('/assets/main-1a2b.js', { 'accept-encoding': 'br' })
  expect(compressed.headers.get('content-encoding')).toBe('br')
  expect(compressed.headers.get('content-type')).toMatch(/javascript/)
  expect(compressed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(compressed.body).toBe(SCRIPT)
  const plain = await open('/assets/main-1a2b.js', { 'accept-encoding': 'identity' })
  expect([plain.headers.get('content-encoding'), plain.body]).toEqual([null, SCRIPT])
  const icon = await open('/favicon.svg', { accept: 'image/*' })
  expect([icon.status, icon.headers.get('cache-control')]).toEqual([200, 'no-cache'])
  expect(icon.headers.get('content-type')).toMatch(/^image\/svg/)
  expect(icon.headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
  const head = await call(service, 'HEAD', '/', { headers: { accept: 'text/html' } })
  expect([head.status, head.body]).toEqual([200, ''])
  const etag = icon.headers.get('etag') ?? ''
  expect((await raw('/favicon.svg', { 'if-none-match': etag })).status).toBe(304)
})

test.each([
  ['/assets/../index.html'],
  ['/assets/..%2findex.html'],
  ['/assets/%2e%2e%2f%2e%2e%2fpackage.json'],
  ['/assets/..%5c..%5cpackage.json'],
  ['/assets/.built-from'],
  ['/assets/%00'],
  ['/assets/'],
  ['/assets//main-1a2b.js'],
  ['/.built-from'],
  ['/%2e%2e/package.json'],
  ['/..%2fpackage.json'],
])('%s leads to no file outside the pages', async (path) => {
  await built()
  const { status, text } = await raw(path)
  expect([400, 404]).toContain(status)
  expect(text).not.toMatch(/secret of the build|"name"/)
})

/** Not fetch, which would resolve dots in a path and add no-cache headers. */
function raw(path: string, headers: Record<string, string> = {}): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(service.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers: { accept: 'application/json', ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    sent.on('error', reject).end()
  })
}
