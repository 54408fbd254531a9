import { guard, later } from './guard.ts'
import { options } from './options.ts'
import { post, postLast } from './request.ts'
import { forget, type Item, readSession, readStored, store, unstore, writeSession } from './store.ts'

const EVENTS_MAX = 10
/** In characters, of which each is at most three bytes: browsers let 64 KiB outlive a page. */
const BATCH_MAX = 20_000
const LAST_BYTES_MAX = 64_000
const WAITING_MAX = 500
const GATHER_MS = 1_000
const DOUBLINGS_MAX = 6

let queue: Item[] = []
let inFlight = ''
let isScheduled = false
let failures = 0
/** One, while a refused event is looked for: they go one by one then, so that the others arrive. */
let eventsMax = EVENTS_MAX
let visitor = ''
/** What was sent while the page goes away; 0 when it does not. */
let lastBytes = 0
let script = ''
let address = ''

export function setAddress(scriptUrl: string, collect: string): void {
  script = scriptUrl
  address = collect
}

/** Where requests go: beside the script, or where the site says. */
export function collectUrl(): string {
  return new URL(options.collect || address, script || location.href).href
}

/** From now on it is known whose events these are. */
export function setVisitor(id: string): void {
  visitor = id
  queue = [...readStored(), ...queue]
  flush()
}

export function enqueue(item: Item): void {
  queue.push(item)
  if (queue.length > WAITING_MAX) queue.shift()
  if (queue.length < EVENTS_MAX || failures) schedule(GATHER_MS)
  else flush()
  // A page that goes away, or may, has no time to gather: this runs as soon as the page's own handler has ended.
  if (document.hidden || lastBytes) queueMicrotask(guard(failures ? () => putBack([]) : flushLast))
}

function schedule(milliseconds: number): void {
  if (isScheduled) return
  isScheduled = true
  later(() => {
    isScheduled = false
    flush()
  }, milliseconds)
}

/** Sends the next batch, unless one is under way or there is nobody to send it for. */
export function flush(): void {
  if (inFlight || !visitor || !queue[0]) return
  const batch = nextBatch()
  if (!navigator.onLine) {
    putBack(batch)
    return
  }
  inFlight = bodyOf(batch)
  post(collectUrl(), inFlight, failures, (status, answer) => {
    inFlight = ''
    settle(batch, status, answer)
  })
}

function settle(batch: Item[], status: number, answer: string): void {
  // Whoever has opted out meanwhile leaves nothing behind.
  if (!visitor) return
  // 403: the domain is not verified, and no batch of this page will fare better.
  if (status === 403) discard()
  else if (status === 400 || status === 413) {
    eventsMax = batch.length > 1 ? 1 : EVENTS_MAX
    if (batch.length > 1) putBack(batch)
    else unstore(batch)
  } else if (status === 200) {
    failures = 0
    const [session] = /"session_id":"[\w.~-]+"/.exec(answer) ?? []
    if (session) writeSession(`},${session}`)
    unstore(batch)
  } else {
    putBack(batch)
    schedule(GATHER_MS * 2 ** Math.min(DOUBLINGS_MAX, failures++) * (0.5 + Math.random()))
    return
  }
  flush()
}

function putBack(batch: Item[]): void {
  if (!visitor) return
  queue = [...batch, ...queue]
  store(queue)
}

/** The page goes away, or may: what the browser still takes is sent, the rest waits for the next page. */
export function flushLast(): void {
  lastBytes ||= 1
  // A page goes away in several steps, each of which asks for this.
  later(() => {
    lastBytes = 0
  }, GATHER_MS)
  while (visitor && queue[0]) {
    const batch = nextBatch()
    const body = bodyOf(batch)
    const size = new Blob([body, inFlight]).size
    const keep = () => {
      failures++
      putBack(batch)
    }
    if (!navigator.onLine || lastBytes + size > LAST_BYTES_MAX || !postLast(collectUrl(), body, keep)) {
      keep()
      return
    }
    lastBytes += size
    unstore(batch)
  }
}

/** Takes the events that may go together: same visitor, same page, an identification only at the start. */
function nextBatch(): Item[] {
  const batch: Item[] = []
  let size = 0
  for (const item of queue) {
    // What was captured before the visitor was known is that visitor's.
    item[0] ||= visitor
    const [first] = batch
    size += item[2].length + item[3].length
    const isApart =
      size > BATCH_MAX || item[2] || batch.length >= eventsMax || first?.[0] !== item[0] || first[1] !== item[1]
    if (first && isApart) break
    batch.push(item)
  }
  queue = queue.slice(batch.length)
  return batch
}

function bodyOf(batch: Item[]): string {
  const [[id, head, identify] = []] = batch
  const events = batch.map((item) => item[3]).filter(Boolean)
  return `{"visitor_id":"${id}",${identify && `${identify},`}${head}${readSession()},"events":[${events}],"sent_at":"${new Date().toISOString()}"}`
}

/** Drops everything, here and in the store. */
export function discard(): void {
  queue = []
  visitor = ''
  forget()
}
