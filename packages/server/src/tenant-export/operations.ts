import Type from 'typebox'
import { entryAbout } from '../operations/audit.ts'
import { idInPath, operation } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id } from '../platform/http/responses.ts'
import { EXPORTS_PER_DAY, Export, listExports, readExport, requestExport } from './exports.ts'

const tag = 'Exports'

export const entryOf = entryAbout('export')

export const EXPORT_OPERATIONS = [
  operation({
    name: 'listExports',
    tag,
    http: 'GET /v1/exports',
    command: 'export list',
    scope: 'data:export',
    whileClosed: true,
    summary: "List the exports of the tenant's data, newest first",
    input: pageParameters(20, 100),
    output: { exports: Type.Array(Export), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { exports, total } = await listExports(tenant, { page, limit }, now)
      return { exports, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'createExport',
    tag,
    http: 'POST /v1/exports',
    command: 'export create',
    scope: 'data:export',
    whileClosed: true,
    summary: 'Request a file with all data of the tenant; if one is in progress, its id is returned',
    description: `At most ${EXPORTS_PER_DAY} in 24 hours.`,
    input: {},
    output: { export_id: Id },
    status: 202,
    errors: ['429 export_limit_reached'],
    forAudit: { isNew: Type.Boolean() },
    async run({ tenant, actor, now }) {
      const { exportId, isNew } = await requestExport(tenant, actor, now)
      return { export_id: exportId, isNew }
    },
    audit: ({ export_id, isNew }) => (isNew ? entryOf('export.created', export_id) : null),
  }),
  operation({
    name: 'getExport',
    tag,
    http: 'GET /v1/exports/:export_id',
    command: 'export get',
    scope: 'data:export',
    whileClosed: true,
    summary: "Get an export's progress and, once it is ready, the URL of its file",
    input: { export_id: idInPath('export') },
    output: { export: Export },
    run: async ({ tenant, now }, { export_id }) => ({ export: await readExport(tenant, export_id, now) }),
  }),
]
