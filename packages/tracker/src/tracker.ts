import { capture, identify, isActive, readContext, SIGN_OUT, setActive } from './capture.ts'
import { DNT, deleteCookie, EXTERNAL_CONTACT, LONGEST_SECONDS, readCookie, VISITOR, writeCookie } from './cookies.ts'
import { attempt, on, warn } from './guard.ts'
import { newId } from './ids.ts'
import { watchInteractions } from './interactions.ts'
import { configure, type Options, options } from './options.ts'
import { leave, watchPages } from './pages.ts'
import { noteReset, setSession } from './store.ts'
import { cut } from './text.ts'
import { flush, saveVisitor, setScript } from './transport.ts'
import { type Fields, isPlain, textOf } from './values.ts'
import { watchVideos } from './videos.ts'
import { decideNow, findVisitor } from './visitor.ts'

export type Command =
  | ['track', name: string, data?: Record<string, unknown>]
  | ['identify', externalUserId: string | null, traits?: Record<string, unknown>, proof?: Proof]
  | ['identify', traits: Record<string, unknown>, proof?: Proof]
  | ['reset']
  | ['consent', given: boolean]
  | ['optOut']
  | ['configure', options: Options]

/** Computed by the site's server: the HMAC-SHA256 of the user id, else of the email, keyed with the identity secret. */
export interface Proof {
  userHash: string
}

/** The API for pages. No method ever throws. */
export interface Service {
  push(...commands: Command[]): void
  track(name: string, data?: Record<string, unknown>): void
  identify(externalUserId: string | null, traits?: Record<string, unknown>, proof?: Proof): void
  identify(traits: Record<string, unknown>, proof?: Proof): void
  /** Signs out: what follows belongs to a new visitor in a new session. */
  reset(): void
  consent(given: boolean): void
  optOut(): void
  configure(options: Options): void
}

const QUEUED_MAX = 100
const NESTED_MAX = 3
/** The commands that do not wait for the start: configure, consent and optOut. */
const AT_ANY_TIME = /^[co]/

/** Commands for an active tracker, before its start. */
const queued: unknown[] = []
const watches = [watchPages, watchInteractions, watchVideos, () => on(window, 'online', flush)]
let isDecided: unknown
/** How many commands are running: one within another if a getter, `beforeSend` or the console calls the tracker. */
let nested = 0

const methods: Record<string, (...args: never[]) => void> = {
  configure,
  track,
  identify,
  reset,
  consent: (given: unknown) => {
    if (given) start()
    else stop()
  },
  optOut: () => {
    stop()
    writeCookie(DNT, '1', LONGEST_SECONDS)
  },
}

/** Turns `queue` into a live command queue and runs the commands in it. */
export function installQueue(queue: unknown[], scriptUrl: string): void {
  setScript(scriptUrl)
  for (const name in methods) (queue as unknown as Fields)[name] = (...args: unknown[]) => run([name, ...args])
  // Defined, not assigned: an assignment would throw on a page that froze Array.prototype.
  Object.defineProperty(queue, 'push', { value: (...commands: unknown[]) => commands.forEach(run) })
  // Commands that need the tracker to be active are queued until it starts.
  queue.push(...queue.splice(0))
  if (options.consent !== 'required' && !isDecided) start()
}

function run(command: unknown): void {
  if (nested > NESTED_MAX) return
  nested++
  try {
    const [name, ...args] = command as [string, ...never[]]
    const act = methods[name]
    if (!act) warn(`${name} is not a command${SIGN_OUT}`)
    else if (isActive() || AT_ANY_TIME.test(name)) act(...args)
    // Queues commands before the start (consent, prerendering) and drops them after a stop.
    else if (!isDecided && queued.length < QUEUED_MAX) queued.push(command)
  } catch {}
  nested--
}

function track(name: unknown, data: unknown): void {
  const event = cut(textOf(name, 'event'))
  if (event) capture(event, isPlain(data) ? data : { value: data })
}

/** Ends the identification: what happened so far stays the old visitor's. */
function reset(): void {
  decideNow?.()
  leave()
  deleteCookie(EXTERNAL_CONTACT)
  options.analyticsUserId = ''
  readContext()
  setSession(newId())
  noteReset()
  saveVisitor(newId())
}

function start(): void {
  const isRefused =
    readCookie(DNT) === '1' ||
    (options.gpc !== 'off' && (navigator as { globalPrivacyControl?: boolean }).globalPrivacyControl) ||
    (options.dnt === 'on' && navigator.doNotTrack === '1')
  if (isActive() || isRefused) return
  // A prerendered page may never be shown.
  if ((document as { prerendering?: boolean }).prerendering) {
    on(document, 'prerenderingchange', start)
    return
  }
  isDecided = true
  setActive(true)
  readContext()
  findVisitor()
  watches.splice(0).forEach(attempt)
  queued.splice(0).forEach(run)
}

/** Stops capturing and sending, and deletes everything about the visitor from the browser. */
function stop(): void {
  isDecided = true
  queued.length = 0
  setActive(false)
  writeCookie(VISITOR, '', 0)
}
