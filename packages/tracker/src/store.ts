import { attempt } from './guard.ts'

const KEY = 'service_queue'
const SESSION = 'service_session'
const SESSION_MS = 1_800_000
const KEPT_MAX = 100

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

/** The session that the service gave this site, for half an hour after its last answer; '' then. */
export function readSession(): string {
  const [until, id] = read(SESSION).split(' ')
  return (Number(until) > Date.now() && id) || ''
}

export function writeSession(id = ''): void {
  write(SESSION, `${Date.now() + SESSION_MS} ${id}`)
}

/** Leaves nothing of this visitor in the browser. */
export function forget(): void {
  write(KEY, '')
  write(SESSION, '')
}

function read(key: string): string {
  return attempt(() => localStorage.getItem(key)) ?? ''
}

function write(key: string, text: string): void {
  attempt(() => (text ? localStorage.setItem(key, text) : localStorage.removeItem(key)))
}
