import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Cookie, Page } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { addVerifiedDomain } from '../../server/src/access/domains-of-tenant.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../server/test/service.ts'
import { lendTab, openTab, returnTab, type TabOptions } from './tabs.ts'

const WAIT_MS_MAX = 180_000

/** A request that a page sent to the tracker host. */
export interface Sent {
  path: string
  origin: string
  headers: IncomingMessage['headers']
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies of every shape
  body: any
  status: number
}

// biome-ignore lint/suspicious/noExplicitAny: as above
type Event = any

export interface Options extends TabOptions {
  /** Attributes of the script tag. */
  tag?: string
  /** HTML before the script tag. */
  head?: string
  body?: string
  path?: string
  /** A visitor without a cookie is recovered by the fingerprint, as by default. It costs another request. */
  recovers?: boolean
  /** Do not wait for the page view. */
  quiet?: boolean
  /** A tab that is open already. */
  page?: Page
}

/** Numbers the hosts, so that files that share a service and a window use different ones. */
let hosts = 0

/** The worker's browser and service, with a proxy between them that records requests and can fail them. */
export class Site {
  service!: TestService
  readonly sent: Sent[] = []
  /** Chooses a status to respond with instead of calling the service; 0 closes the connection. */
  fail: ((sent: Sent) => number | undefined) | null = null
  /** Delays the service's responses to POST requests until this resolves; the service still processes them. */
  responseGate: Promise<unknown> | null = null
  pages: Record<string, string> = {}
  files: Record<string, [type: string, bytes: Buffer]> = {}
  /** More headers of pages, by path. */
  headers: Record<string, Record<string, string>> = {}
  #front!: Server
  #pages!: Server
  #witness: { url: string; page: Page } | undefined
  /** Called after each change of `sent`. */
  readonly #waiting = new Set<() => void>()

  async start(): Promise<void> {
    this.service = await sharedService()
    this.#front = await listen((request, response) => this.#forward(request, response))
    this.#pages = await listen((request, response) => this.servePage(request, response))
  }

