import { sql } from 'kysely'
import Type from 'typebox'
import { ServiceError } from './errors.ts'
import type { App } from './http/app-types.ts'
import type { Metrics } from './metrics.ts'
import type { Stores } from './tenant.ts'

interface Dependencies {
  stores: Stores
  metrics: Metrics
}

const READY_WITHIN_MS = 2_000

/** What operators and load balancers ask: is it alive, is it ready, how is it doing. */
export function operationsRoutes(app: App, { stores, metrics }: Dependencies): void {
  app.get(
    '/v1/health',
    {
      config: { access: 'public' },
      schema: {
        operationId: 'health',
        summary: 'Whether the process is alive',
        tags: ['Operations'],
        security: [],
        response: { 200: Type.Object({ status: Type.Literal('ok') }) },
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
        summary: 'Whether both engines answer',
        tags: ['Operations'],
        security: [],
        response: {
          200: Type.Object({ status: Type.Literal('ok'), postgres: Type.String(), clickhouse: Type.String() }),
        },
      },
    },
    async () => {
      const [postgres, clickhouse] = await Promise.all([
        answers(sql`SELECT 1`.execute(stores.database).then(() => true)),
        answers(stores.clickhouse.ping()),
      ])
      const away = [postgres ? '' : 'PostgreSQL', clickhouse ? '' : 'ClickHouse'].filter(Boolean)
      if (away.length > 0) {
        const message = `${away.join(' and ')} did not answer within ${READY_WITHIN_MS / 1000} seconds.`
        throw new ServiceError(503, 'not_ready', message, { headers: { 'retry-after': '2' } })
      }
      return { status: 'ok' as const, postgres: 'ok', clickhouse: 'ok' }
    },
  )

  app.get('/metrics', { config: { access: 'public' }, schema: { hide: true } as object }, async (_request, reply) => {
    reply.type(metrics.registry.contentType)
    return metrics.registry.metrics()
  })
}

async function answers(work: Promise<boolean>): Promise<boolean> {
  const tooLate = new Promise<boolean>((resolve) => {
    setTimeout(() => resolve(false), READY_WITHIN_MS).unref()
  })
  return Promise.race([work.catch(() => false), tooLate])
}
