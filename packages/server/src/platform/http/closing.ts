import type { FastifyInstance } from 'fastify'

/**
 * Lets the connections of requests that are under way when the service stops go with their answers. Kept open they
 * would be waited for, and the service would stop only when their clients close them. Call it before any route is added.
 * @returns whether the service is stopping, for handlers that wait for something.
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
