import { LONGEST_SECONDS, readVisitor, VISITOR, writeCookie } from './cookies.ts'
import { attempt, guard, later, warn } from './guard.ts'
import { bytesOf } from './json.ts'
import { options } from './options.ts'
import { idIn, post, postLast } from './request.ts'
import { forget, type Item, readStored, setSession, store, unstore } from './store.ts'

const NOT_FOUND = 'no server. Set data-collect'
const EVENTS_MAX = 10
/** In characters of at most three bytes each: browsers limit requests that outlive a page to 64 KiB. */
const BATCH_MAX = 20_000
const LAST_BYTES_MAX = 64_000
const QUEUED_MAX = 500
/** How long an event waits for others; also the first wait before a retry. */
export const BATCH_MS = 1_000
const DOUBLINGS_MAX = 6

let queue: Item[] = []
/** The batch of the current request, which the browser cancels if the page unloads. */
let inFlight: Item[] = []
let timer: unknown
let failures = 0
/** 1 after a rejected batch: its events are sent one by one, so that only the invalid ones fail. */
let eventsMax = EVENTS_MAX
let visitor = ''
/** Bytes sent since the page was hidden or started to unload; 0 while it is visible. */
let lastBytes = 0
let script = ''

/** URL for events, relative to the script; inserted when it is bundled. */
declare const COLLECT: string

export function setScript(url: string): void {
  script = url
}

/**
 * URL for events: as configured, else beside the script. '' if the script does not know where it came from, because the
 * page's own host would be a guess.
 */
export function collectUrl(): string {
  const { collect } = options
  return attempt(() => new URL(collect || COLLECT, script || (collect && location.href)).href) ?? warn(NOT_FOUND)
}

/**
 * Stores the visitor's id, which every visit renews, and sets it for later events and the queued ones that have none, which
 * can then be sent.
 */
export function saveVisitor(id: string): void {
  writeCookie(VISITOR, id, LONGEST_SECONDS)
  for (const item of queue) item[0] ||= id
  if (!visitor) queue = [...readStored(), ...queue]
  visitor = id
  flush()
}

/** The visitor now: another tab may have signed out. */
export function currentVisitor(): string {
  visitor &&= readVisitor() || visitor
  return visitor
}

export function enqueue(item: Item): void {
  queue.push(item)
  if (queue.length > QUEUED_MAX) queue.shift()
  if (queue.length < EVENTS_MAX || failures) schedule(BATCH_MS)
  else flush()
  // A hidden or unloading page cannot wait to batch: this runs as soon as the page's own handler has returned.
  if (document.hidden || lastBytes) queueMicrotask(guard(failures ? () => requeue([]) : flushLast))
}

function schedule(milliseconds: number): void {
  if (timer) return
  timer = later(() => {
    timer = 0
    flush()
  }, milliseconds)
}

/** Sends the next batch, unless a request is in flight or the visitor is not known yet. */
export function flush(): void {
  const url = collectUrl()
  if (inFlight[0] || !visitor || !queue[0] || !url) return
  if (navigator.onLine) {
    inFlight = nextBatch()
    post(url, bodyOf(inFlight), handleResponse)
  } else requeue([])
}

function handleResponse(status: number, response: string): void {
  const batch = inFlight
  inFlight = []
  const session = idIn(response, 'session_id')
  // After an opt-out, nothing is stored.
  if (!visitor) return
  // 403: the domain is not verified, so every batch of this page would fail.
  if (status === 403) discard()
  else if (status === 400 || status === 413) {
    eventsMax = batch[1] ? 1 : EVENTS_MAX
    if (batch[1]) requeue(batch)
    else unstore(batch)
  } else if (session) {
    failures = 0
    // A visitor who has signed out since has another session.
    if (batch[0]?.[0] === currentVisitor()) setSession(session)
    unstore(batch)
  } else {
    if (status === 200) warn(NOT_FOUND)
    requeue(batch)
    schedule(BATCH_MS * 2 ** Math.min(DOUBLINGS_MAX, failures++) * (0.5 + Math.random()))
    return
  }
  flush()
}

function requeue(batch: Item[]): void {
  if (!visitor) return
  queue = [...batch, ...queue]
  store(queue)
}

/** Sends as much as the browser accepts from a hidden or unloading page, and stores the rest for the next page. */
export function flushLast(): void {
  lastBytes ||= 1
  // Unloading fires several events, and each of them calls this.
  later(() => {
    lastBytes = 0
  }, BATCH_MS)
  queue = [...inFlight, ...queue]
  const url = collectUrl()
  while (visitor && queue[0]) {
    const batch = nextBatch()
    const body = bodyOf(batch)
    lastBytes += bytesOf(body)
    const keepForLater = () => {
      failures++
      requeue(batch)
    }
    if (!url || !navigator.onLine || lastBytes > LAST_BYTES_MAX || !postLast(url, body, keepForLater)) {
      keepForLater()
      return
    }
    unstore(batch)
  }
}

/** Removes the next batch from the queue: same visitor, same page, an identification only at the start. */
function nextBatch(): Item[] {
  const batch: Item[] = []
  let size = 0
  for (const item of queue) {
    const [first] = batch
    size += item[2].length + item[3].length
    const isFull = size > BATCH_MAX || batch.length >= eventsMax
    if (first && (isFull || item[2] || first[0] !== item[0] || first[1] !== item[1])) break
    batch.push(item)
  }
  queue = queue.slice(batch.length)
  return batch
}

function bodyOf(batch: Item[]): string {
  const [[id, head, identify] = []] = batch
  const events = batch.map((item) => item[3]).filter(Boolean)
  return `{"visitor_id":"${id}",${identify && `${identify},`}${head},"events":[${events}],"sent_at":"${new Date().toISOString()}"}`
}

/** Drops all unsent events, in memory and in the store. */
export function discard(): void {
  queue = []
  visitor = ''
  forget()
}
