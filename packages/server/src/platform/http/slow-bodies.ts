import type { FastifyInstance } from 'fastify'
import { TIMED_OUT } from './client-errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long its body may take to arrive; default: a minute. */
    bodySeconds?: number
  }
}

const BODY_SECONDS_MAX = 60

/**
 * Closes connections whose bodies do not arrive in time, so that they do not occupy them. Node's own limit is the same
 * for every request.
 */
export function boundSlowBodies(app: FastifyInstance): void {
  app.addHook('onRequest', (request, _reply, next) => {
    const { headers, socket } = request.raw
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0
    if (hasBody) {
      const { bodySeconds = BODY_SECONDS_MAX } = request.routeOptions.config
      const timer = setTimeout(() => {
        if (request.raw.complete) return
        app.server.emit('clientError', Object.assign(new Error('a slow body'), { code: TIMED_OUT }), socket)
      }, bodySeconds * 1_000)
      request.raw.once('close', () => clearTimeout(timer))
    }
    next()
  })
}
