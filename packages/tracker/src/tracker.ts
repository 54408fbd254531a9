import { capture, identify, isActive, readContext, SIGN_OUT, setActive } from './capture.ts'
import { DNT, deleteCookie, EXTERNAL_CONTACT, LONGEST_SECONDS, readCookie, VISITOR, writeCookie } from './cookies.ts'
import { attempt, guard, on, warn } from './guard.ts'
import { newId } from './ids.ts'
import { watchInteractions } from './interactions.ts'
import { configure, type Options, options } from './options.ts'
import { leave, watchPages } from './pages.ts'
import { noteReset, setSession } from './store.ts'
import { cut } from './text.ts'
import { flush, setScript } from './transport.ts'
import { isPlain, textOf } from './values.ts'
import { watchVideos } from './videos.ts'
import { decideNow, findVisitor, saveVisitor } from './visitor.ts'

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

const queued: (() => void)[] = []
const watches = [watchPages, watchInteractions, watchVideos, () => on(window, 'online', flush)]
let isDecided = false

const methods: Record<string, (...args: never[]) => void> = {
  configure,
  track: whenActive(track),
  identify: whenActive(identify),
  reset: whenActive(reset),
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
  const pushed = queue.splice(0)
  for (const name in methods) Object.assign(queue, { [name]: (...args: unknown[]) => run([name, ...args]) })
  // Defined, not assigned: an assignment would throw on a page that froze Array.prototype.
  Object.defineProperty(queue, 'push', { value: (...commands: unknown[]) => commands.forEach(run) })
  // Commands that need the tracker to be active are queued until it starts.
  pushed.forEach(run)
  if (options.consent !== 'required' && !isDecided) start()
}

const run = guard((command: unknown) => {
  const [name, ...args] = command as [string, ...never[]]
  const act = methods[name]
  if (act) act(...args)
  else warn(`${name} is no command${SIGN_OUT}`)
})

/** Queues commands before the start (consent, prerendering) and drops them after a stop. */
function whenActive<Args extends unknown[]>(act: (...args: Args) => void): (...args: Args) => void {
  return (...args) => {
    if (isActive()) act(...args)
    else if (!isDecided && queued.length < QUEUED_MAX) queued.push(() => act(...args))
  }
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
  for (const act of [...watches.splice(0), ...queued.splice(0)]) attempt(act)
}

/** Stops capturing and sending, and deletes everything about the visitor from the browser. */
function stop(): void {
  isDecided = true
  queued.length = 0
  setActive(false)
  writeCookie(VISITOR, '', 0)
}
