import Type from 'typebox'
import { requireScopeOf } from '../access/authentication.ts'
import { CompactEvent } from '../events/event-object.ts'
import type { App } from '../platform/http/app-types.ts'
import { Pagination, paginationOf } from '../platform/http/pagination.ts'
import { Id, pathId, success, Timestamp } from '../platform/http/responses.ts'
import type { WriteDependencies } from './change-log.ts'
import { Contact, ProjectedContact, parseProjection } from './contact-object.ts'
import { countContacts, listContacts } from './list.ts'
import { asksEvents, contactFiltersOf, eventFiltersOf } from './list-filters.ts'
import { readContact, toWholeContact } from './read.ts'
import {
  CreateContactBody,
  ListContactsQuery,
  parseCreateContact,
  parseEventsLimit,
  parseUpdateContact,
  ReadContactQuery,
  UpdateContactBody,
} from './requests.ts'
import { UnifiedProfile } from './unified-profile.ts'
import { createContact, deleteContact, updateContact } from './write.ts'

const Path = Type.Object({ contact_id: Type.String() })
const OneContact = success({ contact: Contact })

/** Contacts: list, create, read, update, delete. */
export function contactRoutes(app: App, dependencies: WriteDependencies, eventFilterContactsMax: number): void {
  app.get(
    '/v1/contacts',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'listContacts',
        summary: 'List, filter and search contacts',
        description: 'has_event_* filters also need the scope `events:read`. A single event must match all of them.',
        tags: ['Contacts'],
        querystring: ListContactsQuery,
        response: {
          200: Type.Union([
            success({ contacts: Type.Array(ProjectedContact), pagination: Pagination }),
            success({ count: Type.Integer() }),
          ]),
        },
      },
      // Before the query is validated, like every scope.
      preValidation: async (request) => {
        if (asksEvents(request.query)) requireScopeOf(request, 'events:read')
      },
    },
    async ({ tenant, query }) => {
      const { page = 1, limit = 20, sort_by, sort_dir, count_only, fields, include } = query
      const events = eventFiltersOf(query)
      const filters = await contactFiltersOf(tenant, query, events, eventFilterContactsMax)
      const counting = filters ? countContacts(tenant, filters) : Promise.resolve(0)
      if (count_only) return { status: 'success' as const, count: await counting }
      const options = {
        page: { page, limit },
        order: { sortBy: sort_by ?? 'createdate', direction: sort_dir ?? 'desc' },
        projection: parseProjection(fields),
        withProvenance: include?.includes('provenance') ?? false,
      } as const
      const listing = filters ? listContacts(tenant, filters, options) : []
      const [contacts, total] = await Promise.all([listing, counting])
      return { status: 'success' as const, contacts, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/v1/contacts',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'createContact',
        summary: 'Create a contact',
        tags: ['Contacts'],
        body: CreateContactBody,
        response: { 201: OneContact },
      },
    },
    async ({ tenant, body }, reply) => {
      const row = await createContact(tenant, dependencies, parseCreateContact(body))
      return reply.code(201).send({ status: 'success', contact: await toWholeContact(tenant, row) })
    },
  )

  app.get(
    '/v1/contacts/:contact_id',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'getContact',
        summary: 'Get a contact with its unified profile and latest events',
        tags: ['Contacts'],
        params: Path,
        querystring: ReadContactQuery,
        response: {
          200: success({
            contact: Type.Intersect([
              Contact,
              Type.Object({ _summary: Type.String({ description: 'One line for people; do not parse it.' }) }),
            ]),
            unified_profile: UnifiedProfile,
            events: Type.Optional(Type.Array(CompactEvent)),
            total_events: Type.Optional(Type.Integer()),
            timestamp: Timestamp,
          }),
        },
      },
    },
    async ({ tenant, params, query }) => {
      const eventsLimit = parseEventsLimit(query.include_events ?? true, query.events_limit)
      const answer = await readContact(tenant, pathId(params.contact_id, 'contact'), {
        eventsLimit,
        withProvenance: query.include?.includes('provenance') ?? false,
        withRaw: query.include?.includes('raw') ?? false,
      })
      return { status: 'success' as const, ...answer, timestamp: dependencies.clock().toISOString() }
    },
  )

  app.put(
    '/v1/contacts/:contact_id',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'updateContact',
        summary: 'Change a contact; properties are merged',
        tags: ['Contacts'],
        params: Path,
        body: UpdateContactBody,
        response: { 200: OneContact },
      },
    },
    async ({ tenant, params, body }) => {
      const changes = parseUpdateContact(body)
      const row = await updateContact(tenant, dependencies, pathId(params.contact_id, 'contact'), changes)
      return { status: 'success' as const, contact: await toWholeContact(tenant, row) }
    },
  )

  app.delete(
    '/v1/contacts/:contact_id',
    {
      config: { access: 'contacts:write' },
      schema: {
        operationId: 'deleteContact',
        summary: 'Delete a contact and its notes; its events remain',
        tags: ['Contacts'],
        params: Path,
        response: { 200: success({ deleted: Type.Literal(true), contact_id: Id }) },
      },
    },
    async ({ tenant, params }) => {
      const contactId = pathId(params.contact_id, 'contact')
      await deleteContact(tenant, dependencies, contactId)
      return { status: 'success' as const, deleted: true as const, contact_id: contactId }
    },
  )
}
