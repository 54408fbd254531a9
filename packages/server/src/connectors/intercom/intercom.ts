import Type from 'typebox'
import { ServiceError } from '../../platform/errors.ts'
import { isObject } from '../../platform/is-object.ts'
import { OutboundError } from '../../platform/outbound/client.ts'
import type { JsonResponse } from '../../platform/outbound/json-api.ts'
import { DAY_SECONDS } from '../../platform/time.ts'
import { ApiRefused, type Client, objectsOf, textOf } from '../client.ts'
import type { Connector, ReadRange, Settings, SourceCall } from '../connector.ts'
import { contactRecord, conversationMessages, type SourceMessage } from './map.ts'

/** The API version that this code uses. Intercom keeps supporting old versions. */
const VERSION = '2.14'
const CONTACTS_PER_PAGE = 150
/** Fewer than contacts, because each conversation is read with its messages. */
const CONVERSATIONS_PER_PAGE = 50
/** Contact searches have a resolution of one day. */
const CONTACTS_OVERLAP_SECONDS = DAY_SECONDS
/** A search may find a change minutes late. */
const CONVERSATIONS_OVERLAP_SECONDS = 900
/** The length of Intercom's rate limit window, used if the response does not say when it ends. */
const WINDOW_MS = 10_000

/** The API's base URL in each hosting region. */
const REGIONS: Readonly<Record<string, string>> = {
  us: 'https://api.intercom.io',
  eu: 'https://api.eu.intercom.io',
  au: 'https://api.au.intercom.io',
}

/**
 * Intercom's REST API: https://developers.intercom.com/docs/references/2.14/rest-api/api.intercom.io
 * Its search does not report deletions or merges.
 */
export const intercom: Connector = {
  name: 'intercom',
  label: 'Intercom',
  kind: 'messaging',
  credentials: {
    access_token: 'The access token of your Intercom app: Developer Hub → your app → Authentication.',
  },
  settings: {
    region: Type.Optional(
      Type.Enum(Object.keys(REGIONS), {
        title: 'Region',
        description: 'Where Intercom hosts your workspace. Default: us.',
        default: 'us',
      }),
    ),
  },
  baseUrl: ({ region }: Settings) => REGIONS[String(region ?? 'us')] ?? '',
  headers: ({ access_token = '' }) => ({ authorization: `Bearer ${access_token}`, 'intercom-version': VERSION }),
  pauseMs: 0,
  retryAt: (response, now) =>
    response.status === 429 ? (windowEnd(response) ?? new Date(now.getTime() + WINDOW_MS)) : null,
  nextAt: (response) => (response.headers['x-ratelimit-remaining'] === '0' ? windowEnd(response) : null),
  explain: ({ body }) => (isObject(body) && textOf(objectsOf(body.errors)[0]?.message)) || '',
  account: async (client) => {
    const response = await client.call({ path: '/me' })
    const app = isObject(response.app) ? response.app : {}
    return { id: textOf(app.id_code), label: textOf(app.name) ?? 'Intercom' }
  },
  objects: [
    {
      name: 'contacts',
      overlapSeconds: CONTACTS_OVERLAP_SECONDS,
      read: async (client, range) => {
        const { items, next } = await search(client, 'contacts', CONTACTS_PER_PAGE, range)
        return { contacts: items.flatMap((item) => contactRecord(item) ?? []), next }
      },
    },
    {
      name: 'conversations',
      overlapSeconds: CONVERSATIONS_OVERLAP_SECONDS,
      needs: ['contacts'],
      read: async (client, range) => {
        const { items, next } = await search(client, 'conversations', CONVERSATIONS_PER_PAGE, range)
        const conversations: SourceMessage[][] = []
        const failed: SourceCall[] = []
        for (const { id } of items) {
          // Search results do not contain the messages.
          const conversation = await readConversation(client, textOf(id))
          if (conversation instanceof ServiceError) failed.push({ id: textOf(id) ?? '', call: conversation })
          else if (conversation) conversations.push(conversationMessages(conversation))
        }
        return { conversations, calls: failed, next }
      },
    },
  ],
}

/** The next page of records that changed after `since`, in the order of their changes. */
async function search(
  client: Client,
  what: 'contacts' | 'conversations',
  perPage: number,
  { since, cursor }: ReadRange,
): Promise<{ items: Record<string, unknown>[]; next: string | null }> {
  const from = (startingAfter: string | null) =>
    client.call({
      method: 'POST',
      path: `/${what}/search`,
      isRead: true,
      body: {
        query: { field: 'updated_at', operator: '>', value: since === null ? 0 : Math.floor(since.getTime() / 1_000) },
        sort: { field: 'updated_at', order: 'ascending' },
        pagination: { per_page: perPage, ...(startingAfter === null ? {} : { starting_after: startingAfter }) },
      },
    })
  const startingAfter = textOf(cursor)
  const response = await from(startingAfter).catch((error: unknown) => {
    // An old cursor may have expired. The search starts again, and records that were already read change nothing.
    if (error instanceof ApiRefused && error.status === 400 && startingAfter !== null) return from(null)
    throw error
  })
  const next = isObject(response.pages) && isObject(response.pages.next) ? response.pages.next.starting_after : null
  return { items: objectsOf(what === 'contacts' ? response.data : response.conversations), next: textOf(next) }
}

/** Statuses that refuse a single conversation for good. The others are still read. A 402 or 403 refuses all of them. */
const UNREADABLE = [400, 422]

/** A conversation with its parts; null if it no longer exists; an error if Intercom refuses it for good. */
async function readConversation(
  client: Client,
  id: string | null,
): Promise<Record<string, unknown> | ServiceError | null> {
  if (id === null) return null
  try {
    return await client.call({ path: `/conversations/${encodeURIComponent(id)}` })
  } catch (error) {
    if (error instanceof ApiRefused && error.status === 404) return null
    const isUnreadable = error instanceof ApiRefused && UNREADABLE.includes(error.status)
    const isTooLong = error instanceof OutboundError && error.code === 'too_long'
    if (!isUnreadable && !isTooLong) throw error
    return new ServiceError(422, 'conversation_not_readable', error.message)
  }
}

/** When the rate limit window ends: a time in seconds since 1970. */
function windowEnd({ headers }: JsonResponse): Date | null {
  const date = new Date(Number(headers['x-ratelimit-reset'] ?? Number.NaN) * 1_000)
  return Number.isNaN(date.getTime()) ? null : date
}
