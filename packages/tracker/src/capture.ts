import { DNT, EXTERNAL_CONTACT, readCookie } from './cookies.ts'
import { timezone } from './fingerprint.ts'
import { attempt, warn } from './guard.ts'
import { newId } from './ids.ts'
import { BUDGET_MAX, quote, serialize } from './json.ts'
import { options, type TrackedEvent } from './options.ts'
import { readSession } from './store.ts'
import { cut, redact } from './text.ts'
import { currentVisitor, discard, enqueue } from './transport.ts'
import { idOf, isPlain } from './values.ts'

export const SIGN_OUT = '. To sign out: service.reset()'

let active = false
/** JSON without the closing brace, because the session may be a proposal inside it. */
let context = ''

export function isActive(): boolean {
  // A site may set the cookie at any time.
  if (active && readCookie(DNT) === '1') setActive(false)
  return active
}

export function setActive(on: boolean): void {
  active = on
  if (!on) discard()
}

/** Reads once what stays the same for the page, so that no event causes a layout. */
export function readContext(): void {
  context = serialize({
    screen: `${screen.width}x${screen.height}`,
    viewport: `${innerWidth}x${innerHeight}`,
    language: navigator.language,
    timezone: timezone(),
    referrer: redact(document.referrer),
    analytics_user_id: idOf(options.analyticsUserId, 'analyticsUserId'),
  }).slice(0, -1)
}

/** Records an event of this page; `page` overrides the current URL, title and time. The site may exclude or drop it. */
export function capture(event: string, data: Record<string, unknown>, page: Partial<TrackedEvent> = {}): void {
  if (!isActive() || ` ${options.exclude} `.includes(` ${event} `)) return
  const title = cut(document.title)
  const captured = { event_id: newId(), event, timestamp: now(), url: redact(location.href), title, ...page, data }
  const { beforeSend } = options
  const check: unknown = window[beforeSend as never] ?? beforeSend
  // If the check throws or does not exist, the event is dropped.
  const approved = check ? attempt(() => (check as (event: TrackedEvent) => TrackedEvent)(captured)) : captured
  if (isPlain(approved)) add('', serialize(approved))
}

/**
 * Identifies the visitor by a user id or by traits alone, which may come first, as other trackers take them.
 * @param proof has the hash that the site's server computed of the user id, else of the email.
 */
export function identify(userId: unknown, traits?: unknown, proof?: unknown): void {
  if (isPlain(userId)) {
    proof ??= traits
    traits = attempt(() => ({ ...(userId as object), ...(traits as object), userHash: undefined })) ?? userId
    userId = ''
  }
  // A function is left out, which the console says.
  const claim = { external_user_id: idOf(userId, 'id'), traits: !traits ? undefined : isPlain(traits) ? traits : warn }
  const user_hash = (proof as { userHash?: string } | null)?.userHash
  // The text between the braces goes into the request unchanged. Traits have depth 0.
  const json = serialize({ user_hash, identify: claim }, BUDGET_MAX, -2).slice(1, -1)
  if (/"identify":{("traits":{})?}$/.test(json)) warn(`identify names nobody${SIGN_OUT}`)
  else add(json, '')
}

function add(identification: string, event: string): void {
  const id = idOf(readCookie(EXTERNAL_CONTACT), EXTERNAL_CONTACT)
  const head = `${id ? `"external_contact_id":${quote(id)},` : ''}"context":${context}${readSession()}`
  if (identification + event) enqueue([currentVisitor(), head, identification, event])
}

export function now(): string {
  return new Date().toISOString()
}
