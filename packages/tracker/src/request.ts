import { attempt, later } from './guard.ts'

/** Timeout of a request. Event ids make retries harmless. */
export const RESPONSE_MS_MAX = 2_000

/**
 * Posts a text, which needs no preflight. The page may have replaced fetch, so every other attempt uses XMLHttpRequest.
 * @param done is called once, with status 0 if there is no response.
 */
export function post(url: string, body: string, tries: number, done: (status: number, response: string) => void): void {
  let isDone = false
  const finish = (status: number, response: string) => {
    if (!isDone) done(status, response)
    isDone = true
  }
  const fail = () => finish(0, '')
  later(fail, RESPONSE_MS_MAX)
  const isSent = attempt(() =>
    tries % 2
      ? byXhr(url, body, finish)
      : fetch(url, { ...request(body), signal: AbortSignal.timeout?.(RESPONSE_MS_MAX) }).then(
          (response) => response.text().then((text) => finish(response.status, text), fail),
          fail,
        ),
  )
  if (!isSent) later(fail, 0)
}

function byXhr(url: string, body: string, finish: (status: number, response: string) => void): XMLHttpRequest {
  const request = new XMLHttpRequest()
  request.open('POST', url)
  request.withCredentials = true
  request.timeout = RESPONSE_MS_MAX
  request.onloadend = () => finish(request.status, request.responseText)
  request.send(body)
  return request
}

function request(body: string): RequestInit {
  return { method: 'POST', body, credentials: 'include', keepalive: true }
}

/**
 * Posts while the page is hidden or unloading.
 * @param failed is called if the request fails while the page still exists.
 * @returns whether the browser accepted the request.
 */
export function postLast(url: string, body: string, failed: () => void): unknown {
  return attempt(() =>
    // fetch comes first, because a beacon has no origin if the page sends no referrer; but the page may have replaced fetch.
    /\[native/.test(`${fetch}`)
      ? fetch(url, request(body)).then(({ ok }) => ok || failed(), failed)
      : navigator.sendBeacon(url, body),
  )
}
