import { type Client, isObject, objectsOf, textOf } from '../client.ts'
import type { Connector, ReadRange } from '../connector.ts'

const PAGE_SIZE = 500
/** Changes may be found a little late. */
const OVERLAP_SECONDS = 300

/** Pipedrive's API v2: https://developers.pipedrive.com/docs/api/v1 */
export const pipedrive: Connector = {
  name: 'pipedrive',
  label: 'Pipedrive',
  kind: 'crm',
  credentials: { api_token: 'Your API token: Settings → Personal preferences → API.' },
  settings: {},
  baseUrl: () => 'https://api.pipedrive.com',
  headers: ({ api_token = '' }) => ({ 'x-api-token': api_token }),
  pauseMs: 100,
  account: async (client) => {
    const { data } = await client.call({ path: '/v1/users/me' })
    return (isObject(data) && (textOf(data.company_name) ?? textOf(data.name))) || 'Pipedrive'
  },
  objects: [
    {
      name: 'organizations',
      overlapSeconds: OVERLAP_SECONDS,
      read: async (client, range) => {
        const { items, next } = await readPage(client, '/api/v2/organizations', range)
        const companies = items.flatMap((item) => {
          const id = textOf(item.id)
          if (id === null) return []
          return { externalId: id, domain: textOf(item.website), name: textOf(item.name), properties: {} }
        })
        return { companies, next }
      },
    },
    {
      name: 'persons',
      overlapSeconds: OVERLAP_SECONDS,
      read: async (client, range) => {
        const { items, next } = await readPage(client, '/api/v2/persons', range)
        const contacts = items.flatMap((item) => {
          const id = textOf(item.id)
          if (id === null) return []
          const [email] = objectsOf(item.emails)
          return {
            external_id: id,
            email: textOf(email?.value),
            properties: { firstname: textOf(item.first_name), lastname: textOf(item.last_name) },
            raw: item,
            company_id: textOf(item.org_id),
            ...(textOf(item.update_time) === null ? {} : { updated_at: String(item.update_time) }),
          }
        })
        return { contacts, next }
      },
    },
  ],
}

async function readPage(client: Client, path: string, { since, cursor }: ReadRange) {
  const query = {
    limit: PAGE_SIZE,
    sort_by: 'update_time',
    updated_since: since?.toISOString().replace(/\.\d+Z$/, 'Z'),
    cursor: typeof cursor === 'string' ? cursor : undefined,
  }
  const answer = await client.call({ path, query })
  const more = isObject(answer.additional_data) ? answer.additional_data.next_cursor : null
  return { items: objectsOf(answer.data), next: textOf(more) }
}
