import { isActive } from './capture.ts'
import { LONGEST_SECONDS, readCookie, VISITOR, writeCookie } from './cookies.ts'
import { fingerprint } from './fingerprint.ts'
import { later } from './guard.ts'
import { newId } from './ids.ts'
import { options } from './options.ts'
import { post } from './request.ts'
import { serialize } from './text.ts'
import { collectUrl, setVisitor } from './transport.ts'

/** Decides for the visitor that is known so far, when the page goes away before the service has answered. */
export let decideNow: ((answer?: string) => void) | undefined

/** A device that does not know itself by then is not waited for. */
export const FINGERPRINT_MS_MAX = 1_500

/**
 * Finds whose page this is: by the cookie, else by the device's fingerprint, else somebody new.
 * @param onFirstVisit is called when the browser was never seen before.
 */
export function findVisitor(onFirstVisit: () => void): void {
  const known = usableCookie()
  if (known) {
    keep(known)
    return
  }
  const fresh = newId()
  decideNow = (answer = '') => {
    decideNow = undefined
    // Whoever has opted out meanwhile stays forgotten.
    if (!isActive()) return
    // Another tab may have decided meanwhile.
    const other = usableCookie()
    keep(other || (/"visitor_id":"([\w.~-]{1,200})"/.exec(answer)?.[1] ?? fresh))
    // Where cookies are blocked every page looks like the first; only the service can tell.
    if (!other && !/"recovered":true/.test(answer) && (answer || usableCookie())) onFirstVisit()
  }
  if (options.fingerprint === 'off') {
    decideNow()
    return
  }
  let isAsked = false
  later(() => isAsked || decideNow?.(), FINGERPRINT_MS_MAX)
  fingerprint((hash) => {
    isAsked = true
    if (!decideNow) return
    const body = serialize({ fingerprint: hash, visitor_id: fresh })
    post(new URL('recover-visitor', collectUrl()).href, body, 0, (_status, answer) => decideNow?.(answer))
  })
}

function usableCookie(): string {
  const id = readCookie(VISITOR)
  return /^[\w.~-]{1,200}$/.test(id) ? id : ''
}

/** Every visit renews the cookie. */
function keep(id: string): void {
  writeCookie(VISITOR, id, LONGEST_SECONDS)
  setVisitor(id)
}
