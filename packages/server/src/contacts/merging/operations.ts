import Type from 'typebox'
import { idInPath, operationsWith } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { ContactId, Id, pathId } from '../../platform/http/responses.ts'
import { Contact, etagOfContact } from '../contact-object.ts'
import { toWholeContact } from '../read.ts'
import { type MergeServices, mergeContacts } from './merge.ts'
import { Merge, mergesInto } from './merges.ts'
import { unmergeContact } from './unmerge.ts'

const tag = 'Contacts'
const ContactPath = { contact_id: idInPath('contact') }
const mergeOperation = operationsWith<MergeServices>()

export const MERGE_OPERATIONS = [
  mergeOperation({
    name: 'mergeContact',
    tag,
    http: 'POST /v1/contacts/:contact_id/merge',
    command: 'contact merge',
    scope: 'contacts:write',
    summary: 'Merge a contact into another',
    description:
      'The contact in `into` survives. It gets the properties, visitors, events and notes of the other, and is found by its email, external id and source ids. The other contact returns 404 `contact_merged` until it is unmerged. `If-Match` is the ETag of the contact in the path; the response has the ETag of the contact that survives.',
    input: {
      ...ContactPath,
      into: idInput({ description: 'The contact that survives.' }),
    },
    output: { contact: Contact, merged_contact_id: ContactId },
    example: { into: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071' },
    errors: [
      '409 already_merged',
      '409 erasure_under_way',
      '409 too_many_merges',
      '409 too_many_visitors',
      '413 contact_too_large',
    ],
    etag: async ({ contact }, { tenant, findComputedNames }) =>
      etagOfContact(contact, (await findComputedNames(tenant)).contacts),
    ifMatch: true,
    isAtomic: true,
    async run(context, { contact_id: contactId, into: sent }) {
      const { tenant, actor, requireMatch } = context
      const into = pathId(sent, 'contact')
      const row = await mergeContacts(tenant, context, { contactId, into }, actor, requireMatch)
      return { contact: await toWholeContact(tenant, row), merged_contact_id: contactId }
    },
    // Connectors merge too; the service is the actor.
    audit: 'own',
  }),
  mergeOperation({
    name: 'listMerges',
    tag,
    http: 'GET /v1/contacts/:contact_id/merges',
    command: 'contact merges',
    scope: 'contacts:read',
    summary: 'List the contacts that were merged into a contact, the latest first',
    input: { ...ContactPath, ...pageParameters(20, 100) },
    output: { merges: Type.Array(Merge), pagination: Pagination },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id, page, limit }) {
      const { merges, total } = await mergesInto(tenant, contact_id, { page, limit })
      return { merges, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  mergeOperation({
    name: 'unmergeContact',
    tag,
    http: 'POST /v1/contacts/:contact_id/unmerge',
    command: 'contact unmerge',
    scope: 'contacts:write',
    summary: 'Unmerge a contact',
    description:
      'Restores the contact, with its visitors, events and notes, and reverts the changes of the merge to the survivor. Everything since the merge stays with the survivor. Merges into one contact are undone in reverse order. `If-Match` is the ETag of the contact that survived the merge; the response has the ETag of the restored one.',
    input: ContactPath,
    output: { contact: Contact, unmerged_from: Id },
    errors: [
      '409 contact_email_taken',
      '409 contact_keys_taken',
      '409 contact_not_merged',
      '409 erasure_under_way',
      '409 too_many_visitors',
      '409 unmerge_later_first',
    ],
    etag: async ({ contact }, { tenant, findComputedNames }) =>
      etagOfContact(contact, (await findComputedNames(tenant)).contacts),
    ifMatch: true,
    async run(context, { contact_id }) {
      const { tenant, requireMatch } = context
      const { row, unmergedFrom } = await unmergeContact(tenant, context, contact_id, requireMatch)
      return { contact: await toWholeContact(tenant, row), unmerged_from: unmergedFrom }
    },
    audit: ({ unmerged_from }, { contact_id }) => ({
      action: 'contact.unmerged',
      subjectKind: 'contact',
      subjectId: contact_id,
      details: { from: unmerged_from },
    }),
  }),
]
