import type { Socket } from 'node:net'
import { newId } from '../ids.ts'

/** Responds to requests that Node cannot parse as HTTP, or that do not arrive in time, in the usual error shape. */
export function sendClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const [status, code, message] = RESPONSES.get(error.code) ?? MALFORMED
  const requestId = newId()
  const body = JSON.stringify({ status: 'error', error: { code, message, request_id: requestId } })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** What Node, and slow-bodies.ts, call a request that does not arrive in time. */
export const TIMED_OUT = 'ERR_HTTP_REQUEST_TIMEOUT'

const MALFORMED = ['400 Bad Request', 'malformed_http', 'The request is not valid HTTP.'] as const
const RESPONSES = new Map<string | undefined, readonly [status: string, code: string, message: string]>([
  [
    'HPE_HEADER_OVERFLOW',
    ['431 Request Header Fields Too Large', 'headers_too_large', 'The URL and headers are larger than 16 KiB.'],
  ],
  [TIMED_OUT, ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time. Send it again.']],
])
