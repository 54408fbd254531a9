import { connect } from 'node:net'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendClientError } from './client-errors.ts'
import { boundSlowBodies } from './slow-bodies.ts'

const app = Fastify({ requestTimeout: 0, clientErrorHandler: sendClientError })
boundSlowBodies(app)
app.post('/quick', { config: { bodySeconds: 0.1 } }, async () => 'received')
app.post('/patient', { config: { bodySeconds: 600 } }, async () => 'received')

let port = 0

beforeAll(async () => {
  port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
})
afterAll(() => app.close())

/** Sends the start of a body, and its end once the first byte of a response or `end` arrives. @returns the response. */
function send(path: string, end?: Promise<unknown>): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nab`,
      )
      void end?.then(() => socket.write('cd'))
    })
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('close', () => resolve(text))
    socket.on('error', reject)
  })
}

test('a body that does not arrive in the time of its route ends the connection, and others do not', async () => {
  const quick = send('/quick')
  // Sent later than the other route allows.
  const patient = send('/patient', quick)
  expect(await quick).toMatch(/^HTTP\/1\.1 408 .*"request_timeout"/s)
  expect(await patient).toMatch(/^HTTP\/1\.1 200 .*received/s)
})
