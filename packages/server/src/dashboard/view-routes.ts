import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import type { Clock } from '../platform/time.ts'
import { MEMBER, VIEWER } from './access.ts'
import { audited } from './audited.ts'
import { SavedView, ViewBody } from './view-schema.ts'
import { createView, deleteView, listViews, replaceView } from './views.ts'

const Path = Type.Object({ view_id: Type.String() })
const OneView = success({ view: SavedView })

/** All views of a tenant come in one answer: 200 of them fit. */
const VIEW_BYTES_MAX = 64 * 1024
const writing = { config: { access: MEMBER }, bodyLimit: VIEW_BYTES_MAX }

/** Saved views: list, create, replace, delete. */
export function viewRoutes(app: App, { clock }: { clock: Clock }): void {
  app.get(
    '/api/views',
    {
      config: { access: VIEWER },
      schema: { hide: true, response: { 200: success({ views: Type.Array(SavedView) }) } },
    },
    async ({ tenant }) => ({ status: 'success' as const, views: await listViews(tenant) }),
  )

  app.post(
    '/api/views',
    { ...writing, schema: { hide: true, body: ViewBody, response: { 201: OneView } } },
    async (request, reply) => {
      const now = clock()
      const view = await audited(
        request,
        now,
        (tx) => createView(tx, request.body, request.actor, now),
        (made) => entryOf('view.created', made),
      )
      return reply.code(201).send({ status: 'success', view })
    },
  )

  app.put(
    '/api/views/:view_id',
    { ...writing, schema: { hide: true, params: Path, body: ViewBody, response: { 200: OneView } } },
    async (request) => {
      const now = clock()
      const viewId = pathId(request.params.view_id, 'saved view')
      const view = await audited(
        request,
        now,
        (tx) => replaceView(tx, viewId, request.body, now),
        (changed) => entryOf('view.updated', changed),
      )
      return { status: 'success' as const, view }
    },
  )

  app.delete(
    '/api/views/:view_id',
    {
      config: { access: MEMBER },
      schema: {
        hide: true,
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), view_id: Id }) },
      },
    },
    async (request) => {
      const viewId = pathId(request.params.view_id, 'saved view')
      await audited(
        request,
        clock(),
        (tx) => deleteView(tx, viewId),
        (gone) => entryOf('view.deleted', gone),
      )
      return { status: 'success' as const, deleted: true as const, view_id: viewId }
    },
  )
}

function entryOf(action: string, { view_id, name, page }: SavedView) {
  return { action, subjectKind: 'view', subjectId: view_id, details: { name, page } }
}
