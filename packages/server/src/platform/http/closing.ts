import type { FastifyInstance } from 'fastify'

/**
 * Closes connections of open requests with their answers when the service stops. Otherwise the service would wait until
 * their clients close them. Call it before any route is added.
 * @returns whether the service is stopping, for handlers that wait.
 */
export function watchClosing(app: FastifyInstance): () => boolean {
  let closing = false
  app.addHook('preClose', async () => {
    closing = true
  })
  app.addHook('onSend', async (_request, reply) => {
    if (closing) reply.header('connection', 'close')
  })
  return () => closing
}
