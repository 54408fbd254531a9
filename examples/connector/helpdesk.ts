import Type from 'typebox'
import { objectsOf, textOf } from '../../packages/server/src/connectors/client.ts'
import type { Connector } from '../../packages/server/src/connectors/connector.ts'
import { eventIdOf } from '../../packages/server/src/journal/sent-ids.ts'
import { parseEmail } from '../../packages/server/src/platform/email.ts'
import { isObject } from '../../packages/server/src/platform/is-object.ts'
import { EMPTY_CALL } from '../../packages/server/src/sites/ingestion/call.ts'

/** A made-up help desk with customers, and tickets that become events. */
export const helpdesk: Connector = {
  name: 'helpdesk',
  label: 'Help Desk',
  kind: 'messaging',
  credentials: { token: 'An API token with read access.' },
  settings: { subdomain: Type.String({ pattern: '^[a-z0-9-]{1,63}$', description: 'The first part of your URL.' }) },
  baseUrl: ({ subdomain }) => `https://${subdomain}.helpdesk.example`,
  headers: ({ token = '' }) => ({ authorization: `Bearer ${token}` }),
  // It allows 5 requests a second.
  pauseMs: 200,
  account: async (client) => {
    const { id, workspace } = await client.call({ path: '/me' })
    return { id: textOf(id), label: textOf(workspace) ?? 'Help Desk' }
  },
  objects: [
    {
      name: 'customers',
      overlapSeconds: 60,
      read: async (client, { since, cursor }) => {
        const query = { updated_after: since?.toISOString(), page: cursor === null ? undefined : String(cursor) }
        const { customers, next_page } = await client.call({ path: '/customers', query })
        const all = objectsOf(customers)
        const contacts = all.map((customer) => ({
          external_id: textOf(customer.id) ?? '',
          email: textOf(customer.email),
          properties: { firstname: textOf(customer.first_name), plan: textOf(customer.plan) },
          raw: customer,
          ...(textOf(customer.updated_at) === null ? {} : { updated_at: String(customer.updated_at) }),
        }))
        const deleted = all.flatMap(({ id, is_deleted }) => (is_deleted === true ? (textOf(id) ?? []) : []))
        return {
          contacts: contacts.filter((each) => !deleted.includes(each.external_id)),
          deleted,
          next: textOf(next_page),
        }
      },
    },
    {
      name: 'tickets',
      overlapSeconds: 60,
      read: async (client, { since, cursor }) => {
        const query = { updated_after: since?.toISOString(), page: cursor === null ? undefined : String(cursor) }
        const { tickets, next_page } = await client.call({ path: '/tickets', query })
        const calls = objectsOf(tickets).map((ticket) => {
          const id = textOf(ticket.id) ?? ''
          const customer = isObject(ticket.customer) ? ticket.customer : {}
          const event = {
            event: 'ticket_created',
            timestamp: textOf(ticket.created_at) ?? '',
            title: textOf(ticket.subject) ?? undefined,
            data: { ticket_id: id, priority: ticket.priority },
            // The same ticket is one event, however often it is read.
            sentId: eventIdOf('helpdesk', `ticket ${id}`),
            sessionId: null,
            context: {},
            clockCorrection: 0,
          }
          return { id, call: { ...EMPTY_CALL, email: parseEmail(textOf(customer.email) ?? ''), event } }
        })
        return { calls, next: textOf(next_page) }
      },
    },
  ],
}
