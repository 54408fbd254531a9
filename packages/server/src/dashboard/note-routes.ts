import Type from 'typebox'
import { listNotesPage } from '../notes/notes.ts'
import { Note } from '../notes/schema.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { pathId, success } from '../platform/http/responses.ts'
import { VIEWER } from './access.ts'

/** The notes of a contact page by page: there may be any number, and the public API gives all at once. */
export function notePageRoutes(app: App): void {
  app.get(
    '/api/contacts/:contact_id/notes',
    {
      config: { access: VIEWER },
      schema: {
        hide: true,
        params: Type.Object({ contact_id: Type.String() }),
        querystring: Type.Object(pageParameters(20, 100)),
        response: { 200: success({ notes: Type.Array(Note), pagination: Pagination }) },
      },
    },
    async ({ tenant, params, query: { page = 1, limit = 20 } }) => {
      const { notes, total } = await listNotesPage(tenant, pathId(params.contact_id, 'contact'), { page, limit })
      return { status: 'success' as const, notes, pagination: paginationOf({ page, limit }, total) }
    },
  )
}
