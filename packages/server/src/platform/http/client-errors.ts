import type { Socket } from 'node:net'
import { newId } from '../ids.ts'

/** Answers requests that Node cannot parse as HTTP, in the usual error shape. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const [status, code, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'headers_too_large', 'The URL and headers are larger than 16 KiB.']
      : ['400 Bad Request', 'malformed_http', 'The request is not valid HTTP.']
  const requestId = newId()
  const body = JSON.stringify({ status: 'error', error: { code, message, request_id: requestId } })
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\nx-request-id: ${requestId}\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
