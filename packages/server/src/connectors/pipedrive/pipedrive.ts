import Type from 'typebox'
import { validationError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import type { JsonResponse } from '../../platform/outbound/json-api.ts'
import { HOUR_MS } from '../../platform/time.ts'
import { retryAfter, textOf } from '../client.ts'
import type { Connector, ConnectorObject } from '../connector.ts'
import { readActivities } from './activities.ts'
import { readDeals } from './deals.ts'
import { fieldsOf, hasMarketing } from './fields.ts'
import { toCompany, toContact } from './map.ts'
import { readDeletions, readPage, splitDeleted } from './read.ts'
import { pipedriveActivities } from './store-activities.ts'
import { pipedriveWriteBack } from './write.ts'

const ANY_HOST = 'https://api.pipedrive.com'
const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.pipedrive\.com$/
/** A list may contain a change slightly late. */
const OVERLAP_SECONDS = 300
/** The lowest limit is 20 requests in 2 seconds. */
const PAUSE_MS = 125
/** The daily budget is renewed at midnight, in a time zone that Pipedrive does not report. */
const DAILY_RETRY_MS = HOUR_MS

const objectOf = (name: string, read: ConnectorObject['read'], needs: readonly string[] = []): ConnectorObject => ({
  name,
  needs,
  overlapSeconds: OVERLAP_SECONDS,
  read,
})

/**
 * Uses Pipedrive's API v2 where it has an endpoint, and v1 otherwise (https://developers.pipedrive.com/docs/api/v1), with an
 * API token or OAuth (https://pipedrive.readme.io/docs/marketplace-oauth-authorization). Limits:
 * https://pipedrive.readme.io/docs/core-api-concepts-rate-limiting
 */
export const pipedrive: Connector = {
  name: 'pipedrive',
  label: 'Pipedrive',
  kind: 'crm',
  credentials: { api_token: 'Your API token: Settings → Personal preferences → API.' },
  // The registered app determines the scopes.
  oauth: { provider: 'pipedrive', scopes: [] },
  settingsOfResponse: ({ api_domain }) => (api_domain === undefined ? {} : { api_domain }),
  settings: {
    api_domain: Type.Optional(
      Type.String({
        maxLength: 200,
        readOnly: true,
        description: "The account's URL. A sign-in sets it.",
        examples: ['https://acme.pipedrive.com'],
      }),
    ),
  },
  baseUrl: ({ api_domain }) => {
    if (typeof api_domain !== 'string') return ANY_HOST
    const url = URL.parse(api_domain)
    const isPlain = url?.protocol === 'https:' && url.host === url.hostname && url.href === `${url.origin}/`
    if (isPlain && HOST.test(url.hostname)) return url.origin
    const message = 'must be the URL of a Pipedrive account, like https://acme.pipedrive.com'
    throw validationError([{ path: 'settings.api_domain', message }])
  },
  headers: ({ api_token, access_token }): Record<string, string> =>
    api_token === undefined ? { authorization: `Bearer ${access_token}` } : { 'x-api-token': api_token },
  pauseMs: PAUSE_MS,
  retryAt,
  account: async (client) => {
    const { data } = await client.call({ path: '/api/v1/users/me' })
    const user = isObject(data) ? data : {}
    return { id: textOf(user.company_id), label: textOf(user.company_name) ?? textOf(user.name) ?? 'Pipedrive' }
  },
  objects: [
    objectOf('organizations', async (client, range) => {
      const { items, next } = await readPage(client, '/api/v2/organizations', range)
      const [current, deletedCompanies] = splitDeleted(items)
      const fields = await fieldsOf(client, 'organization', current)
      return { companies: current.map((item) => toCompany(item, fields)), deletedCompanies, next }
    }),
    objectOf('persons', async (client, range) => {
      const more = (await hasMarketing(client)) ? { include_fields: 'marketing_status' } : {}
      const { items, next } = await readPage(client, '/api/v2/persons', range, more)
      const [current, deleted] = splitDeleted(items)
      const fields = await fieldsOf(client, 'person', current)
      return { contacts: current.map((item) => toContact(item, fields, range.pairs)), deleted, next }
    }),
    objectOf('deals', readDeals, ['persons']),
    objectOf('activities', readActivities, ['persons']),
    objectOf('deletions', readDeletions),
  ],
  activities: pipedriveActivities,
  writeBack: pipedriveWriteBack,
}

/** A header of a 429 shows whether the day's tokens are used up. Other limits end within seconds. */
function retryAt(response: JsonResponse, now: Date): Date | null {
  if (response.status !== 429) return null
  const { 'x-daily-ratelimit-token-remaining': tokens, 'x-ratelimit-reset': reset } = response.headers
  if (tokens !== undefined && Number(tokens) <= 0) return new Date(now.getTime() + DAILY_RETRY_MS)
  const seconds = Number(reset)
  const isKnown = reset !== undefined && Number.isFinite(seconds) && response.headers['retry-after'] === undefined
  return isKnown ? new Date(now.getTime() + Math.max(0, seconds) * 1_000) : retryAfter(response, now)
}
