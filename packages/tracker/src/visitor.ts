import { capture, isActive } from './capture.ts'
import { readVisitor } from './cookies.ts'
import { fingerprint } from './fingerprint.ts'
import { guard, later } from './guard.ts'
import { newId } from './ids.ts'
import { options } from './options.ts'
import { idIn, post } from './request.ts'
import { wasReset } from './store.ts'
import { collectUrl, saveVisitor } from './transport.ts'

/** Uses the visitor known so far if the page unloads before the service has responded. */
export let decideNow: ((response?: string) => void) | undefined

/** Timeout of the fingerprint and the response to it. */
export const FINGERPRINT_MS_MAX = 3_500

/** Determines the visitor: by the cookie, else by the device's fingerprint, else a new one. */
export function findVisitor(): void {
  const known = readVisitor()
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
    const current = readVisitor()
    saveVisitor(current || idIn(response, 'visitor_id') || fresh)
    // With cookies blocked, every page looks like the first; only the service can tell.
    if (!current && !/"recovered":true/.test(response) && (response || readVisitor())) capture('first_visit', {})
  }
  if (options.fingerprint === 'off' || wasReset()) {
    decideNow()
    return
  }
  const decide = () => decideNow?.()
  later(decide, FINGERPRINT_MS_MAX)
  const recover = guard((hash: string) => {
    const body = `{"fingerprint":"${hash}","visitor_id":"${fresh}"}`
    if (decideNow)
      post(new URL('recover-visitor', collectUrl()).href, body, (_status, response) => decideNow?.(response))
  })
  fingerprint().then(recover, decide)
}
