import { createReadStream } from 'node:fs'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { audit } from '../operations/audit.ts'
import { idInPath } from '../operations/declare.ts'
import { EVERYWHERE } from '../operations/errors.ts'
import { callerOf } from '../operations/idempotency.ts'
import type { App } from '../platform/http/app-types.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import { errorResponses, fileResponse, pathId } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { exportDirectory, fileOfExport } from './exports.ts'
import { entryOf } from './operations.ts'

/** Downloads an export's file. Not an operation, because it is streamed. */
export function exportFileRoute(
  app: App,
  {
    clock,
    config,
    rateLimiter,
  }: {
    clock: Clock
    config: Pick<Config, 'dataDirectory'>
    rateLimiter: Pick<RateLimiter, 'checkAudited'>
  },
): void {
  const directory = exportDirectory(config.dataDirectory)
  app.get(
    '/v1/exports/:export_id/file',
    {
      exposeHeadRoute: false,
      config: { access: 'data:export', whileClosed: true },
      schema: {
        operationId: 'downloadExport',
        tags: ['Exports'],
        summary: 'Download the file of an export',
        description: 'The audit log records each download.',
        params: Type.Object({ export_id: idInPath('export') }),
        response: {
          200: fileResponse('application/x-tar', 'The file.'),
          ...errorResponses([
            ...EVERYWHERE,
            '404 export_file_missing',
            '404 not_found',
            '409 export_not_ready',
            '410 export_expired',
          ]),
        },
      },
    },
    async ({ tenant, actor, params }, reply) => {
      rateLimiter.checkAudited(callerOf(actor))
      const now = clock()
      const exportId = pathId(params.export_id, 'export')
      const { path, sizeBytes } = await fileOfExport(tenant, directory, exportId, now)
      await audit(tenant, { actor, ...entryOf('export.downloaded', exportId) }, now)
      return reply
        .type('application/x-tar')
        .headers({
          'content-length': sizeBytes,
          'content-disposition': `attachment; filename="export-${exportId}.tar"`,
          'cache-control': 'no-store',
        })
        .send(createReadStream(path))
    },
  )
}
