import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { rangeOf, rangeParameters } from '../platform/http/days.ts'
import { success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { VIEWER } from './access.ts'
import { readOverview } from './overview.ts'
import { Overview } from './overview-schema.ts'

/** The figures of the first page. */
export function overviewRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/overview',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        querystring: Type.Object(rangeParameters),
        response: { 200: Type.Intersect([success({}), Overview]) },
      },
    },
    async ({ tenant, query }) => {
      const overview = await readOverview(tenant, rangeOf(query, clock()))
      return { status: 'success' as const, ...overview }
    },
  )
}
