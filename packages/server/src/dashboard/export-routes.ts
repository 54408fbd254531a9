import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { ServiceError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Clock } from '../platform/time.ts'
import {
  Export,
  exportDirectory,
  fileOfExport,
  listExports,
  orderExport,
  readExport,
} from '../tenant-export/exports.ts'
import { ADMIN } from './access.ts'
import { audited } from './audited.ts'

const Path = Type.Object({ export_id: Type.String() })

export interface ExportRouteDependencies {
  clock: Clock
  jobs: Jobs
  config: Pick<Config, 'dataDirectory'>
}

/** All data of the tenant as one file: order it, watch it being made, fetch it. */
export function exportRoutes(app: App, { clock, jobs, config }: ExportRouteDependencies): void {
  const directory = exportDirectory(config.dataDirectory)

  app.post(
    '/api/export',
    { config: { access: ADMIN }, schema: { hide: true, response: { 202: success({ export_id: Id }) } } },
    async (request, reply) => {
      const now = clock()
      const { exportId } = await audited(
        request,
        now,
        (tx) => orderExport(tx, jobs, request.actor, now),
        (ordered) => ({ action: 'export.ordered', subjectKind: 'export', subjectId: ordered.exportId }),
      )
      return reply.code(202).send({ status: 'success', export_id: exportId })
    },
  )

  app.get(
    '/api/export',
    { config: { access: ADMIN }, schema: { hide: true, response: { 200: success({ exports: Type.Array(Export) }) } } },
    async ({ tenant }) => ({ status: 'success' as const, exports: await listExports(tenant, clock()) }),
  )

  app.get(
    '/api/export/:export_id',
    {
      config: { access: ADMIN },
      schema: { hide: true, params: Path, response: { 200: success({ export: Export }) } },
    },
    async ({ tenant, params }) => {
      const found = await readExport(tenant, pathId(params.export_id, 'export'), clock())
      return { status: 'success' as const, export: found }
    },
  )

  app.get(
    '/api/export/:export_id/file',
    { exposeHeadRoute: false, config: { access: ADMIN }, schema: { hide: true, params: Path } },
    async (request, reply) => {
      const now = clock()
      const exportId = pathId(request.params.export_id, 'export')
      const { path } = await fileOfExport(request.tenant, directory, exportId, now)
      const found = await stat(path).catch(() => null)
      if (!found) {
        const message = 'The file is not on this server: processes of one service must share their data directory.'
        throw new ServiceError(404, 'export_file_missing', message)
      }
      await audited(
        request,
        now,
        async () => {},
        () => ({ action: 'export.fetched', subjectKind: 'export', subjectId: exportId }),
      )
      return reply
        .type('application/x-tar')
        .headers({
          'content-length': found.size,
          'content-disposition': `attachment; filename="export-${exportId}.tar"`,
          'cache-control': 'no-store',
        })
        .send(createReadStream(path))
    },
  )
}
