import { attempt } from './guard.ts'
import { newId } from './ids.ts'

const KEY = 'service_queue'
const SESSION = 'service_session'
const SESSION_MS = 1_800_000
const KEPT_MAX = 100

/** Where the browser stores nothing. */
let session = ''

/**
 * What waits to be sent: visitor, JSON of the request's other fields, of its identification (or ''), of its event (or
 * ''). Kept as texts, so that reading it back needs no parser that the page may have replaced.
 */
export type Item = [visitor: string, head: string, identify: string, event: string]

export function readStored(): Item[] {
  const lines = read(KEY).split('\n')
  return lines.map((line) => line.split('\t') as Item).filter((item) => item.length === 4)
}

/** Adds what could not be sent to what other tabs have left. */
export function store(items: Item[]): void {
  unstore(items, items)
}

/** Removes what has arrived. */
export function unstore(items: Item[], instead: Item[] = []): void {
  const others = readStored().filter((item) => !items.some((gone) => gone[2] + gone[3] === item[2] + item[3]))
  const kept = [...others, ...instead].slice(-KEPT_MAX)
  write(KEY, kept.map((item) => item.join('\t')).join('\n'))
}

/**
 * What names this site's session in a request, and ends its context: the session of the last answer, for half an hour.
 * Before the first answer it is a proposal in the context, the same for whatever is sent meanwhile, also by the next page.
 */
export function readSession(): string {
  const [until, ending] = (read(SESSION) || session).split(' ')
  return ending && Number(until) > Date.now() ? ending : writeSession(`,"session_id":"${newId()}"}`)
}

export function writeSession(ending: string): string {
  session = `${Date.now() + SESSION_MS} ${ending}`
  write(SESSION, session)
  return ending
}

/** Leaves nothing of this visitor in the browser. */
export function forget(): void {
  write(KEY, '')
  session = ''
  write(SESSION, session)
}

function read(key: string): string {
  return attempt(() => localStorage.getItem(key)) ?? ''
}

function write(key: string, text: string): void {
  attempt(() => (text ? localStorage.setItem(key, text) : localStorage.removeItem(key)))
}
