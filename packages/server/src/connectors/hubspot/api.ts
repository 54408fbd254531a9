import { isObject } from '../../platform/is-object.ts'
import type { JsonResponse } from '../../platform/outbound/json-api.ts'
import { HOUR_MS, MINUTE_MS } from '../../platform/time.ts'
import { type Client, objectsOf, retryAfter, textOf } from '../client.ts'
import type { Json, ReadRange } from '../connector.ts'

/**
 * HubSpot's CRM API v3 and associations API v4:
 * https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/guide, …/crm/search-the-crm, …/error-handling and
 * https://developers.hubspot.com/docs/developer-tooling/platform/usage-guidelines for the limits.
 */

const LIST_SIZE = 100
const SEARCH_SIZE = 200
const BATCH_SIZE = 100
/** HubSpot reads fewer records at a time if it returns their history too. */
const HISTORY_BATCH_SIZE = 50
/** Keeps the URL below 2,048 characters; its other parts are short. */
const PROPERTIES_LENGTH_MAX = 1_500
const DAILY_RETRY_MS = HOUR_MS
const SECONDLY_RETRY_MS = 1_000
/** A search may find a changed record slightly late, so each one starts before the end of the last one. */
export const OVERLAP_SECONDS = 300
/** Until a search finds a merge, the merged record looks deleted. */
const DELETION_DELAY_MS = MINUTE_MS
const DELETIONS_EVERY_MS = 6 * HOUR_MS

export type Item = Record<string, unknown> & { id: string; properties: Record<string, unknown> }

/** A page of an object's records. */
export interface ItemPage {
  items: Item[]
  /** The ids of deleted records. */
  deleted: string[]
  next: Json
}

interface ObjectReading {
  /** The type in the path. */
  type: string
  properties: readonly string[]
  /** The property that contains the time of the last change. */
  changedAt: string
  /** The property that contains the time of an activity. Activities that took place since the last read are read too. */
  happensAt?: string
  /** Whether to read deleted records. */
  hasDeleted: boolean
}

type Range = Pick<ReadRange, 'since' | 'until' | 'isHistory' | 'cursor'>

/**
 * Reads the next page: first all records in HubSpot's order, or changed records, then deleted ones. A search returns at most
 * 10,000 records, and many may have changed at the same moment, so each page is a separate search for greater ids.
 */
export async function readPage(client: Client, reading: ObjectReading, range: Range): Promise<ItemPage> {
  const cursor = isObject(range.cursor) ? range.cursor : {}
  const after = textOf(cursor.after)
  if (cursor.phase === 'deleted') return readDeleted(client, reading, range, after)
  const { items, more } =
    range.since === null
      ? await list(client, reading, after)
      : await search(client, reading, { since: range.since, until: range.until, after })
  if (more !== null) return { items, deleted: [], next: { phase: 'records', after: more } }
  const readsDeleted = reading.hasDeleted && deletedSince(range) !== null
  return { items, deleted: [], next: readsDeleted ? { phase: 'deleted' } : null }
}

/**
 * The time from which this run reads deleted records; null: it reads none. HubSpot always lists the deletions of 90 days, so
 * only the first run of every six hours reads the list, for the time since the previous run that did.
 */
function deletedSince({ since, until, isHistory }: Range): number | null {
  if (since === null) return 0
  const before = since.getTime() + (isHistory ? 0 : OVERLAP_SECONDS * 1_000)
  const startOf = (time: number) => time - (time % DELETIONS_EVERY_MS)
  const isFirst = startOf(before) < startOf(until.getTime())
  return isHistory || isFirst ? startOf(before) - DELETION_DELAY_MS : null
}

async function list(client: Client, { type, properties }: ObjectReading, after: string | null) {
  const path = `/crm/v3/objects/${type}`
  const names = properties.join(',')
  const isLong = names.length > PROPERTIES_LENGTH_MAX
  const query = { limit: LIST_SIZE, after: after ?? undefined, ...(isLong ? {} : { properties: names }) }
  const response = await client.call({ path, query })
  const listed = itemsOf(response.results)
  const ids = listed.map(({ id }) => id)
  return { items: isLong ? await readBatch(client, type, ids, properties) : listed, more: moreAfter(response) }
}

