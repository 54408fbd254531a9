import { beforeAll, expect, test } from 'vitest'
import type { SearchEntry } from '../src/docs/search-index.ts'
import { call, sharedService, type TestResponse, type TestService } from './service.ts'

let service: TestService
/** HTML by path. */
let pages: Map<string, string>
beforeAll(async () => {
  service = await sharedService()
  pages = await crawl('/docs')
})

const open = (path: string, headers: Record<string, string> = {}): Promise<TestResponse> =>
  call(service, 'GET', path, { headers: { accept: 'text/html', ...headers } })

const linksOf = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link)

/** Opens a page and every page that it leads to. */
async function crawl(start: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const waiting = [start]
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (found.has(path)) continue
    const { status, body, headers } = await open(path)
    expect([path, status, headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
    found.set(path, body)
    const paths = linksOf(body).map((link) => link.split('#')[0] ?? '')
    waiting.push(...paths.filter((link) => /^\/docs(\/[a-z0-9/-]+)?$/.test(link)))
  }
  return found
}

test('the navigation leads to every page', () => {
  const paths = [...pages.keys()]
  expect(paths.length).toBeGreaterThan(60)
  for (const path of ['/docs/concepts', '/docs/quickstart/node', '/docs/tracker', '/docs/cli', '/docs/decisions']) {
    expect(paths).toContain(path)
  }
})

test('no link or image is dead, and every anchor exists', async () => {
  const anchors = new Map(
    [...pages].map(([path, html]) => [path, [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)]),
  )
  const files = new Set<string>()
  for (const [from, html] of pages) {
    for (const link of linksOf(html)) {
      if (/^(https?|mailto):/.test(link)) continue
      const [path = '', anchor] = link.startsWith('#') ? [from, link.slice(1)] : link.split('#')
      const known = anchors.get(path)
      if (known === undefined) files.add(path)
      else if (anchor !== undefined && path !== '/docs/api') expect(known, `${from}: ${link}`).toContain(anchor)
    }
  }
  for (const file of files) {
    if (file !== '/' && file !== '/favicon.svg') expect([file, (await open(file)).status]).toEqual([file, 200])
  }
})

test('pages have a strict policy, and show HTML in a file as text', async () => {
  const { headers } = await open('/docs/tracker')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self';")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  for (const html of pages.values()) {
    expect(html).not.toMatch(/<script(?! src="\/docs\/assets\/[\w-]+\.js")|<style|\son[a-z]+=| style="/)
  }
})

test('a page is sent compressed, and not again while it is unchanged', async () => {
  const { headers } = await open('/docs', { 'accept-encoding': 'br' })
  expect([headers.get('content-encoding'), headers.get('cache-control')]).toEqual(['br', 'no-cache'])
  const response = await fetch(`${service.url}/docs`, {
    headers: { 'accept-encoding': 'br', 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' },
  })
  expect(response.status).toBe(304)
  const [asset = ''] = linksOf(pages.get('/docs') ?? '').filter((link) => link.startsWith('/docs/assets/'))
  expect((await open(asset)).headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test("the style of a page names the dashboard's fonts, which are served", async () => {
  const links = linksOf(pages.get('/docs') ?? '').filter((link) => link.endsWith('.css'))
  const styles = await Promise.all(links.map(async (link) => String((await open(link)).body)))
  const fonts = [...styles.join('').matchAll(/url\("([^"]+\.woff2)"\)/g)].map(([, name]) => name)
  expect(fonts).toHaveLength(2)
  for (const name of fonts) {
    const { status, headers } = await fetch(`${service.url}/docs/assets/${name}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'font/woff2'])
  }
})

test.each([
  ['/docs/', '/docs'],
  ['/docs/tracker/', '/docs/tracker'],
  ['/docs/tracker.md', '/docs/tracker'],
])('%s is redirected to %s', async (path, target) => {
  const response = await fetch(service.url + path, { redirect: 'manual' })
  expect([response.status, response.headers.get('location')]).toEqual([301, target])
})

test('an unknown page is a page for people and an error for programs', async () => {
  for (const path of ['/docs/nothing', '/docs/constructor']) {
    const { status, body } = await open(path)
    expect([path, status]).toEqual([path, 404])
    expect(String(body)).not.toContain('"workspaces"')
  }
  expect((await open('/docs/nothing')).body).toContain('Page not found')
  for (const path of [
    '/docs/nothing',
    '/docs/assets/nothing.js',
    '/docs/assets/viewer-x.js',
    '/docs/images/..%2fREADME.md',
  ]) {
    const { status, body } = await call(service, 'GET', path)
    expect([path, status, body.error?.code]).toEqual([path, 404, 'route_not_found'])
  }
  expect((await call(service, 'POST', '/docs/tracker', { body: '{}' })).status).toBe(405)
})

test('the search index has every page, its parts and every operation', async () => {
  const { body } = await call(service, 'GET', '/docs/search.json')
  const entries = body as SearchEntry[]
  const found = new Set(entries.map(({ url }) => url.split('#')[0]))
  for (const path of ['/docs', '/docs/quickstart/hubspot', '/docs/decisions/0001-journal'])
    expect(found).toContain(path)
  expect(entries).toContainEqual(
    expect.objectContaining({
      url: '/docs/webhooks#verifying-signatures',
      page: 'Webhooks',
      heading: 'Verifying signatures',
    }),
  )
  const operations = entries.filter(({ page }) => page === 'API reference').map(({ heading }) => heading)
  const { paths } = service.app.swagger() as { paths: Record<string, object> }
  expect(operations).toHaveLength(Object.values(paths).flatMap(Object.keys).length)
  expect(operations).toContain('POST /v1/contacts')
})
