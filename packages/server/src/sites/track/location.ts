/** The parts of an event's URL that are stored beside it; '' if missing. */
export interface Location {
  domain: string
  path: string
}

const NOWHERE: Location = { domain: '', path: '' }

/** Host and path of a web address; empty for anything else (`about:blank`, a bare path). */
export function locate(url: string | undefined): Location {
  const parsed = parseWebUrl(url)
  return parsed ? { domain: parsed.hostname, path: parsed.pathname } : NOWHERE
}

/** The referrer's host without `www.`; '' if there is none or it is the event's own site. */
export function referringDomain(referrer: string, ownDomain: string): string {
  const host = withoutWww(parseWebUrl(referrer)?.hostname ?? '')
  return host === withoutWww(ownDomain) ? '' : host
}

/** Whether an event's URL has a different host from the page that sent it; false if either has no host. */
export function isOriginMismatch(domain: string, pageHost: string | null): boolean {
  return domain !== '' && pageHost !== null && withoutRoot(domain) !== pageHost
}

/** The host of the page that sent a request, from its Origin, else its Referer; null if neither has one. */
export function sendingHost(headers: { origin?: string | undefined; referer?: string | undefined }): string | null {
  const host = parseWebUrl(headers.origin ?? headers.referer)?.hostname
  return host === undefined ? null : withoutRoot(host)
}

/** Whether the page that sent a request uses HTTPS. Behind a proxy, only these headers reveal it. */
export function isSecurePage(headers: { origin?: string | undefined; referer?: string | undefined }): boolean {
  return parseWebUrl(headers.origin ?? headers.referer)?.protocol === 'https:'
}

/** Removes the root dot: `example.com.` is the same host as `example.com`. */
function withoutRoot(host: string): string {
  return host.endsWith('.') ? host.slice(0, -1) : host
}

function parseWebUrl(url: string | undefined): URL | null {
  const parsed = url === undefined || url === '' ? null : URL.parse(url)
  return parsed && (parsed.protocol === 'https:' || parsed.protocol === 'http:') ? parsed : null
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host
}
