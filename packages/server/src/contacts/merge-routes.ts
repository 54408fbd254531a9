import Type from 'typebox'
import type { App } from '../platform/http/app-types.ts'
import { Id, pathId, success } from '../platform/http/responses.ts'
import type { WriteDependencies } from './change-log.ts'
import { Contact } from './contact-object.ts'
import { mergeContacts } from './merge.ts'
import { toWholeContact } from './read.ts'
import { unmergeContact } from './unmerge.ts'

const Path = Type.Object({ contact_id: Type.String() })

/** Merging and unmerging contacts. */
export function mergeRoutes(app: App, dependencies: WriteDependencies): void {
  app.post(
    '/v1/contacts/:contact_id/merge',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'mergeContact',
        summary: 'Merge a contact into another',
        description:
          'The contact in `into` survives. It gets the properties, visitors, events and notes of the other, and is found by its email, external id and source ids. The other contact returns 404 `contact_merged` until it is unmerged.',
        tags: ['Contacts'],
        params: Path,
        body: Type.Object(
          { into: Type.String({ minLength: 1, maxLength: 200, description: 'The contact that survives.' }) },
          { additionalProperties: false },
        ),
        response: { 200: success({ contact: Contact, merged_contact_id: Id }) },
      },
    },
    async ({ tenant, actor, params, body }) => {
      const contactId = pathId(params.contact_id, 'contact')
      const row = await mergeContacts(tenant, dependencies, { contactId, into: pathId(body.into, 'contact') }, actor)
      return {
        status: 'success' as const,
        contact: await toWholeContact(tenant, row),
        merged_contact_id: contactId,
      }
    },
  )

  app.post(
    '/v1/contacts/:contact_id/unmerge',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'unmergeContact',
        summary: 'Unmerge a contact',
        description:
          'Restores the contact, with its visitors, events and notes, and reverts the changes of the merge to the survivor. Everything since the merge stays with the survivor. Merges into one contact are undone in reverse order.',
        tags: ['Contacts'],
        params: Path,
        response: { 200: success({ contact: Contact, unmerged_from: Id }) },
      },
    },
    async ({ tenant, actor, params }) => {
      const contactId = pathId(params.contact_id, 'contact')
      const { row, unmergedFrom } = await unmergeContact(tenant, dependencies, contactId, actor)
      return {
        status: 'success' as const,
        contact: await toWholeContact(tenant, row),
        unmerged_from: unmergedFrom,
      }
    },
  )
}
