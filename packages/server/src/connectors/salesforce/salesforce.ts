import Type from 'typebox'
import { validationError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import type { JsonResponse } from '../../platform/outbound/json-api.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { providerNamed } from '../../providers/provider.ts'
import { objectsOf, retryAfter, textOf } from '../client.ts'
import type { Connector, Settings } from '../connector.ts'
import { salesforceActivities } from './activities.ts'
import { OBJECTS } from './objects.ts'
import { DATA } from './query.ts'
import { salesforceWriteBack } from './write.ts'

/** Hosts of organizations, their sandboxes and government clouds. */
const HOST = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.(salesforce\.com|force\.com|cloudforce\.com|salesforce\.mil)$/
/** The daily limit covers the last 24 hours, so requests become available again gradually. */
const DAILY_RETRY_MS = 15 * MINUTE_MS
/** The pause after too many concurrent long requests. */
const CONCURRENT_RETRY_MS = 30_000
/** Above this share of the daily limit, the rest is left to the organization's other programs. */
const USABLE_SHARE = 0.95
const RESERVE_RETRY_MS = HOUR_MS

/**
 * Uses Salesforce's REST API (https://developer.salesforce.com/docs/atlas.en-us.api_rest.meta/api_rest/) and, for large
 * reads, the queries of Bulk API 2.0 (https://developer.salesforce.com/docs/atlas.en-us.api_asynch.meta/api_asynch/queries.htm).
 */
export const salesforce: Connector = {
  name: 'salesforce',
  label: 'Salesforce',
  kind: 'crm',
  credentials: {},
  oauth: { provider: 'salesforce', scopes: ['api', 'refresh_token'] },
  settingsOfResponse: ({ instance_url }) => (instance_url === undefined ? {} : { instance_url }),
  settings: {
    domain: Type.Optional(
      Type.String({
        maxLength: 253,
        description:
          'Where people sign in: test.salesforce.com for sandboxes, or your My Domain. Default: login.salesforce.com.',
        examples: ['acme.my.salesforce.com'],
      }),
    ),
    instance_url: Type.Optional(
      Type.String({
        maxLength: 253,
        readOnly: true,
        description: "The organization's URL. A sign-in sets it.",
        examples: ['https://acme.my.salesforce.com'],
      }),
    ),
    create_as: Type.Optional(
      Type.Enum(['contact', 'lead'], {
        description: 'What write-back creates for a contact that Salesforce does not have. Default: contact.',
      }),
    ),
  },
  baseUrl,
  headers: ({ access_token }) => ({ authorization: `Bearer ${access_token}` }),
  pauseMs: 50,
  retryAt,
  nextAt: ({ headers }, now) => {
    const [, used, limit] = /api-usage=(\d+)\/(\d+)/.exec(headers['sforce-limit-info'] ?? '') ?? []
    const isNearLimit = used !== undefined && Number(used) >= Number(limit) * USABLE_SHARE
    return isNearLimit ? new Date(now.getTime() + RESERVE_RETRY_MS) : null
  },
  account: async (client) => {
    const { records } = await client.call({ path: `${DATA}/query`, query: { q: 'SELECT Id, Name FROM Organization' } })
    const [organization = {}] = objectsOf(records)
    // Sandboxes have the same name as their organization.
    const id = textOf(organization.Id)
    return { id, label: `${textOf(organization.Name) ?? 'Salesforce'} (${id ?? 'unknown'})` }
  },
  objects: OBJECTS,
  activities: salesforceActivities,
  writeBack: salesforceWriteBack,
}

function baseUrl({ domain, instance_url }: Settings): string {
  const signIn = providerNamed('salesforce').urlsOf(typeof domain === 'string' ? { domain } : {})
  if (typeof instance_url !== 'string') return new URL(signIn.tokenUrl).origin
  const url = URL.parse(instance_url)
  const isPlain = url?.protocol === 'https:' && url.host === url.hostname && url.href === `${url.origin}/`
  if (isPlain && HOST.test(url.hostname)) return url.origin
  const message = 'must be the URL of a Salesforce organization, like https://acme.my.salesforce.com'
  throw validationError([{ path: 'settings.instance_url', message }])
}

/** Errors are lists of `{errorCode, message}`. */
function retryAt(response: JsonResponse, now: Date): Date | null {
  const [first] = Array.isArray(response.body) ? (response.body as unknown[]) : []
  if (!isObject(first) || first.errorCode !== 'REQUEST_LIMIT_EXCEEDED') return retryAfter(response, now)
  const isConcurrent = String(first.message).startsWith('Concurrent')
  return new Date(now.getTime() + (isConcurrent ? CONCURRENT_RETRY_MS : DAILY_RETRY_MS))
}
