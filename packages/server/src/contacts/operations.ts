import Type from 'typebox'
import type { WarningsAbout } from '../conditions/language.ts'
import type { Config } from '../config.ts'
import {
  Engagement,
  engagementOfContacts,
  FirstVisit,
  firstVisitOf,
  NEVER_SEEN,
  TopPage,
  topPagesOf,
} from '../events/engagement.ts'
import { CompactEvent, ContactEvent, PlainEvent } from '../events/event-object.ts'
import { eventFilterSchemas } from '../events/filters.ts'
import { includesSystem } from '../events/requests.ts'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { Pagination, paginationOf } from '../platform/http/pagination.ts'
import { oneOf, wordList } from '../platform/http/query-parameters.ts'
import { ContactId, Nullable, Timestamp } from '../platform/http/responses.ts'
import { TEXT } from '../platform/personal.ts'
import type { Tenant } from '../platform/tenant.ts'
import { missingContact } from './aliases.ts'
import { EVENTS_MAX, readContactEvents, toContactEvent } from './contact-events.ts'
import { Contact, etagOfContact, ProjectedContact, parseProjection } from './contact-object.ts'
import { countContacts, listContacts } from './list.ts'
import { contactFiltersOf, filtersByEvents, type ListFilter } from './list-filters.ts'
import { knownContacts, readContact, toWholeContact } from './read.ts'
import {
  CONTACT_FIELDS,
  ListContactsQuery,
  NEW_CONTACT_FIELDS,
  namedVisitors,
  parseCreateContact,
  parseEventsLimit,
  parseUpdateContact,
  READ_CONTACT_PARAMETERS,
} from './requests.ts'
import type { ContactScores, ScoresOf } from './scores.ts'
import { hiddenFromSearch } from './search.ts'
import { UnifiedProfile } from './unified-profile.ts'
import { createContact, deleteContact, updateContact } from './write.ts'
import { registerVisitors } from './writing/visitor-rows.ts'
import type { WriteServices } from './writing/writer.ts'

export interface ContactServices extends WriteServices {
  config: Pick<Config, 'eventFilterContactsMax'>
  /** Filters of lists that belong to other features. */
  listFilters: readonly ListFilter[]
  warningsAbout: WarningsAbout
  scoresOf: ScoresOf
}

const tag = 'Contacts'
const ContactPath = { contact_id: idInPath('contact') }
const ReadContact = Type.Intersect([
  Contact,
  Type.Object({ _summary: Type.String({ description: 'One line for people; do not parse it.', ...TEXT }) }),
])
/** The option of `contact update`; `none` removes the company. */
const COMPANY_OR_NONE = {
  name: 'company-id',
  hint: 'COMPANY_ID|none',
  read: (text: string) => (text === 'none' ? null : text),
}

const contactOperation = operationsWith<ContactServices>()

/** Contacts with their scores; those that lists show always have their id. */
async function withScores<Listed extends { contact_id?: string }>(
  contacts: readonly Listed[],
  scoresOf: ScoresOf,
  tenant: Tenant,
  now: Date,
): Promise<(Listed & { scores: ContactScores })[]> {
  const found = await scoresOf(
    tenant,
    contacts.flatMap(({ contact_id: id }) => id ?? []),
    now,
  )
  return contacts.map((contact) => ({ ...contact, scores: found.get(contact.contact_id ?? '') ?? {} }))
}

