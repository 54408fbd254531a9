import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id } from '../platform/http/responses.ts'
import { SavedView, ViewBody } from './view-schema.ts'
import { createView, deleteView, listViews, readView, replaceView, VIEWS_MAX } from './views.ts'

const tag = 'Saved views'
/** A page of 200 views of this size must fit into a response. */
const VIEW_BYTES_MAX = 64 * 1024
const ViewPath = { view_id: idInPath('saved view') }
const example = { name: 'Leads in France', page: 'contacts', query: { country: 'France' }, columns: ['email'] }

function entryOf(action: string, { view_id, name, page }: SavedView) {
  return { action, subjectKind: 'view', subjectId: view_id, details: { name, page } }
}

export const VIEW_OPERATIONS = [
  operation({
    name: 'listViews',
    tag,
    http: 'GET /v1/views',
    command: 'view list',
    scope: 'settings:read',
    summary: 'List the saved views, by page and name',
    input: pageParameters(20, VIEWS_MAX),
    output: { views: Type.Array(SavedView), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { views, total } = await listViews(tenant, { page, limit })
      return { views, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'createView',
    tag,
    http: 'POST /v1/views',
    command: 'view create',
    scope: 'views:write',
    summary: 'Save the filters, order and columns of a list as a view',
    input: ViewBody.properties,
    output: { view: SavedView },
    status: 201,
    bodyBytesMax: VIEW_BYTES_MAX,
    example,
    errors: ['409 too_many_views', '409 view_name_taken'],
    run: async ({ tenant, actor, now }, view) => ({ view: await createView(tenant, view, actor, now) }),
    audit: ({ view }) => entryOf('view.created', view),
  }),
  operation({
    name: 'getView',
    tag,
    http: 'GET /v1/views/:view_id',
    command: 'view get',
    scope: 'settings:read',
    summary: 'Get a saved view',
    input: ViewPath,
    output: { view: SavedView },
    run: async ({ tenant }, { view_id }) => ({ view: await readView(tenant, view_id) }),
  }),
  operation({
    name: 'replaceView',
    tag,
    http: 'PUT /v1/views/:view_id',
    command: 'view replace',
    scope: 'views:write',
    summary: 'Replace a saved view',
    input: { ...ViewPath, ...ViewBody.properties },
    output: { view: SavedView },
    bodyBytesMax: VIEW_BYTES_MAX,
    example: { ...example, name: 'Leads in Italy', query: { country: 'Italy' } },
    errors: ['409 view_name_taken'],
    run: async ({ tenant, now }, { view_id, ...view }) => ({ view: await replaceView(tenant, view_id, view, now) }),
    audit: ({ view }) => entryOf('view.updated', view),
  }),
  operation({
    name: 'deleteView',
    tag,
    http: 'DELETE /v1/views/:view_id',
    command: 'view delete',
    scope: 'views:write',
    summary: 'Delete a saved view',
    input: ViewPath,
    output: { deleted: Type.Literal(true), view_id: Id, view: SavedView },
    async run({ tenant }, { view_id }) {
      return { deleted: true as const, view_id, view: await deleteView(tenant, view_id) }
    },
    audit: ({ view }) => entryOf('view.deleted', view),
  }),
]
