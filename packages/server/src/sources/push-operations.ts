import Type from 'typebox'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { operationsWith } from '../operations/declare.ts'
import { keyOf } from '../platform/http/records.ts'
import { ContactId, Nullable, RecordError } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import { noteConnector } from './connectors.ts'
import { namedRecord, PUSH_EXAMPLE, PUSH_FIELDS, parseRecord, parseSourceName } from './requests.ts'
import { writeRecords } from './write-records.ts'

const Result = Type.Object({
  index: Type.Integer({ description: 'Index of the record in the request.' }),
  external_id: Nullable(Type.String({ description: 'As sent; null if it is not a string.', ...TEXT })),
  status: Type.Enum(['created', 'updated', 'unchanged', 'failed']),
  contact_id: Type.Optional(ContactId),
  error: Type.Optional(RecordError),
})

/** Pushes from connectors. */
export const SOURCE_PUSH_OPERATIONS = [
  operationsWith<WriteServices>()({
    name: 'pushSourceContacts',
    tag: 'Sources',
    http: 'POST /v1/sources/:source/contacts',
    command: 'source push',
    scope: 'contacts:write',
    summary: 'Create or update contacts with the records of a connected system',
    description:
      "A contact is found by the source's id for it, else by email, else created. An `external_id` that names nobody, such as `undefined`, is ignored with the warning `ignored_id`; without an email, the record fails. An invalid record does not affect the others.",
    input: { source: Type.String({ examples: ['hubspot'] }), ...PUSH_FIELDS },
    output: {
      results: Type.Array(Result),
      failed: Type.Integer({ description: 'How many records failed.' }),
    },
    example: PUSH_EXAMPLE,
    options: { records: { mayBeFile: true } },
    errors: ['409 source_name_taken'],
    unaudited: 'recorded as events',
    isAtomic: true,
    check: ({ tenant, now }, { source, kind }) => noteConnector(tenant, parseSourceName(source), kind, now),
    async run(context, { source: name, records }, kind) {
      const source = { source: parseSourceName(name), kind }
      const ignored = await context.findIgnoredIds(context.tenant)
      const parsed = records.map((record, index) => {
        const warnings: string[] = []
        const named = namedRecord(parseRecord(record), ignored, warnings)
        for (const text of warnings) context.warn(`records[${index}]: ${text}`)
        return named
      })
      const written = await writeRecords(context.tenant, context, source, parsed)
      const results = written.map((result, index) => ({
        index,
        external_id: keyOf(records[index], 'external_id'),
        status: result.status,
        ...(result.status === 'failed' ? { error: result.error } : { contact_id: result.contactId }),
      }))
      return { results, failed: results.filter(({ status }) => status === 'failed').length }
    },
  }),
]
