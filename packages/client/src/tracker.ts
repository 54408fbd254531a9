import { Caller, type ClientOptions } from './call.ts'
import { CustomerDataError } from './errors.ts'
import type { IdentifyInput, SendEventsInput, SendEventsResult } from './generated/types.gen.ts'
import { isTransient, wait, waitBeforeRetry } from './retry.ts'

/** An event, with the person or the visitor whose it is. */
export type EventToTrack = Omit<SendEventsInput['events'][number], 'timestamp'> & {
  /** When it happened. Default: now. */
  timestamp?: Date | string
}

/**
 * A person, by `user_id` or `email` or both, with properties to write and visitors to link. An id that names nobody,
 * such as the text `undefined`, is ignored; a person without another key is rejected.
 */
export type PersonToIdentify = IdentifyInput

export interface TrackerOptions extends ClientOptions {
  /** How long a call waits for others, to be sent with them. Default: 1,000. */
  flushEveryMs?: number
  /** How many calls wait while the service does not respond; further ones are lost. Default: 10,000. */
  queueMax?: number
  /** How long `flush`, `close` and the end of the process wait for the service. Default: 10,000. */
  flushTimeoutMs?: number
  /** Called when calls are lost. Default: prints the error. */
  onError?: (error: CustomerDataError, calls: (EventToTrack | PersonToIdentify)[]) => void
}

interface Call {
  kind: 'event' | 'person'
  json: string
}

const SEND_AT = 100
const EVENTS_PER_REQUEST = 500
/** The service accepts 1 MiB. */
const CHARACTERS_PER_REQUEST = 256 * 1024

/**
 * Records events and identifies people from a server, in the background: calls return at once and never throw. They are
 * sent in their order, many in a request, and again after a failure that may pass. What waits is sent before the
 * process ends by itself; before `process.exit()` and on a signal, call `close`.
 */
export class Tracker extends Caller {
  readonly #options: Required<Pick<TrackerOptions, 'flushEveryMs' | 'queueMax' | 'flushTimeoutMs' | 'onError'>>
  readonly #queue: Call[] = []
  #timer: Timer | undefined
  #sending: Promise<void> | undefined
  /** Ends requests and waits when the time of the last flush is over. */
  readonly #giveUp = new AbortController()
  #isClosed = false
  readonly #onExit = () => {
    if (this.#queue.length > 0) void this.close()
  }

