import Type from 'typebox'
import { asking, type InsightServices } from '../insights/question.ts'
import { entryAbout } from '../operations/audit.ts'
import { type FurtherScopes, idInPath, operationsWith } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { searchText } from '../platform/http/query-parameters.ts'
import { Changed, Id, Nullable } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { DASHBOARD_FIELDS, Dashboard, etagOfDashboard } from './dashboard-object.ts'
import { createDashboard, deleteDashboard, listDashboards, readDashboard, updateDashboard } from './dashboards.ts'
import { requireDefaults, runDashboard, TileResult } from './run-dashboard.ts'
import { findSubscription, Subscription } from './subscriptions.ts'

const tag = 'Dashboards'
const DashboardPath = { dashboard_id: idInPath('dashboard') }
const Name = Type.String({ examples: ['Growth'] })
/** A page of dashboards of this size must fit into a response. */
const DASHBOARD_BYTES_MAX = 128 * 1024
const SHOWS: readonly FurtherScopes[] = [{ scopes: ['events:read'] }]

const { tiles, range, where } = DASHBOARD_FIELDS
const example = {
  name: 'Growth',
  tiles: [{ text: '# Growth', x: 0, y: 0, width: 12, height: 1 }],
  range: { last: { value: 7, unit: 'day' } },
}

export const entryOf = entryAbout('dashboard')
const dashboardOperation = operationsWith<InsightServices>()

export const DASHBOARD_OPERATIONS = [
  dashboardOperation({
    name: 'listDashboards',
    tag,
    http: 'GET /v1/dashboards',
    command: 'dashboard list',
    scope: 'events:read',
    summary: 'List the dashboards, the one that changed last first',
    input: { search: searchText('Words that must all occur in the name.'), ...pageParameters(50, 100) },
    output: { dashboards: Type.Array(Dashboard), pagination: Pagination },
    async run({ tenant }, { search, page, limit }) {
      const { dashboards, total } = await listDashboards(tenant, search, { page, limit })
      return { dashboards, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  dashboardOperation({
    name: 'createDashboard',
    tag,
    http: 'POST /v1/dashboards',
    command: 'dashboard create',
    scope: 'segments:write',
    also: SHOWS,
    summary: 'Place reports and texts side by side',
    description: 'The grid has 12 columns. Tiles may overlap: whoever shows them decides what is on top.',
    input: { name: Name, tiles: Type.Optional(tiles), range, where },
    output: { dashboard: Dashboard },
    status: 201,
    bodyBytesMax: DASHBOARD_BYTES_MAX,
    example,
    errors: ['409 too_many_dashboards'],
    etag: ({ dashboard }) => etagOfDashboard(dashboard),
    check: (context, defaults) => requireDefaults(asking(context), defaults),
    async run({ tenant, now }, { name, tiles = [], range = null, where = [] }) {
      return { dashboard: await createDashboard(tenant, { name, tiles, range, where }, now) }
    },
    audit: ({ dashboard: { dashboard_id, name } }) => entryOf('dashboard.created', dashboard_id, { name }),
  }),
  dashboardOperation({
    name: 'getDashboard',
    tag,
    http: 'GET /v1/dashboards/:dashboard_id',
    command: 'dashboard get',
    scope: 'events:read',
    summary: 'Get a dashboard, without the answers of its reports',
    input: DashboardPath,
    output: {
      dashboard: Dashboard,
      subscription: Nullable(Subscription, 'The mail that you get on Mondays; null without one, and for an API key.'),
    },
    etag: ({ dashboard }) => etagOfDashboard(dashboard),
    run: async (context, { dashboard_id }) => ({
      dashboard: await readDashboard(context.tenant, dashboard_id),
      subscription: await findSubscription(context, dashboard_id),
    }),
  }),
  dashboardOperation({
    name: 'updateDashboard',
    tag,
    http: 'PATCH /v1/dashboards/:dashboard_id',
    command: 'dashboard update',
    scope: 'segments:write',
    also: SHOWS,
    summary: 'Change a dashboard; omitted fields keep their values',
    input: { ...DashboardPath, name: Type.Optional(Name), tiles: Type.Optional(tiles), range, where },
    output: { dashboard: Dashboard, changed: Changed },
    bodyBytesMax: DASHBOARD_BYTES_MAX,
    example: { name: 'Growth this quarter' },
    etag: ({ dashboard }) => etagOfDashboard(dashboard),
    ifMatch: true,
    check: (context, defaults) => requireDefaults(asking(context), defaults),
    run: (context, { dashboard_id, ...changes }) => updateDashboard(context.tenant, dashboard_id, changes, context),
    audit: ({ dashboard, changed }) =>
      changed.length === 0 ? null : entryOf('dashboard.updated', dashboard.dashboard_id, { changed }),
  }),
  dashboardOperation({
    name: 'deleteDashboard',
    tag,
    http: 'DELETE /v1/dashboards/:dashboard_id',
    command: 'dashboard delete',
    scope: 'segments:write',
    summary: 'Delete a dashboard; its reports stay',
    input: DashboardPath,
    output: { deleted: Type.Literal(true), dashboard_id: Id },
    forAudit: { name: Type.String(TEXT) },
    ifMatch: true,
    async run({ tenant, requireMatch }, { dashboard_id }) {
      const { name } = await deleteDashboard(tenant, dashboard_id, requireMatch)
      return { deleted: true as const, dashboard_id, name }
    },
    audit: ({ dashboard_id, name }) => entryOf('dashboard.deleted', dashboard_id, { name }),
  }),
  dashboardOperation({
    name: 'runDashboard',
    tag,
    http: 'POST /v1/dashboards/:dashboard_id/run',
    command: 'dashboard run',
    scope: 'events:read',
    summary: 'Answer the questions of all reports on a dashboard',
    description:
      'Each report is asked over the range of the dashboard, if that has one, and with its conditions too. A question without an answer leaves the others as they are. Reports about contacts or companies need the scope `contacts:read`.',
    input: DashboardPath,
    output: {
      dashboard: Dashboard,
      results: Type.Array(TileResult, { description: 'One for each tile, in their order.' }),
    },
    reads: true,
    async run(context, { dashboard_id }) {
      const dashboard = await readDashboard(context.tenant, dashboard_id)
      return { dashboard, results: await runDashboard(asking(context), dashboard, context.isGivenUp) }
    },
  }),
]