  async stop(): Promise<void> {
    if (this.#witness) await returnTab(this.#witness.page)
    for (const server of [this.#front, this.#pages]) {
      server?.closeAllConnections()
      server?.close()
    }
  }

  /** The tracker host on another site than the pages. */
  get tracker(): string {
    return `http://127.0.0.1:${portOf(this.#front)}`
  }

  /** The tracker host on a subdomain of the page's site. */
  trackerBeside(url: string): string {
    return `http://tracker.${new URL(url).hostname}:${portOf(this.#front)}`
  }

  /** Creates a tenant with its own host, because one device is one visitor within a tenant. */
  async host(): Promise<{ tenant: TestTenant; url: string }> {
    const tenant = await createTestTenant(this.service)
    const host = `site${++hosts}.shops.localhost`
    await addVerifiedDomain(tenant.handle, host, new Date())
    return { tenant, url: `http://${host}:${portOf(this.#pages)}` }
  }

  html({ tag = '', head = '', body = '', recovers = false }: Options): string {
    // Of two attributes with one name, the first counts.
    const options = recovers ? tag : `${tag} data-fingerprint="off"`
    return `<!doctype html><title>Shop</title><link rel="icon" href="data:,">
      <script>window.service=window.service||[]</script>${head}
      <script async src="${this.tracker}/tracker.js" ${options}></script><h1>Shop</h1>${body}`
  }

  /** Opens a page and waits for its page view. */
  async open(url: string, options: Options = {}): Promise<Page> {
    const page = options.page ?? (await openTab(options))
    const { pathname, origin } = new URL(options.path ?? '/', url)
    this.pages[origin + pathname] = this.html(options)
    const views = this.names(url, 'page_view').length
    await page.goto(new URL(options.path ?? '/', url).href)
    if (!options.quiet) await this.arrived(url, 'page_view', views + 1)
    return page
  }

  /** Waits until a condition on what was sent is met. */
  until(isMet: () => boolean, what = String(isMet)): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timeout)
        this.#waiting.delete(check)
      }
      const check = () => {
        if (!isMet()) return
        end()
        resolve()
      }
      const timeout = setTimeout(() => {
        end()
        const last = this.sent.slice(-20).map(({ origin, path, status, body }) => ({ origin, path, status, body }))
        reject(new Error(`not within ${WAIT_MS_MAX} ms: ${what}; sent: ${JSON.stringify(last).slice(0, 5_000)}`))
      }, WAIT_MS_MAX)
      this.#waiting.add(check)
      check()
    })
  }

  /** All requests that a host's pages have sent so far. */
  requests(url: string, path = '/track'): Sent[] {
    return this.sent.filter((sent) => sent.origin === new URL(url).origin && sent.path === path)
  }

  /** The bodies of a host's identifications. */
  identifications(url: string): Sent['body'][] {
    return this.requests(url).flatMap(({ body }) => (body.identify ? [body] : []))
  }

  /** The accepted events of a host, in order of arrival. */
  events(url: string, name?: string): Event[] {
    const accepted = this.requests(url).filter(({ status }) => status === 200)
    const events = accepted.flatMap(({ body }) => body.events)
    return name ? events.filter(({ event }) => event === name) : events
  }

  names(url: string, name?: string): string[] {
    return this.events(url, name).map(({ event }) => event)
  }

  async arrived(url: string, name: string, count = 1): Promise<Event[]> {
    await this.until(() => this.names(url, name).length >= count, `${count} × ${name} of ${url}`)
    return this.events(url, name)
  }

  /**
   * Sends a last event and waits until the page has the response to it, so that all captured events have arrived and none is
   * under way. @returns the other events.
   */
  async drained(url: string, page: Page): Promise<Event[]> {
    const count = this.names(url, 'end').length + 1
    const responded = page.waitForEvent('requestfinished', (request) => /"event":"end"/.test(request.postData() ?? ''))
    await page.evaluate(() => (window as unknown as { service: { track(name: string): void } }).service.track('end'))
    await Promise.all([this.arrived(url, 'end', count), responded])
    return this.events(url).filter(({ event }) => event !== 'end')
  }

  /** Waits until another page's event has arrived, so that whatever was sent before has arrived too. */
  async settled(): Promise<void> {
    if (!this.#witness) {
      const { url } = await this.host()
      const page = await lendTab()
      this.#witness = { url, page }
      await this.open(url, { page })
    }
    const { url, page } = this.#witness
    await this.drained(url, page)
  }

  servePage(request: IncomingMessage, response: ServerResponse, scheme = 'http'): void {
    const path = request.url?.split('?')[0] ?? '/'
    const file = this.files[path]
    if (file) {
      const [, from] = /bytes=(\d+)/.exec(request.headers.range ?? '') ?? []
      const bytes = file[1].subarray(Number(from ?? 0))
      const range = `bytes ${from ?? 0}-${file[1].length - 1}/${file[1].length}`
      response.writeHead(from === undefined ? 200 : 206, {
        'content-type': file[0],
        'accept-ranges': 'bytes',
        ...(from === undefined ? {} : { 'content-range': range }),
      })
      response.end(bytes)
      return
    }
    const html = this.pages[`${scheme}://${request.headers.host}${path}`] ?? '<title>Elsewhere</title>'
    response.writeHead(200, { 'content-type': 'text/html', ...this.headers[path] })
    response.end(html)
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const { origin = '', cookie, referer } = request.headers
    const sent: Sent = { path: request.url ?? '', origin, headers: request.headers, body: parsed(text), status: 0 }
    const setStatus = (status: number) => {
      sent.status = status
      for (const check of this.#waiting) check()
    }
    if (request.method === 'POST') this.sent.push(sent)
    setStatus(0)
    const failure = request.method === 'POST' ? this.fail?.(sent) : undefined
    if (failure !== undefined) {
      setStatus(failure)
      if (failure === 0) response.destroy()
      else
        response
          .writeHead(failure, { 'access-control-allow-origin': origin, 'access-control-allow-credentials': 'true' })
          .end()
      return
    }
    const received = await fetch(this.service.url + request.url, {
      method: request.method ?? 'GET',
      headers: {
        'user-agent': request.headers['user-agent'] ?? '',
        ...(origin ? { origin } : {}),
        ...(cookie ? { cookie } : {}),
        ...(referer ? { referer } : {}),
        ...(text ? { 'content-type': request.headers['content-type'] ?? '' } : {}),
      },
      ...(text ? { body: text } : {}),
    })
    setStatus(received.status)
    if (request.method === 'POST') await this.responseGate
    const kept = [...received.headers].filter(([name]) => /^(access|cache|content-type|set-cookie|vary)/.test(name))
    response.writeHead(received.status, Object.fromEntries(kept)).end(Buffer.from(await received.arrayBuffer()))
  }
}

/** A site for the tests of a file. */
export function useSite(): Site {
  const site = new Site()
  beforeAll(() => site.start())
  afterAll(() => site.stop())
  return site
}

/** What a page writes to its console from now on, and its uncaught errors. */
export function consoleOf(page: Page): string[] {
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  page.on('pageerror', (error) => said.push(error.message))
  return said
}

/** The cookies of the page's site, by name, with those that servers elsewhere have set. */
export async function cookiesOf(page: Page): Promise<Record<string, Cookie>> {
  const [site] = /site\d+\.shops\.localhost/.exec(page.url()) ?? []
  const all = await page.context().cookies()
  const own = all.filter(({ domain }) => !domain.endsWith('.shops.localhost') || (site && domain.endsWith(site)))
  return Object.fromEntries(own.map((cookie) => [cookie.name, cookie]))
}

/** The data of events, by their names. */
export function dataOf(events: Event[]): Record<string, Event['data']> {
  return Object.fromEntries(events.map(({ event, data }) => [event, data]))
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function listen(handler: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<Server> {
  const server = createServer(async (request, response) => {
    try {
      await handler(request, response)
    } catch (error) {
      // A closing browser aborts the requests of its pages; nobody waits for the response.
      if (!request.socket.destroyed) throw error
    }
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port
}