export const CONTACT_OPERATIONS = [
  contactOperation({
    name: 'listContacts',
    tag,
    http: 'GET /v1/contacts',
    command: 'contact list',
    scope: 'contacts:read',
    also: [
      {
        scopes: ['events:read'],
        when: 'with has_event_* filters or event conditions in `filter`',
        ofSent: (query) => filtersByEvents(query as object),
      },
    ],
    summary: 'List, filter and search contacts',
    description: 'A single event must match all has_event_* filters.',
    input: ListContactsQuery.properties,
    output: {
      contacts: Type.Optional(Type.Array(ProjectedContact, { description: 'Absent with `count_only`.' })),
      pagination: Type.Optional(Pagination),
      count: Type.Optional(Type.Integer({ description: 'The only field with `count_only`; absent otherwise.' })),
    },
    errors: ['400 event_filter_too_broad', '400 unknown_import', '400 unknown_segment'],
    async run(context, query) {
      const { tenant, config, now, listFilters, requireScope, redaction, warn, warningsAbout, scoresOf } = context
      const { page, limit, sort_by, sort_property, sort_dir, count_only, fields, include } = query
      const contactsMax = config.eventFilterContactsMax
      const hidden = await hiddenFromSearch(tenant, redaction, query)
      const needs = { listFilters, now, contactsMax, requireScope, hidden }
      const filters = await contactFiltersOf(tenant, query, needs)
      const warnings = query.filter === undefined ? [] : await warningsAbout(tenant, 'contacts', query.filter)
      for (const warning of warnings) warn(warning)
      const counting = filters ? countContacts(tenant, filters) : Promise.resolve(0)
      if (count_only) return { count: await counting }
      const options = {
        page: { page, limit },
        order: { sortBy: sort_by, property: sort_property, direction: sort_dir },
        projection: parseProjection(fields),
        withProvenance: include?.includes('provenance') ?? false,
      } as const
      const listing = filters ? listContacts(tenant, filters, options) : []
      const [listed, total] = await Promise.all([listing, counting])
      const contacts = include?.includes('scores') ? await withScores(listed, scoresOf, tenant, now) : listed
      return { contacts, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  contactOperation({
    name: 'createContact',
    tag,
    http: 'POST /v1/contacts',
    command: 'contact create',
    scope: 'contacts:write',
    summary: 'Create a contact',
    input: NEW_CONTACT_FIELDS,
    output: { contact: Contact },
    status: 201,
    example: { email: 'ada@example.com', properties: { firstname: 'Ada', company: 'Analytical Engines' } },
    errors: ['400 unknown_company', '409 computed_property', '409 contact_email_taken', '413 contact_too_large'],
    etag: async ({ contact }, { tenant, findComputedNames }) =>
      etagOfContact(contact, (await findComputedNames(tenant)).contacts),
    unaudited: 'recorded as an event',
    isAtomic: true,
    async check({ tenant, now, memory, findIgnoredIds, warn }, input) {
      const contact = parseCreateContact(input)
      const visitorIds = namedVisitors(contact.visitorIds, await findIgnoredIds(tenant), warn)
      // The transaction of an Idempotency-Key must not be the one that inserts them.
      if (memory.hasKey) await registerVisitors(tenant, visitorIds, now)
      return { ...contact, visitorIds }
    },
    async run(context, _input, contact) {
      const row = await createContact(context.tenant, context, contact)
      return { contact: await toWholeContact(context.tenant, row) }
    },
  }),
  contactOperation({
    name: 'getContact',
    tag,
    http: 'GET /v1/contacts/:contact_id',
    command: 'contact get',
    scope: 'contacts:read',
    summary: 'Get a contact with its unified profile and latest events',
    input: { ...ContactPath, ...READ_CONTACT_PARAMETERS },
    output: {
      contact: ReadContact,
      unified_profile: UnifiedProfile,
      events: Type.Optional(Type.Array(CompactEvent)),
      total_events: Type.Optional(Type.Integer()),
      timestamp: Timestamp,
    },
    errors: ['404 contact_merged'],
    etag: async ({ contact }, { tenant, findComputedNames }) =>
      etagOfContact(contact, (await findComputedNames(tenant)).contacts),
    async run({ tenant, clock, scoresOf }, { contact_id, include_events, events_limit, include }) {
      const result = await readContact(tenant, contact_id, {
        eventsLimit: parseEventsLimit(include_events, events_limit),
        withProvenance: include?.includes('provenance') ?? false,
        withRaw: include?.includes('raw') ?? false,
      })
      const now = clock()
      const [contact = result.contact] = include?.includes('scores')
        ? await withScores([result.contact], scoresOf, tenant, now)
        : []
      return { ...result, contact, timestamp: now.toISOString() }
    },
  }),
  contactOperation({
    name: 'getContactEngagement',
    tag,
    http: 'GET /v1/contacts/:contact_id/engagement',
    command: 'contact engagement',
    scope: 'contacts:read',
    summary: 'Get when a contact was last seen, how often they visited, and their favorite pages',
    description:
      "The contact's anonymous past counts. `POST /v1/batch/engagement` returns the figures of many contacts.",
    input: ContactPath,
    output: {
      engagement: Engagement,
      top_pages: Type.Array(TopPage, { description: 'The most viewed first, at most 5.' }),
      first_visit: Nullable(FirstVisit, 'The first page view; null if there is none.'),
    },
    errors: ['404 contact_merged'],
    async run({ tenant }, { contact_id }) {
      if (!(await knownContacts(tenant, [contact_id])).has(contact_id)) throw await missingContact(tenant, contact_id)
      const [engagement, pages, first_visit] = await Promise.all([
        engagementOfContacts(tenant, [contact_id]),
        topPagesOf(tenant, { contact_id }),
        firstVisitOf(tenant, contact_id),
      ])
      return { engagement: engagement.get(contact_id) ?? NEVER_SEEN, top_pages: pages, first_visit }
    },
  }),
  contactOperation({
    name: 'listContactEvents',
    tag,
    http: 'GET /v1/contacts/events/:contact_id',
    command: 'contact events',
    scope: 'contacts:read',
    summary: 'List the events of a contact, at most 1,000, even after its deletion',
    description:
      'A response contains at most 8 MiB of events: `returned` is their number. GET /v1/events?contact_id=… pages through all of them.',
    input: {
      ...ContactPath,
      ...eventFilterSchemas('event_type'),
      sort_dir: oneOf(['asc', 'desc'], 'Oldest or newest first.', 'desc'),
      fields: oneOf(['summary', 'full'], 'summary: compact events.'),
      include: wordList(
        ['provenance', 'system'],
        'system includes system events. provenance is accepted, but has no effect.',
      ),
    },
    output: {
      events: Type.Union([Type.Array(PlainEvent), Type.Array(ContactEvent)]),
      contact_id: ContactId,
      total_items: Type.Integer({ description: 'The number of matching events.' }),
      returned: Type.Integer({ description: 'The number of events in this response, at most 1,000.' }),
    },
    errors: ['404 contact_merged'],
    async run({ tenant, warn }, { contact_id, sort_dir, fields, include, ...rest }) {
      const filters = { ...rest, includeSystem: includesSystem(include) }
      const { events, total } = await readContactEvents(tenant, contact_id, filters, sort_dir)
      if (events.length < Math.min(total, EVENTS_MAX)) {
        warn(
          `Only the first ${events.length} events fit into 8 MiB. GET /v1/events?contact_id=${contact_id} pages through all of them.`,
        )
      }
      const shown = fields === 'summary' ? events.map(toContactEvent) : events
      return { events: shown, contact_id, total_items: total, returned: events.length }
    },
  }),
  contactOperation({
    name: 'updateContact',
    tag,
    http: 'PUT /v1/contacts/:contact_id',
    command: 'contact update',
    scope: 'contacts:write',
    summary: 'Change a contact; properties are merged',
    input: { ...ContactPath, ...CONTACT_FIELDS },
    output: { contact: Contact },
    example: { properties: { firstname: 'Ada', lifecyclestage: 'customer' } },
    errors: [
      '400 unknown_company',
      '404 contact_merged',
      '409 contact_email_taken',
      '409 too_many_visitors',
      '409 computed_property',
      '413 contact_too_large',
    ],
    options: { company_id: COMPANY_OR_NONE },
    etag: async ({ contact }, { tenant, findComputedNames }) =>
      etagOfContact(contact, (await findComputedNames(tenant)).contacts),
    ifMatch: true,
    unaudited: 'recorded as an event',
    async check({ tenant, findIgnoredIds, warn }, { contact_id: _, ...fields }) {
      const update = parseUpdateContact(fields)
      const visitorIds = namedVisitors(update.visitorIds, await findIgnoredIds(tenant), warn)
      return { ...update, visitorIds }
    },
    async run(context, { contact_id }, update) {
      const { tenant, requireMatch } = context
      const row = await updateContact(tenant, context, contact_id, update, requireMatch)
      return { contact: await toWholeContact(tenant, row) }
    },
  }),
  contactOperation({
    name: 'deleteContact',
    tag,
    http: 'DELETE /v1/contacts/:contact_id',
    command: 'contact delete',
    scope: 'contacts:write',
    summary: 'Delete a contact and its notes; its events remain',
    input: ContactPath,
    output: { deleted: Type.Literal(true), contact_id: ContactId },
    ifMatch: true,
    errors: ['404 contact_merged'],
    unaudited: 'recorded as an event',
    async run(context, { contact_id }) {
      await deleteContact(context.tenant, context, contact_id, context.requireMatch)
      return { deleted: true as const, contact_id }
    },
  }),
]
