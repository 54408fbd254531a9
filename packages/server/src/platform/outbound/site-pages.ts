import { Agent, buildConnector, type Dispatcher, request } from 'undici'
import { checkedLookup, createAddressFinder, type Resolve } from './resolve.ts'
import { checkUrl, hostOf } from './urls.ts'

const EXCHANGE_MS_MAX = 8_000
const REDIRECTS_MAX = 3
const REFUSED_BYTES_MAX = 16 * 1_024
const HTTPS_PORT = 443
const USER_AGENT = 'CustomerDataService/1 (domain verification)'

export interface SitePagesOptions {
  /** For development and tests: allows private and local addresses, and nothing else. */
  allowPrivate: boolean
  resolve?: Resolve
  /** Certificate authorities to trust instead of the default ones. */
  ca?: string
  /** For tests: where sites listen instead of 443. */
  sitePort?: number
}

/** Reads pages of a site that a user named. */
export interface SitePages {
  /**
   * GETs a page over HTTPS and returns the first `bytesMax` bytes of it as text. Follows at most three redirects, only
   * within the domain.
   * @returns null if there is no complete response within eight seconds, its status is not 200, or the address must not
   * be called.
   */
  read(domain: string, path: string, bytesMax: number): Promise<string | null>
  close(): Promise<void>
}

/** Opens the guarded client. No connection is kept. */
export function createSitePages({ allowPrivate, resolve, ca, sitePort }: SitePagesOptions): SitePages {
  const addresses = createAddressFinder({ allowPrivate, ...(resolve ? { resolve } : {}) })
  const connect = buildConnector({
    lookup: checkedLookup(addresses),
    timeout: EXCHANGE_MS_MAX,
    allowH2: false,
    ...(ca === undefined ? {} : { ca }),
  })
  const dispatcher = new Agent({
    connect: (options, done) =>
      connect(sitePort === undefined ? options : { ...options, port: String(sitePort) }, done),
    allowH2: false,
    pipelining: 0,
  })

  async function readFrom(domain: string, first: URL, bytesMax: number): Promise<string | null> {
    const signal = AbortSignal.timeout(EXCHANGE_MS_MAX)
    let url = first
    for (let hop = 0; hop <= REDIRECTS_MAX; hop++) {
      if (!isWithin(url, domain)) return null
      const { statusCode, headers, body } = await request(checkUrl(url.href, { allowPrivate }), {
        headers: { 'user-agent': USER_AGENT, accept: 'text/html, text/plain' },
        signal,
        dispatcher,
      })
      if (statusCode === 200) return await beginningOf(body, bytesMax)
      await body.dump({ limit: REFUSED_BYTES_MAX })
      const { location } = headers
      if (statusCode < 300 || statusCode > 399 || typeof location !== 'string') return null
      const next = URL.parse(location, url)
      if (next === null) return null
      url = next
    }
    return null
  }

  return {
    read: (domain, path, bytesMax) =>
      // For the caller, every failure means the same: the page cannot be read. Details would describe other hosts.
      readFrom(domain, new URL(path, `https://${domain}/`), bytesMax).catch(() => null),
    close: () => dispatcher.destroy(),
  }
}

/** Whether a URL is on the domain or a subdomain, on HTTPS and its usual port. */
function isWithin(url: URL, domain: string): boolean {
  const host = hostOf(url)
  return url.protocol === 'https:' && ['', String(HTTPS_PORT)].includes(url.port) && `.${host}`.endsWith(`.${domain}`)
}

async function beginningOf(body: Dispatcher.ResponseData['body'], bytesMax: number): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    // Exiting the loop destroys the stream.
    if (length >= bytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, bytesMax).toString('utf8')
}
