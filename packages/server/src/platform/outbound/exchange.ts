import type { Dispatcher } from 'undici'

/** How long to read the body of a 2xx, which does not affect the outcome. */
const SUCCESS_BODY_MS_MAX = 1_000

/** A response, with the part of its body that is kept. */
export interface Exchanged {
  status: number
  body: Buffer
}

/** Timed out, in whatever phase. */
export class ExchangeTimeout extends Error {}

interface Limits {
  timeoutMs: number
  /** A longer body is truncated and its connection closed. */
  bodyBytesMax: number
  signal?: AbortSignal | undefined
}

/**
 * One request and its response, with undici's lowest-level interface: at thousands of calls a second, its streams and
 * abort signals cost more than the calls. A 2xx counts once its headers arrive, whatever happens to its body; any other
 * response must be complete, because its body may matter.
 * @throws undici's error, ExchangeTimeout, or the signal's reason.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { timeoutMs, bodyBytesMax, signal }: Limits,
): Promise<Exchanged> {
  // The caller aborted while the call was waiting for its turn.
  if (signal?.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let ended = false
    let status = 0
    let length = 0
    const chunks: Buffer[] = []

    // Not AbortSignal.timeout, whose timer would outlive a call of five milliseconds.
    let timer = setTimeout(() => giveUp(new ExchangeTimeout()), timeoutMs)
    const forget = signal === undefined ? null : onAbort(signal, () => giveUp(signal.reason as Error))

    function end(finish: () => void): void {
      if (ended) return
      ended = true
      clearTimeout(timer)
      forget?.()
      finish()
    }

    function giveUp(reason: Error): void {
      fail(reason)
      controller?.abort(reason)
    }

    const done = () => end(() => resolve({ status, body: Buffer.concat(chunks).subarray(0, bodyBytesMax) }))
    const isSuccess = () => status >= 200 && status < 300
    const fail = (error: Error) => (isSuccess() ? done() : end(() => reject(error)))

    dispatcher.dispatch(options, {
      onRequestStart: (started) => {
        controller = started
        // It was waiting for a connection when it was aborted.
        if (ended) started.abort(new ExchangeTimeout())
      },
      onResponseStart: (_, statusCode) => {
        status = statusCode
        if (ended || !isSuccess()) return
        clearTimeout(timer)
        timer = setTimeout(() => giveUp(new ExchangeTimeout()), SUCCESS_BODY_MS_MAX)
      },
      onResponseData: (receiving, chunk) => {
        chunks.push(chunk)
        length += chunk.length
        if (length <= bodyBytesMax) return
        done()
        receiving.abort(new Error('The rest of the body is not needed.'))
      },
      onResponseEnd: done,
      onResponseError: (_, error) => fail(error),
    })
  })
}

interface Listener {
  call(): void
  /** Its index in the list. */
  index: number
}

const listeners = new WeakMap<AbortSignal, Listener[]>()

/**
 * Replaces addEventListener, which searches all listeners at each call, of a signal that thousands of calls share. The
 * list is an array because a Set that changes so often is reallocated repeatedly, and an old one keeps alive what was
 * deleted from its successors: every call was copied twice before it was collected.
 */
function onAbort(signal: AbortSignal, call: () => void): () => void {
  const list = listeners.get(signal) ?? listenersOf(signal)
  const listener = { call, index: list.length }
  list.push(listener)
  return () => {
    const last = list.pop()
    if (last === undefined || last === listener) return
    // Move the last one into its place.
    list[listener.index] = last
    last.index = listener.index
  }
}

function listenersOf(signal: AbortSignal): Listener[] {
  const list: Listener[] = []
  signal.addEventListener('abort', () => {
    for (const { call } of list.splice(0)) call()
  })
  listeners.set(signal, list)
  return list
}
