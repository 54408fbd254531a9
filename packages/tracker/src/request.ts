import { attempt, later } from './guard.ts'

/** No answer by then is no answer; the event ids make a second try harmless. */
export const ANSWER_MS_MAX = 2_000

/**
 * Posts a text, which needs no preflight. fetch is what the page may have replaced; every other try goes by
 * XMLHttpRequest.
 * @param done is called once, with status 0 when there is no answer.
 */
export function post(url: string, body: string, tries: number, done: (status: number, answer: string) => void): void {
  let isDone = false
  const finish = (status: number, answer: string) => {
    if (!isDone) done(status, answer)
    isDone = true
  }
  const fail = () => finish(0, '')
  later(fail, ANSWER_MS_MAX)
  const isSent = attempt(() =>
    tries % 2
      ? byXhr(url, body, finish)
      : fetch(url, { ...request(body), signal: AbortSignal.timeout?.(ANSWER_MS_MAX) }).then(
          (response) => response.text().then((answer) => finish(response.status, answer), fail),
          fail,
        ),
  )
  if (!isSent) later(fail, 0)
}

function byXhr(url: string, body: string, finish: (status: number, answer: string) => void): XMLHttpRequest {
  const request = new XMLHttpRequest()
  request.open('POST', url)
  request.withCredentials = true
  request.timeout = ANSWER_MS_MAX
  request.onloadend = () => finish(request.status, request.responseText)
  request.send(body)
  return request
}

function request(body: string): RequestInit {
  return { method: 'POST', body, credentials: 'include', keepalive: true }
}

/**
 * Posts while the page goes away, or may.
 * @param failed is called when the page is still there to see that it did not arrive. @returns whether the browser took it.
 */
export function postLast(url: string, body: string, failed: () => void): unknown {
  return attempt(() =>
    // A beacon of a page without referrer names no origin, so fetch comes first; but a replaced one may do anything.
    /\[native/.test(`${fetch}`)
      ? fetch(url, request(body)).then(({ ok }) => ok || failed(), failed)
      : navigator.sendBeacon(url, body),
  )
}
