/** The parts of an event's URL that are stored beside it; '' where there are none. */
export interface Location {
  domain: string
  path: string
}

const NOWHERE: Location = { domain: '', path: '' }

/** Host and path of a web address; nothing for what is no web address (`about:blank`, a bare path). */
export function locate(url: string | undefined): Location {
  const parsed = parseWebUrl(url)
  return parsed ? { domain: parsed.hostname, path: parsed.pathname } : NOWHERE
}

/** The referrer's host without `www.`; '' when there is none or it is the event's own site. */
export function referringDomain(referrer: string, ownDomain: string): string {
  const host = withoutWww(parseWebUrl(referrer)?.hostname ?? '')
  return host === withoutWww(ownDomain) ? '' : host
}

/** The host that sent a request, from its Origin, else its Referer; null when neither names one. */
export function sendingHost(headers: { origin?: string | undefined; referer?: string | undefined }): string | null {
  // `example.com.` is the same host, spelled from the root.
  return parseWebUrl(headers.origin ?? headers.referer)?.hostname.replace(/\.$/, '') ?? null
}

function parseWebUrl(url: string | undefined): URL | null {
  const parsed = url === undefined || url === '' ? null : URL.parse(url)
  return parsed && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed : null
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
