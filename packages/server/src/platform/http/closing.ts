import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

/** How long a connection without a request may still send one when the service stops. */
const FIRST_REQUEST_MS = 1_000

/**
 * Closes connections when the service stops: those of open requests with their responses, and those that never sent a
 * request, such as the ones that browsers open in advance. Otherwise the service would wait until their clients close
 * them. Call it before any route is added.
 * @returns whether the service is stopping, for handlers that wait.
 */
export function watchClosing(app: FastifyInstance): () => boolean {
  let closing = false
  const unused = new Set<Socket>()
  app.server.on('connection', (socket) => {
    unused.add(socket)
    socket.once('close', () => unused.delete(socket))
  })
  app.server.on('request', ({ socket }) => unused.delete(socket))
  app.addHook('preClose', async () => {
    closing = true
    const closeUnused = () => {
      for (const socket of unused) socket.destroy()
    }
    setTimeout(closeUnused, FIRST_REQUEST_MS).unref()
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
  return () => closing
}
