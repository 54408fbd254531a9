import Type from 'typebox'
import { Company, toCompanyObject } from '../companies/company-object.ts'
import { findCompanies } from '../companies/list.ts'
import { Contact } from '../contacts/contact-object.ts'
import { findContacts, knownContacts } from '../contacts/read.ts'
import { activityOfContacts } from '../events/activity.ts'
import { ActivityEvent } from '../events/event-object.ts'
import { validationError } from '../platform/errors.ts'
import type { App } from '../platform/http/app-types.ts'
import { parseBounds } from '../platform/http/body-bounds.ts'
import { success } from '../platform/http/responses.ts'
import { isUuid } from '../platform/ids.ts'
import { ActivityBody, ActivityWindow, DetailsBody } from './requests.ts'

/** Several contacts or companies at once. */
export function batchRoutes(app: App): void {
  app.post(
    '/v1/batch/details',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'batchDetails',
        summary: 'Get several contacts or companies',
        tags: ['Batch'],
        body: DetailsBody,
        response: {
          200: Type.Union([success({ contacts: Type.Array(Contact) }), success({ companies: Type.Array(Company) })]),
        },
      },
    },
    async ({ tenant, body }) => {
      const ids = storedIds(body.ids)
      if (body.entity_type === 'contacts') {
        return { status: 'success' as const, contacts: await findContacts(tenant, ids) }
      }
      const byId = new Map((await findCompanies(tenant, ids)).map((row) => [row.company_id, toCompanyObject(row)]))
      return { status: 'success' as const, companies: ids.flatMap((id) => byId.get(id) ?? []) }
    },
  )

  app.post(
    '/v1/batch/activity',
    {
      config: { access: 'contacts:read' },
      schema: {
        operationId: 'batchActivity',
        summary: 'Get the latest events of several contacts',
        tags: ['Batch'],
        body: ActivityBody,
        response: {
          200: success({
            contact_count: Type.Integer({ description: 'The contacts in `activity`.' }),
            activity: Type.Record(
              Type.String({ description: 'Contact id.' }),
              Type.Object({
                events: Type.Array(ActivityEvent),
                total_events: Type.Integer({ description: 'The events of the contact in the window.' }),
              }),
            ),
          }),
        },
      },
    },
    async ({ tenant, body }) => {
      const { contact_ids, events_limit = 5, include, ...bounds } = body
      const { values: window, details } = parseBounds(ActivityWindow, bounds, '')
      if (details.length > 0) throw validationError(details)
      const ids = storedIds(contact_ids)
      const [known, activity] = await Promise.all([
        knownContacts(tenant, ids),
        activityOfContacts(tenant, ids, { ...window, includeSystem: include === 'system' }, events_limit),
      ])
      const none = { events: [], total_events: 0 }
      const entries = ids.filter((id) => known.has(id)).map((id) => [id, activity.get(id) ?? none])
      return { status: 'success' as const, contact_count: entries.length, activity: Object.fromEntries(entries) }
    },
  )
}

/** Ids as they are stored, each once and in the order sent; what cannot be an id is as good as an unknown one. */
function storedIds(sent: readonly string[]): string[] {
  return [...new Set(sent.filter(isUuid).map((id) => id.toLowerCase()))]
}
