import Type from 'typebox'
import type { WriteDependencies } from '../contacts/change-log.ts'
import type { App } from '../platform/http/app-types.ts'
import { keyOf } from '../platform/http/records.ts'
import { Id, Nullable, success } from '../platform/http/responses.ts'
import { PushBody, parseRecord, parseSourceName } from './requests.ts'
import { noteSource } from './source-kinds.ts'
import { writeRecords } from './write-records.ts'

const Result = Type.Object({
  index: Type.Integer({ description: 'Index of the record in the request.' }),
  external_id: Nullable(Type.String({ description: 'As sent; null if it is not a text.' })),
  status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
  contact_id: Type.Optional(Id),
  error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
})

/** Pushes from connected systems. */
export function sourceRoutes(app: App, dependencies: WriteDependencies): void {
  app.post(
    '/v1/sources/:source/contacts',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'pushSourceContacts',
        summary: 'Create or update contacts with the records of a connected system',
        description:
          "A contact is found by the source's id for it, else by email, else created. An invalid record fails alone.",
        tags: ['Sources'],
        params: Type.Object({ source: Type.String({ examples: ['hubspot'] }) }),
        body: PushBody,
        response: {
          200: success({
            results: Type.Array(Result),
            failed: Type.Integer({ description: 'How many records failed.' }),
          }),
        },
      },
    },
    async ({ tenant, params, body }) => {
      const source = parseSourceName(params.source)
      const kind = await noteSource(tenant, source, body.kind, dependencies.clock())
      const written = await writeRecords(tenant, dependencies, { source, kind }, body.records.map(parseRecord))
      const results = written.map((result, index) => ({
        index,
        external_id: keyOf(body.records[index], 'external_id'),
        status: result.status,
        ...(result.status === 'failed' ? { error: result.error } : { contact_id: result.contactId }),
      }))
      const failed = results.filter(({ status }) => status === 'failed').length
      return { status: 'success' as const, results, failed }
    },
  )
}
