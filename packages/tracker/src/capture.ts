import { DNT, EXTERNAL_CONTACT, readCookie } from './cookies.ts'
import { timezone } from './fingerprint.ts'
import { attempt } from './guard.ts'
import { newId } from './ids.ts'
import { options, type TrackedEvent } from './options.ts'
import { cut, redact, serialize } from './text.ts'
import { discard, enqueue } from './transport.ts'

/** Larger events are sent without their data, because the service rejects events with more than 32 KiB of data. */
const EVENT_BYTES_MAX = 30_000

let active = false
/** JSON without the closing brace, because the request may add a proposed session to it. */
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
    analytics_user_id: options.analyticsUserId,
  }).slice(0, -1)
}

/** Records an event of this page; `page` overrides the current URL, title and time. */
export function capture(event: string, data: Record<string, unknown>, page: Partial<TrackedEvent> = {}): void {
  if (!isActive() || ` ${options.exclude} `.includes(` ${event} `)) return
  const title = cut(document.title)
  const captured = { event_id: newId(), event, timestamp: now(), url: redact(location.href), title, ...page, data }
  const { beforeSend } = options
  const check = typeof beforeSend === 'string' ? (window as never)[beforeSend] : beforeSend
  // If the check throws, the event is dropped.
  const approved = check ? attempt(() => (check as (event: TrackedEvent) => TrackedEvent)(captured)) : captured
  if (!approved) return
  let json = serialize(approved)
  if (new Blob([json]).size > EVENT_BYTES_MAX) json = serialize({ ...approved, data: { truncated: true } })
  add('', json)
}

/** @param proof has the hash that the site's server computed of the user id, else of the email. */
export function identify(userId: unknown, traits: unknown, proof?: { userHash?: string }): void {
  const claim = {
    external_user_id: cut(userId) || undefined,
    traits: Object(traits) === traits ? traits : undefined,
  }
  // The text between the braces goes into the request unchanged.
  add(serialize({ identify: claim, user_hash: proof?.userHash }).slice(1, -1), '')
}

function add(identification: string, event: string): void {
  const external = cut(readCookie(EXTERNAL_CONTACT)).replace(/\0/g, '')
  const head = `${external && `"external_contact_id":${serialize(external)},`}"context":${context}`
  enqueue(['', head, identification, event])
}

export function now(): string {
  return new Date().toISOString()
}
