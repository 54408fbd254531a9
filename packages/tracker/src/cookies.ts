import { attempt } from './guard.ts'
import { options } from './options.ts'

export const VISITOR = 'service_visitor_id'
export const EXTERNAL_CONTACT = 'service_external_contact_id'
export const DNT = 'service_dnt'
/** Browsers limit the lifetime of cookies to 400 days. */
export const LONGEST_SECONDS = 34_560_000

/** A cookie's value; '' if there is none or cookies are blocked. */
export function readCookie(name: string): string {
  return attempt(() => decodeURIComponent(new RegExp(`(?:^|; )${name}=([^;]*)`).exec(document.cookie)?.[1] ?? '')) ?? ''
}

export function writeCookie(name: string, value: string, seconds: number): void {
  attempt(() => {
    // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API is not available everywhere, nor on plain HTTP
    document.cookie = `${name}=${value}; Path=/; Max-Age=${seconds}; SameSite=Strict${
      options.cookieDomain ? `; Domain=${options.cookieDomain}` : ''
    }${location.protocol === 'https:' ? '; Secure' : ''}`
  })
}
