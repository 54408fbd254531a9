import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics.ts'

/** Measures every request by its route's name, and logs failed or slow ones. */
export function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    // The duration of a live feed says nothing about the service.
    if (String(reply.getHeader('content-type')).startsWith('text/event-stream')) return
    const route = routeName(request)
    const seconds = reply.elapsedTime / 1000
    metrics.requestSeconds.observe({ route, method: request.method, status: reply.statusCode }, seconds)
    // Only the route's name: a path or a query may contain user input.
    const line = {
      route,
      method: request.method,
      status: reply.statusCode,
      duration_ms: Math.round(reply.elapsedTime),
      tenant_id: request.tenant?.id,
    }
    if (reply.statusCode >= 500 || seconds > 1) request.log.warn(line, 'request')
    else request.log.debug(line, 'request')
  })
}

function routeName(request: FastifyRequest): string {
  const { schema, url } = request.routeOptions
  return (schema as { operationId?: string } | undefined)?.operationId ?? url ?? 'unknown'
}
