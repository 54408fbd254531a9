import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Metrics } from '../metrics.ts'

/** Measures every request by its route's name, and logs what failed or was slow. */
export function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', async (request, reply) => {
    // A feed lasts as long as somebody watches it, which says nothing of the service.
    if (String(reply.getHeader('content-type')).startsWith('text/event-stream')) return
    const route = routeName(request)
    const seconds = reply.elapsedTime / 1000
    metrics.requestSeconds.observe({ route, method: request.method, status: reply.statusCode }, seconds)
    // The route's name only: a path or a query may hold what people typed.
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