  constructor({
    flushEveryMs = 1_000,
    queueMax = 10_000,
    flushTimeoutMs = 10_000,
    onError,
    ...client
  }: TrackerOptions) {
    // This class repeats requests itself.
    super({ ...client, retriesMax: 0 })
    this.#options = { flushEveryMs, queueMax, flushTimeoutMs, onError: onError ?? print }
    runtime.process?.on?.('beforeExit', this.#onExit)
  }

  /** Records an event. */
  track(event: EventToTrack): void {
    this.#add('event', () => ({
      event_id: crypto.randomUUID(),
      ...event,
      timestamp: event.timestamp ?? new Date(),
    }))
  }

  /** Creates or updates a contact, and links visitors to it. */
  identify(person: PersonToIdentify): void {
    this.#add('person', () => ({ ...person }))
  }

  /** Sends what waits. @returns how many calls still wait because the service does not respond in time */
  async flush(): Promise<number> {
    let timer: Timer | undefined
    const timeout = new Promise<void>((resolve) => {
      // Keeps the process running for as long as the flush takes.
      timer = setTimeout(resolve, this.#options.flushTimeoutMs)
    })
    await Promise.race([this.#send(), timeout])
    clearTimeout(timer)
    return this.#queue.length
  }

  /** Sends what waits and ends the tracker. What could not be sent in time is lost and reported to `onError`. */
  async close(): Promise<void> {
    this.#isClosed = true
    runtime.process?.off?.('beforeExit', this.#onExit)
    await this.flush()
    this.#giveUp.abort()
    const left = this.#queue.splice(0)
    if (left.length === 0) return
    const message = 'The tracker was closed before the service responded.'
    this.#lose(new CustomerDataError(message, { code: 'tracker_closed' }), left)
  }

  #add(kind: Call['kind'], content: () => object): void {
    const call = { kind, json: '' }
    try {
      call.json = JSON.stringify(content())
    } catch (cause) {
      // Such as an object that contains itself.
      const error = new CustomerDataError('The call cannot be written as JSON.', { code: 'invalid_call', cause })
      this.#lose(error, [])
      return
    }
    if (this.#isClosed) {
      this.#lose(new CustomerDataError('The tracker is closed.', { code: 'tracker_closed' }), [call])
    } else if (this.#queue.length >= this.#options.queueMax) {
      const message = `${this.#options.queueMax} calls wait already, because the service does not respond.`
      this.#lose(new CustomerDataError(message, { code: 'queue_full' }), [call])
    } else {
      this.#queue.push(call)
      if (this.#queue.length >= SEND_AT) void this.#send()
      else this.#sendSoon()
    }
  }

  #sendSoon(): void {
    if (this.#timer !== undefined) return
    this.#timer = setTimeout(() => void this.#send(), this.#options.flushEveryMs)
    // An idle process ends, and sends what waits before it does.
    if (typeof this.#timer === 'object') this.#timer.unref()
  }

  /** Sends until nothing waits. Only one request is under way at a time, which keeps the order of the calls. */
  #send(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
    return this.#sending
  }

  async #sendAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const calls = nextRequest(this.#queue)
      if (!(await this.#deliver(calls))) return
      this.#queue.splice(0, calls.length)
    }
  }

  /** Sends calls until they are recorded or refused. @returns false if the tracker gave up */
  async #deliver(calls: readonly Call[]): Promise<boolean> {
    for (let failures = 1; ; failures++) {
      try {
        await this.#request(calls)
        return true
      } catch (thrown) {
        if (this.#giveUp.signal.aborted) return false
        const error = thrown as CustomerDataError
        if (isTransient(error)) {
          await wait(waitBeforeRetry(error, failures), { signal: this.#giveUp.signal, keepsRunning: false })
          continue
        }
        // One call can make the service refuse a whole request, so the others are sent without it.
        const isDivisible = calls.length > 1 && (error.status === 400 || error.status === 413)
        if (!isDivisible) {
          this.#lose(error, calls)
          return true
        }
        const half = Math.ceil(calls.length / 2)
        return (await this.#deliver(calls.slice(0, half))) && (await this.#deliver(calls.slice(half)))
      }
    }
  }

  async #request(calls: readonly Call[]): Promise<void> {
    const contents = calls.map(({ json }) => JSON.parse(json))
    const options = { signal: this.#giveUp.signal }
    if (calls[0]?.kind === 'person') {
      await this.call('POST /v1/identify', contents[0], options)
      return
    }
    const { results } = await this.call<SendEventsResult>('POST /v1/events', { events: contents }, options)
    for (const { index, error } of results) {
      const call = calls[index]
      if (error && call) this.#lose(new CustomerDataError(error.message, { code: error.code, status: 200 }), [call])
    }
  }

  #lose(error: CustomerDataError, calls: readonly Call[]): void {
    try {
      this.#options.onError(
        error,
        calls.map(({ json }) => JSON.parse(json)),
      )
    } catch (thrown) {
      // A mistake in onError must not end the tracker.
      console.error(thrown)
    }
  }
}

type Timer = ReturnType<typeof setTimeout>

/** Only Node and what resembles it has a process. */
const runtime = globalThis as {
  process?: { on?(event: string, listener: () => void): void; off?(event: string, listener: () => void): void }
}

function print(error: CustomerDataError, calls: readonly unknown[]): void {
  console.error(`customer-data: calls lost: ${calls.length || 1} (${error.code}): ${error.message}`)
}

/** The first calls of a queue that fit into a request: events together, or one person. */
function nextRequest(queue: readonly Call[]): Call[] {
  const [first] = queue
  if (first?.kind === 'person') return [first]
  let characters = 0
  const end = queue.findIndex(({ kind, json }, index) => {
    characters += json.length
    return kind === 'person' || index >= EVENTS_PER_REQUEST || (index > 0 && characters > CHARACTERS_PER_REQUEST)
  })
  return queue.slice(0, end === -1 ? queue.length : end)
}
