import { isActive } from './capture.ts'
import { LONGEST_SECONDS, readCookie, VISITOR, writeCookie } from './cookies.ts'
import { fingerprint } from './fingerprint.ts'
import { later } from './guard.ts'
import { newId } from './ids.ts'
import { options } from './options.ts'
import { post } from './request.ts'
import { serialize } from './text.ts'
import { collectUrl, setVisitor } from './transport.ts'

/** Uses the visitor known so far if the page unloads before the service has responded. */
export let decideNow: ((response?: string) => void) | undefined

/** Timeout of the fingerprint. */
export const FINGERPRINT_MS_MAX = 1_500

/**
 * Determines the visitor: by the cookie, else by the device's fingerprint, else a new one.
 * @param onFirstVisit is called if the browser was never seen before.
 */
export function findVisitor(onFirstVisit: () => void): void {
  const known = validCookie()
  if (known) {
    saveVisitor(known)
    return
  }
  const fresh = newId()
  decideNow = (response = '') => {
    decideNow = undefined
    // The visitor may have opted out since.
    if (!isActive()) return
    // Another tab may have set the cookie since.
    const current = validCookie()
    saveVisitor(current || (/"visitor_id":"([\w.~-]{1,200})"/.exec(response)?.[1] ?? fresh))
    // With cookies blocked, every page looks like the first; only the service can tell.
    if (!current && !/"recovered":true/.test(response) && (response || validCookie())) onFirstVisit()
  }
  if (options.fingerprint === 'off') {
    decideNow()
    return
  }
  let isComputed = false
  later(() => isComputed || decideNow?.(), FINGERPRINT_MS_MAX)
  fingerprint((hash) => {
    isComputed = true
    if (!decideNow) return
    const body = serialize({ fingerprint: hash, visitor_id: fresh })
    post(new URL('recover-visitor', collectUrl()).href, body, 0, (_status, response) => decideNow?.(response))
  })
}

function validCookie(): string {
  const id = readCookie(VISITOR)
  return /^[\w.~-]{1,200}$/.test(id) ? id : ''
}

/** Stores the visitor's id. Every visit renews the cookie. */
function saveVisitor(id: string): void {
  writeCookie(VISITOR, id, LONGEST_SECONDS)
  setVisitor(id)
}
