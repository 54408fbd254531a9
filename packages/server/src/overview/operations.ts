import Type from 'typebox'
import { readCompany } from '../companies/list.ts'
import { EnrichedEvent } from '../events/event-object.ts'
import { eventFilterSchemas } from '../events/filters.ts'
import { countEvents, listEvents } from '../events/list.ts'
import { idInPath, operation } from '../operations/declare.ts'
import { rangeOf, rangeParameters } from '../platform/http/days.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { oneOf } from '../platform/http/query-parameters.ts'
import { latestContactsOf } from './company-contacts.ts'
import { readOverview } from './overview.ts'
import { Overview } from './overview-schema.ts'
import { ENTITIES, listProperties, PROPERTY_TYPES, type Property } from './properties.ts'

/** Reads for the dashboard that combine contacts, companies and events. */
export const OVERVIEW_OPERATIONS = [
  operation({
    name: 'getOverview',
    tag: 'Events',
    http: 'GET /v1/overview',
    command: 'overview get',
    scope: 'events:read',
    summary: 'Get the figures of a range of days and of the preceding range of the same length',
    description: 'Events from bots are not counted.',
    input: rangeParameters,
    output: Overview,
    run: ({ tenant, now }, range) => readOverview(tenant, rangeOf(range, now)),
  }),
  operation({
    name: 'listProperties',
    tag: 'Contacts',
    http: 'GET /v1/properties',
    command: 'property list',
    scope: 'any-key',
    summary: 'List the properties of contacts, companies or events for filters and list columns',
    description: 'Needs the scope `contacts:read`, `companies:read` or `events:read`, depending on `entity`.',
    input: { entity: oneOf(ENTITIES, 'The records whose properties to list.', 'contacts') },
    output: {
      properties: Type.Array(
        Type.Object(
          {
            name: Type.String(),
            label: Type.String(),
            type: Type.Unsafe<Property['type']>({ type: 'string', enum: PROPERTY_TYPES }),
          },
          { title: 'Property' },
        ),
      ),
    },
    async run({ tenant, now, requireScope }, { entity = 'contacts' }) {
      requireScope(`${entity}:read`)
      return { properties: await listProperties(tenant, entity, now) }
    },
  }),
  operation({
    name: 'listCompanyEvents',
    tag: 'Companies',
    http: 'GET /v1/companies/:company_id/events',
    command: 'company events',
    scope: 'events:read',
    summary: "List the events of a company's contacts, newest first",
    description: 'If the company has more than 1,000 contacts, only events of the newest 1,000 are listed.',
    input: {
      company_id: idInPath('company'),
      ...pageParameters(20, 100),
      ...eventFilterSchemas('event_type', 'date_before'),
    },
    output: { events: Type.Array(EnrichedEvent), pagination: Pagination },
    async run({ tenant }, { company_id, page = 1, limit = 20, ...rest }) {
      await readCompany(tenant, company_id)
      const filters = { ...rest, contact_ids: await latestContactsOf(tenant, company_id) }
      const [events, total] = await Promise.all([
        listEvents(tenant, filters, { sortBy: 'timestamp', direction: 'desc' }, { page, limit }),
        countEvents(tenant, filters),
      ])
      return { events, pagination: paginationOf({ page, limit }, total) }
    },
  }),
]
