import { attempt } from './guard.ts'
import { newId } from './ids.ts'

const KEY = 'service_queue'
const SESSION = 'service_session'
const RESET = 'service_reset'
const SESSION_MS = 1_800_000
const STORED_MAX = 100

/** Used if the browser's storage is blocked. */
let session = ''

/**
 * An unsent item: visitor ('' until it is known), JSON of the request's other fields, JSON of its identification or '', JSON of its event or ''.
 * Stored as texts, so that reading it back needs no parser that the page may have replaced.
 */
export type Item = [visitor: string, head: string, identify: string, event: string]

export function readStored(): Item[] {
  const lines = read(KEY).split('\n')
  return lines.map((line) => line.split('\t') as Item).filter((item) => item.length === 4)
}

/** Appends unsent items to those of other tabs. */
export function store(items: Item[]): void {
  unstore(items, items)
}

/** Removes sent items. */
export function unstore(items: Item[], instead: Item[] = []): void {
  const removed = items.map(String)
  const others = readStored().filter((item) => !removed.includes(`${item}`))
  const stored = [...others, ...instead].slice(-STORED_MAX)
  write(KEY, stored.map((item) => item.join('\t')).join('\n'))
}

/**
 * The end of a request's context, with this site's session: that of the last response, for half an hour. Before the first
 * response, it is a proposal inside the context, used for everything sent until then, including by the next page.
 */
export function readSession(): string {
  const [until, ending] = (read(SESSION) || session).split(' ')
  return ending && +(until as string) > Date.now() ? ending : writeSession(`,"session_id":"${newId()}"}`)
}

function writeSession(ending: string): string {
  session = `${Date.now() + SESSION_MS} ${ending}`
  write(SESSION, session)
  return ending
}

/** Sets the session, which replaces the one in the service's cookie. */
export function setSession(id: string): void {
  writeSession(`},"session_id":"${id}"`)
}

/** Remembers that several visitors use this browser. */
export function noteReset(): void {
  write(RESET, '1')
}

/** Whether a visitor of this browser has signed out, so that the device alone does not tell who it is. */
export function wasReset(): boolean {
  return !!read(RESET)
}

/** Deletes everything about this visitor from the browser. */
export function forget(): void {
  write(KEY, '')
  session = ''
  write(SESSION, session)
}

function read(key: string): string {
  return attempt(() => localStorage[key]) ?? ''
}

function write(key: string, text: string): void {
  attempt(() => {
    if (text) localStorage[key] = text
    else delete localStorage[key]
  })
}
