import Type from 'typebox'
import { idInPath, operation } from '../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { ContactId, Id } from '../platform/http/responses.ts'
import { dismissDuplicate } from './dismissals.ts'
import { Duplicate, listDuplicates } from './duplicates.ts'

const tag = 'Contacts'

export const DUPLICATE_OPERATIONS = [
  operation({
    name: 'listDuplicates',
    tag,
    http: 'GET /v1/duplicates',
    command: 'duplicate list',
    scope: 'contacts:read',
    summary: 'List pairs of contacts that are likely one person, the likeliest first',
    description:
      'A pair appears within a minute after one of its contacts was created or changed. Nothing is merged by itself: merge a pair with POST /v1/contacts/:contact_id/merge, or dismiss it.',
    input: {
      ...pageParameters(20, 100),
      min_confidence: Type.Optional(
        Type.Number({
          minimum: 0,
          maximum: 1,
          description: 'Leaves out pairs with a lower confidence.',
          examples: [0.8],
        }),
      ),
    },
    output: { duplicates: Type.Array(Duplicate), pagination: Pagination },
    async run({ tenant }, { page, limit, min_confidence = 0 }) {
      const { duplicates, total } = await listDuplicates(tenant, min_confidence, { page, limit })
      return { duplicates, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'dismissDuplicate',
    tag,
    http: 'POST /v1/duplicates/:duplicate_id/dismiss',
    command: 'duplicate dismiss',
    scope: 'contacts:write',
    summary: 'Say that two contacts are two people; the pair is never suggested again',
    input: { duplicate_id: idInPath('duplicate') },
    output: { dismissed: Type.Literal(true), duplicate_id: Id },
    forAudit: { contact_id: ContactId, other_contact_id: Id },
    async run({ tenant, now }, { duplicate_id }) {
      const pair = await dismissDuplicate(tenant, duplicate_id, now)
      return { dismissed: true as const, duplicate_id, ...pair }
    },
    audit: ({ contact_id, other_contact_id }) => ({
      action: 'duplicate.dismissed',
      subjectKind: 'contact',
      subjectId: contact_id,
      details: { other: other_contact_id },
    }),
  }),
]
