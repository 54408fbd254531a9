import Type from 'typebox'
import { answerTo, tableOf } from '../insights/kinds.ts'
import type { InsightServices } from '../insights/question.ts'
import { audit } from '../operations/audit.ts'
import { idInPath } from '../operations/declare.ts'
import { EVERYWHERE } from '../operations/errors.ts'
import { callerOf } from '../operations/idempotency.ts'
import { requireScopeOf } from '../operations/scopes.ts'
import type { App } from '../platform/http/app-types.ts'
import { sendCsv } from '../platform/http/csv.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { errorResponses, fileResponse, pathId } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { entryOf } from './operations.ts'
import { readReport } from './reports.ts'

/** The answer of a report as a file. */
export function reportRoutes(
  app: App,
  {
    clock,
    rateLimiter,
    compileEventFilter,
    copyPeople,
  }: InsightServices & { clock: Clock; rateLimiter: Pick<RateLimiter, 'checkAudited'> },
): void {
  app.get(
    '/v1/reports/:report_id/export.csv',
    {
      exposeHeadRoute: false,
      config: { access: 'events:read' },
      schema: {
        operationId: 'exportReport',
        tags: ['Reports'],
        summary: 'Download the answer of a report as a CSV file',
        description:
          'A trend has a line for each series and interval, and one without an interval for the total of the series. The properties of a breakdown are columns, and `is_others` says that a line is about all other values together; with `compare`, `is_compared` says that a line is of the compared range. A text that a spreadsheet would evaluate as a formula gets a leading apostrophe. If the question is about contacts or companies, you also need the scope `contacts:read`. The audit log records each download.',
        params: Type.Object({ report_id: idInPath('report') }),
        response: {
          200: fileResponse('text/csv', 'The names of the columns, and a line for each figure.'),
          ...errorResponses([...EVERYWHERE, '404 not_found', '429 too_many_exports']),
        },
      },
    },
    async (request, reply) => {
      const { tenant, actor, params } = request
      rateLimiter.checkAudited(callerOf(actor))
      const now = clock()
      const report = await readReport(tenant, pathId(params.report_id, 'report'))
      const requireScope = (scope: 'contacts:read') => requireScopeOf(request, scope)
      const context = { tenant, now, requireScope, warn: () => {}, compileEventFilter, copyPeople, visibleOnly: false }
      const { columns, rows } = tableOf(report, await answerTo(context, report, 'report.question'))
      return sendCsv(tenant, reply, {
        name: `report-${now.toISOString().slice(0, 10)}.csv`,
        columns,
        pages: onePage(rows),
        cellsOf: (row) => row,
        beforeSending: () =>
          audit(tenant, { actor, ...entryOf('report.exported', report.report_id, { name: report.name }) }, now),
      })
    },
  )
}

async function* onePage<Row>(rows: readonly Row[]) {
  yield rows
}
