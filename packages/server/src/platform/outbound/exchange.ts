import type { Dispatcher } from 'undici'

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
 * One request and its whole response, by undici's lowest interface: at thousands of calls a second its streams and abort
 * signals cost more than the calls do.
 * @throws what undici says, ExchangeTimeout, or the signal's reason.
 */
export function exchange(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  { timeoutMs, bodyBytesMax, signal }: Limits,
): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let ended = false
    let status = 0
    let length = 0
    const chunks: Buffer[] = []

    // Not AbortSignal.timeout, whose timer lives on after a call that took five milliseconds.
    const timer = setTimeout(() => giveUp(new ExchangeTimeout()), timeoutMs)
    const forget = signal === undefined ? null : onAbort(signal, () => giveUp(signal.reason as Error))

    function end(settle: () => void): void {
      if (ended) return
      ended = true
      clearTimeout(timer)
      forget?.()
      settle()
    }

    function giveUp(reason: Error): void {
      end(() => reject(reason))
      controller?.abort(reason)
    }

    const answer = () => end(() => resolve({ status, body: Buffer.concat(chunks).subarray(0, bodyBytesMax) }))

    dispatcher.dispatch(options, {
      onRequestStart: (started) => {
        controller = started
        // It waited for a connection until nobody waited for it any more.
        if (ended) started.abort(new ExchangeTimeout())
      },
      onResponseStart: (_, statusCode) => {
        status = statusCode
      },
      onResponseData: (receiving, chunk) => {
        chunks.push(chunk)
        length += chunk.length
        if (length <= bodyBytesMax) return
        answer()
        receiving.abort(new Error('The rest of the body is not wanted.'))
      },
      onResponseEnd: answer,
      onResponseError: (_, error) => end(() => reject(error)),
    })
  })
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>()

/** As addEventListener, which looks through all listeners of a signal that thousands of calls share, at each call. */
function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    queueMicrotask(listener)
    return () => {}
  }
  let ours = listeners.get(signal)
  if (!ours) {
    const all = new Set<() => void>()
    signal.addEventListener('abort', () => {
      for (const each of all) each()
    })
    listeners.set(signal, all)
    ours = all
  }
  const set = ours
  set.add(listener)
  return () => set.delete(listener)
}