async function search(
  client: Client,
  { type, properties, changedAt, happensAt }: ObjectReading,
  { since, until, after }: { since: Date; until: Date; after: string | null },
) {
  const further = after === null ? [] : [{ propertyName: 'hs_object_id', operator: 'GT', value: after }]
  const from = { operator: 'GTE', value: String(since.getTime()) }
  const to = { operator: 'LTE', value: String(until.getTime()) }
  const happened =
    happensAt === undefined
      ? []
      : [
          { ...from, propertyName: happensAt },
          { ...to, propertyName: happensAt },
        ]
  const body = {
    filterGroups: [
      { filters: [{ ...from, propertyName: changedAt }, ...further] },
      ...(happened.length === 0 ? [] : [{ filters: [...happened, ...further] }]),
    ],
    sorts: [{ propertyName: 'hs_object_id', direction: 'ASCENDING' }],
    properties,
    limit: SEARCH_SIZE,
  }
  const response = await client.call({ method: 'POST', path: `/crm/v3/objects/${type}/search`, body, isRead: true })
  const items = itemsOf(response.results)
  return { items, more: items.length < SEARCH_SIZE ? null : (items.at(-1)?.id ?? null) }
}

/** HubSpot lists deleted records for 90 days. Records that were deleted just now are left to the next read. */
async function readDeleted(client: Client, { type }: ObjectReading, range: Range, after: string | null) {
  const from = deletedSince(range) ?? 0
  const to = range.until.getTime() - DELETION_DELAY_MS
  const query = { limit: LIST_SIZE, archived: 'true', after: after ?? undefined }
  const response = await client.call({ path: `/crm/v3/objects/${type}`, query })
  const deleted = itemsOf(response.results).filter(({ archivedAt }) => {
    const at = Date.parse(textOf(archivedAt) ?? '')
    return Number.isNaN(at) || (at >= from && at <= to)
  })
  const more = moreAfter(response)
  return {
    items: [],
    deleted: deleted.map(({ id }) => id),
    next: more === null ? null : { phase: 'deleted', after: more },
  }
}

/** Reads records by id, or by another unique property. Records that do not exist are left out. */
export async function readBatch(
  client: Client,
  type: string,
  ids: readonly string[],
  properties: readonly string[],
  idProperty?: string,
): Promise<Item[]> {
  const found: Item[] = []
  for (let from = 0; from < ids.length; from += BATCH_SIZE) {
    const inputs = ids.slice(from, from + BATCH_SIZE).map((id) => ({ id }))
    const response = await client.call({
      path: `/crm/v3/objects/${type}/batch/read`,
      body: { inputs, properties, ...(idProperty === undefined ? {} : { idProperty }) },
      isRead: true,
    })
    found.push(...itemsOf(response.results))
  }
  return found
}

/** The values that a property had, latest first, by the id of each record. */
export async function readHistories(
  client: Client,
  type: string,
  ids: readonly string[],
  property: string,
): Promise<Map<string, Record<string, unknown>[]>> {
  const histories = new Map<string, Record<string, unknown>[]>()
  for (let from = 0; from < ids.length; from += HISTORY_BATCH_SIZE) {
    const inputs = ids.slice(from, from + HISTORY_BATCH_SIZE).map((id) => ({ id }))
    const response = await client.call({
      path: `/crm/v3/objects/${type}/batch/read`,
      body: { inputs, properties: [], propertiesWithHistory: [property] },
      isRead: true,
    })
    for (const { id, propertiesWithHistory: all } of itemsOf(response.results)) {
      histories.set(id, isObject(all) ? objectsOf(all[property]) : [])
    }
  }
  return histories
}

/** The ids of associated records, by the id of each given record. */
export async function readAssociations(
  client: Client,
  from: string,
  to: string,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  const pending: { id: string; after?: string }[] = ids.map((id) => ({ id }))
  while (pending.length > 0) {
    const inputs = pending.splice(0, BATCH_SIZE)
    const response = await client.call({
      path: `/crm/v4/associations/${from}/${to}/batch/read`,
      body: { inputs },
      isRead: true,
    })
    for (const result of objectsOf(response.results)) {
      const id = isObject(result.from) ? textOf(result.from.id) : null
      if (id === null) continue
      const others = objectsOf(result.to).flatMap(({ toObjectId }) => textOf(toObjectId) ?? [])
      found.set(id, [...new Set([...(found.get(id) ?? []), ...others])])
      // A record with many associations has more pages.
      const more = moreAfter(result)
      if (more !== null) pending.push({ id, after: more })
    }
  }
  return found
}

export function itemsOf(value: unknown): Item[] {
  return objectsOf(value).flatMap((item) => {
    const id = textOf(item.id)
    return id === null ? [] : [{ ...item, id, properties: isObject(item.properties) ? item.properties : {} }]
  })
}

function moreAfter({ paging }: Record<string, unknown>): string | null {
  return isObject(paging) && isObject(paging.next) ? textOf(paging.next.after) : null
}

