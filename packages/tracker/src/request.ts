import { attempt, guard } from './guard.ts'

/** Timeout of a request. Event ids make retries harmless. */
export const RESPONSE_MS_MAX = 2_000

/**
 * Posts a text, which needs no preflight. Pages replace fetch more often than XMLHttpRequest, on which replacements are built.
 * @param done is called once, with status 0 if there is no response; never if the page broke XMLHttpRequest: then events are
 * sent when the page is hidden.
 */
export function post(url: string, body: string, done: (status: number, response: string) => void): void {
  attempt(() => {
    const request = new XMLHttpRequest()
    request.open('POST', url)
    request.withCredentials = true
    request.timeout = RESPONSE_MS_MAX
    request.onloadend = guard(() => done(request.status, request.responseText))
    request.send(body)
  })
}

/** An id in a response of the service; undefined in that of another server, such as a page that a site shows for any URL. */
export function idIn(response: string, field: string): string | undefined {
  return new RegExp(`^{.*"${field}":"([\\w.~-]+)"`).exec(response)?.[1]
}

/**
 * Posts while the page is hidden or unloading.
 * @param failed is called if the request fails while the page still exists.
 * @returns whether the page has a fetch that accepted the request. A beacon has no origin if the page sends no referrer.
 */
export function postLast(url: string, body: string, failed: () => void): unknown {
  return attempt(() =>
    fetch(url, { method: 'POST', body, credentials: 'include', keepalive: true })
      .then((response) => response.text())
      .then((text) => idIn(text, 'session_id') || failed(), failed),
  )
}
