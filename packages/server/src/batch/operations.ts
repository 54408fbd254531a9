import Type from 'typebox'
import { Company, toCompanyObject } from '../companies/company-object.ts'
import { findCompanies } from '../companies/list.ts'
import { Contact } from '../contacts/contact-object.ts'
import { findContacts, knownContacts } from '../contacts/read.ts'
import { activityOfContacts } from '../events/activity.ts'
import { Engagement, engagementOfContacts } from '../events/engagement.ts'
import { ActivityEvent } from '../events/event-object.ts'
import { eventFilterSchemas } from '../events/filters.ts'
import { includeSystemInBody } from '../events/requests.ts'
import { operation } from '../operations/declare.ts'
import { isUuid } from '../platform/ids.ts'

const tag = 'Batch'
const IDS_MAX = 25
/** Contacts whose figures are read at once: a page of a list. */
const FIGURES_MAX = 100
const CONTACT_ID = '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071'

function ids(description: string, maxItems = IDS_MAX) {
  return Type.Array(Type.String({ 'x-unstorable': 'replaced' }), { minItems: 1, maxItems, description })
}

/** Fields of POST /v1/batch/details. */
const DETAILS_FIELDS = {
  entity_type: Type.Unsafe<'contacts' | 'companies'>({ type: 'string', enum: ['contacts', 'companies'] }),
  ids: ids('Unknown ids are omitted; a repeated id is returned once.'),
}

/** Fields of POST /v1/batch/activity. */
const ACTIVITY_FIELDS = {
  contact_ids: ids('Unknown contacts are omitted.'),
  events_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Maximum number of events per contact.' }),
  ),
  ...eventFilterSchemas('date_after', 'date_before'),
  include: includeSystemInBody,
}

/** Reads of several contacts or companies at once. */
export const BATCH_OPERATIONS = [
  operation({
    name: 'batchDetails',
    tag,
    http: 'POST /v1/batch/details',
    command: 'batch details',
    scope: 'contacts:read',
    summary: 'Get several contacts or companies',
    input: DETAILS_FIELDS,
    output: {
      contacts: Type.Optional(Type.Array(Contact, { description: 'Present if `entity_type` is contacts.' })),
      companies: Type.Optional(Type.Array(Company, { description: 'Present if `entity_type` is companies.' })),
    },
    example: { entity_type: 'contacts', ids: [CONTACT_ID] },
    reads: true,
    async run({ tenant }, { entity_type, ids: sent }) {
      const ids = storedIds(sent)
      if (entity_type === 'contacts') return { contacts: await findContacts(tenant, ids) }
      const byId = new Map((await findCompanies(tenant, ids)).map((row) => [row.company_id, toCompanyObject(row)]))
      return { companies: ids.flatMap((id) => byId.get(id) ?? []) }
    },
  }),
  operation({
    name: 'batchActivity',
    tag,
    http: 'POST /v1/batch/activity',
    command: 'batch activity',
    scope: 'contacts:read',
    summary: 'Get the latest events of several contacts',
    input: ACTIVITY_FIELDS,
    output: {
      contact_count: Type.Integer({ description: 'The contacts in `activity`.' }),
      activity: Type.Record(
        Type.String({ description: 'Contact id.' }),
        Type.Object({
          events: Type.Array(ActivityEvent),
          total_events: Type.Integer({ description: 'The number of events of the contact in the time range.' }),
        }),
      ),
    },
    example: { contact_ids: [CONTACT_ID] },
    reads: true,
    async run({ tenant }, { contact_ids, events_limit = 5, include, ...window }) {
      const ids = storedIds(contact_ids)
      const [known, activity] = await Promise.all([
        knownContacts(tenant, ids),
        activityOfContacts(tenant, ids, { ...window, includeSystem: include === 'system' }, events_limit),
      ])
      const none = { events: [], total_events: 0 }
      const entries = ids.filter((id) => known.has(id)).map((id) => [id, activity.get(id) ?? none])
      return { contact_count: entries.length, activity: Object.fromEntries(entries) }
    },
  }),
  operation({
    name: 'batchEngagement',
    tag,
    http: 'POST /v1/batch/engagement',
    command: 'batch engagement',
    scope: 'contacts:read',
    summary: 'Get when several contacts were last seen, and how often they visited',
    input: { contact_ids: ids('Unknown contacts are omitted.', FIGURES_MAX) },
    output: { engagement: Type.Record(Type.String({ description: 'Contact id.' }), Engagement) },
    example: { contact_ids: [CONTACT_ID] },
    reads: true,
    async run({ tenant }, { contact_ids }) {
      const known = [...(await knownContacts(tenant, storedIds(contact_ids)))]
      return { engagement: Object.fromEntries(await engagementOfContacts(tenant, known)) }
    },
  }),
]

/** Distinct valid ids in lower case, in the order sent. An invalid id is treated like an unknown one. */
function storedIds(sent: readonly string[]): string[] {
  return [...new Set(sent.filter(isUuid).map((id) => id.toLowerCase()))]
}
