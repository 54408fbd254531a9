import Type from 'typebox'
import { ServiceError } from './errors.ts'
import type { App } from './http/app-types.ts'
import { errorResponses } from './http/responses.ts'
import type { Metrics } from './metrics.ts'
import { TEXT, WORD } from './personal.ts'

const OK = Type.Literal('ok')
/** Parameters that are unknown are ignored, and named here. */
const WARNINGS = Type.Optional(Type.Array(Type.String(TEXT)))

/** Health, readiness and metrics for operators and load balancers. */
export function healthRoutes(
  app: App,
  {
    findProblems,
    metrics,
  }: {
    findProblems(): Promise<string[]>
    metrics: Metrics
  },
): void {
  app.get(
    '/v1/health',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'health',
        summary: 'Whether the process is running',
        tags: ['Health'],
        security: [],
        response: { 200: Type.Object({ status: OK, warnings: WARNINGS }) },
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/health/ready',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'ready',
        summary: 'Whether both databases respond, have disk space, and have the tables that the service needs',
        tags: ['Health'],
        security: [],
        response: {
          200: Type.Object({
            status: OK,
            postgres: Type.String(WORD),
            clickhouse: Type.String(WORD),
            warnings: WARNINGS,
          }),
          ...errorResponses(['503 not_ready']),
        },
      },
    },
    async () => {
      const problems = await findProblems()
      if (problems.length > 0) {
        throw new ServiceError(503, 'not_ready', problems.join(' '), { retryAfterSeconds: 2 })
      }
      return { status: 'ok' as const, postgres: 'ok', clickhouse: 'ok' }
    },
  )

  app.get('/metrics', { config: { access: 'public' }, schema: { hide: true } as object }, async (_request, reply) => {
    reply.type(metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}
