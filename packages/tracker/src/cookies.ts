import { attempt } from './guard.ts'
import { options } from './options.ts'

export const VISITOR = 'service_visitor_id'
export const EXTERNAL_CONTACT = 'service_external_contact_id'
export const DNT = 'service_dnt'
/** Browsers limit the lifetime of cookies to 400 days. */
export const LONGEST_SECONDS = 34_560_000

/** The words that the service refuses as an id, because they name nobody, as far as a visitor's id can have their characters. */
const NOBODY = 'undefined|null|nil|none|nan|true|false|anonymous|guest|unknown|not.set|(-1)?[0.-]*'

/** A cookie's value; '' if there is none, if it names nobody, or if cookies are blocked. */
export function readCookie(name: string, form = '[^;]*'): string {
  const pattern = `(^|; )${name}=(?!(${NOBODY})(;|$))(${form})(;|$)`
  return attempt(() => decodeURIComponent(new RegExp(pattern, 'i').exec(document.cookie)?.[5] ?? '')) ?? ''
}

/** The visitor's id in its cookie, or ''. */
export function readVisitor(): string {
  return readCookie(VISITOR, '[\\w.~-]{1,200}')
}

export function writeCookie(
  name: string,
  value: string,
  seconds: number,
  domain = options.cookieDomain ?? '',
  path = '/',
): void {
  attempt(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not available everywhere, nor on plain HTTP
    document.cookie = `${name}=${value}; Path=${path}; Max-Age=${seconds}; SameSite=Strict; Domain=${domain}${location.protocol === 'https:' ? '; Secure' : ''}`
  })
}

/** Deletes a cookie that the page sees, whichever domain and path it was set for: `/a/b` sees those of `/`, `/a`, `/a/` and `/a/b`. */
export function deleteCookie(name: string): void {
  let path = ''
  for (const part of location.pathname.split(/(\/)/)) {
    path += part
    const labels = location.hostname.split('.')
    do writeCookie(name, '', 0, labels.join('.'), path)
    while (labels.shift())
  }
}