/** Lookups that a pull or a write-back makes once: owners, stage names, property types. */
const lookedUp = new WeakMap<Client, Map<string, Promise<unknown>>>()

function once<Value>(client: Client, what: string, lookUp: () => Promise<Value>): Promise<Value> {
  const known = lookedUp.get(client) ?? new Map<string, Promise<unknown>>()
  lookedUp.set(client, known)
  const found = (known.get(what) as Promise<Value> | undefined) ?? lookUp()
  known.set(what, found)
  // After a failed lookup, the next caller tries again.
  found.catch(() => known.delete(what))
  return found
}

/** https://developers.hubspot.com/docs/api-reference/account-account-info-v3/guide */
export function readAccount(client: Client): Promise<{ id: string | null; currency: string | null }> {
  return once(client, 'account', async () => {
    const { portalId, companyCurrency } = await client.call({ path: '/account-info/v3/details' })
    return { id: textOf(portalId), currency: textOf(companyCurrency) }
  })
}

export interface Owner {
  name: string | null
  email: string | null
}

/** Owners by id, including deactivated ones, because records still refer to them. */
export function readOwners(client: Client): Promise<Map<string, Owner>> {
  return once(client, 'owners', async () => {
    const owners = new Map<string, Owner>()
    for (const archived of ['true', 'false']) {
      let after: string | null = null
      do {
        const query = { limit: 500, archived, after: after ?? undefined }
        const response = await client.call({ path: '/crm/v3/owners', query })
        for (const { id, firstName, lastName, email } of objectsOf(response.results)) {
          const name = [textOf(firstName), textOf(lastName)].filter((part) => part !== null).join(' ')
          owners.set(textOf(id) ?? '', { name: name || null, email: textOf(email) })
        }
        after = moreAfter(response)
      } while (after !== null)
    }
    return owners
  })
}

export interface Stage {
  name: string
  pipeline: string | null
  isClosed: boolean
}

/** The stages of deals, by id. */
export function readStages(client: Client): Promise<Map<string, Stage>> {
  return once(client, 'stages', async () => {
    const { results } = await client.call({ path: '/crm/v3/pipelines/deals' })
    const stages = objectsOf(results).flatMap(({ label: pipeline, stages }) =>
      objectsOf(stages).map(({ id, label, metadata }): [string, Stage] => {
        // HubSpot sends the flag as text.
        const isClosed = isObject(metadata) && String(metadata.isClosed) === 'true'
        return [textOf(id) ?? '', { name: textOf(label) ?? textOf(id) ?? '', pipeline: textOf(pipeline), isClosed }]
      }),
    )
    return new Map(stages)
  })
}

/** The types of the account's contact properties, by name. A `list` has several values. */
export function readTypes(client: Client): Promise<Map<string, string>> {
  return once(client, 'types', async () => {
    const { results } = await client.call({ path: '/crm/v3/properties/contacts' })
    return new Map(
      objectsOf(results).map(({ name, type, fieldType }) => [
        textOf(name) ?? '',
        fieldType === 'checkbox' ? 'list' : (textOf(type) ?? 'string'),
      ]),
    )
  })
}

/**
 * When a refused request may be retried. For `TEN_SECONDLY_ROLLING`, the response contains the length of the interval. The daily
 * limit ends at midnight in the account's time zone, which is unknown, so the request is retried every hour.
 */
export function retryAt(response: JsonResponse, now: Date): Date | null {
  const usual = retryAfter(response, now)
  if (usual === null || response.headers['retry-after'] !== undefined) return usual
  const { policyName = '', message = '' } = isObject(response.body) ? response.body : {}
  const later = (ms: number) => new Date(now.getTime() + ms)
  if (policyName === 'DAILY' || /daily limit/i.test(String(message))) return later(DAILY_RETRY_MS)
  if (policyName === 'SECONDLY' || /secondly limit/i.test(String(message))) {
    const isOfTenSeconds = /ten.?secondly/i.test(String(message))
    if (!isOfTenSeconds) return later(SECONDLY_RETRY_MS)
  }
  const interval = Number(response.headers['x-hubspot-ratelimit-interval-milliseconds'])
  return interval > 0 && interval <= DAILY_RETRY_MS ? later(interval) : usual
}

/** When the next request may be sent, if none is left in HubSpot's current interval. */
export function nextAt({ headers }: JsonResponse, now: Date): Date | null {
  const interval = Number(headers['x-hubspot-ratelimit-interval-milliseconds'])
  const isUsedUp = headers['x-hubspot-ratelimit-remaining'] === '0'
  return isUsedUp && interval > 0 && interval <= DAILY_RETRY_MS ? new Date(now.getTime() + interval) : null
}
