import type { Dispatcher } from 'undici'

/** So long a 2xx may go on with its body, which decides nothing. */
const SUCCESS_BODY_MS_MAX = 1_000

/** What came back, as much of the body as is kept. */
export interface Exchanged {
  status: number
  body: Buffer
}

/** Ended by its time limit, whatever it waited for. */
export class ExchangeTimeout extends Error {}

interface Limits {
  timeoutMs: number
  /** A longer body is cut off together with its connection. */
  bodyBytesMax: number
  signal?: AbortSignal | undefined
}

/**
 * One request and its response, by undici's lowest interface: at thousands of calls a second its streams and abort
 * signals cost more than the calls do. A 2xx is an answer once its headers are there, whatever becomes of its body; any
 * other response once it is whole, because its body may matter.
 * @throws what undici says, ExchangeTimeout, or the signal's reason.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { timeoutMs, bodyBytesMax, signal }: Limits,
): Promise<Exchanged> {
  // The caller gave up while the call waited for its turn.
  if (signal?.aborted) return Promise.reject(signal.reason as Error)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let ended = false
    let status = 0
    let length = 0
    const chunks: Buffer[] = []

    // Not AbortSignal.timeout, whose timer lives on after a call that took five milliseconds.
    let timer = setTimeout(() => giveUp(new ExchangeTimeout()), timeoutMs)
    const forget = signal === undefined ? null : onAbort(signal, () => giveUp(signal.reason as Error))

    function end(settle: () => void): void {
      if (ended) return
      ended = true
      clearTimeout(timer)
      forget?.()
      settle()
    }

    function giveUp(reason: Error): void {
      fail(reason)
      controller?.abort(reason)
    }

    const answer = () => end(() => resolve({ status, body: Buffer.concat(chunks).subarray(0, bodyBytesMax) }))
    const isSuccess = () => status >= 200 && status < 300
    const fail = (error: Error) => (isSuccess() ? answer() : end(() => reject(error)))

    dispatcher.dispatch(options, {
      onRequestStart: (started) => {
        controller = started
        // It waited for a connection until nobody waited for it any more.
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
        answer()
        receiving.abort(new Error('The rest of the body is not wanted.'))
      },
      onResponseEnd: answer,
      onResponseError: (_, error) => fail(error),
    })
  })
}

interface Listener {
  call(): void
  /** Where it stands in the list. */
  index: number
}

const listeners = new WeakMap<AbortSignal, Listener[]>()

/**
 * As addEventListener, which looks through all listeners of a signal that thousands of calls share, at each call. The list
 * is an array because a Set that changes so often is made anew again and again, and each that has grown old keeps alive
 * what was deleted from its successors: every call was copied twice before it was collected.
 */
function onAbort(signal: AbortSignal, call: () => void): () => void {
  const list = listeners.get(signal) ?? listenersOf(signal)
  const listener = { call, index: list.length }
  list.push(listener)
  return () => {
    const last = list.pop()
    if (last === undefined || last === listener) return
    // The last one takes its place.
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
