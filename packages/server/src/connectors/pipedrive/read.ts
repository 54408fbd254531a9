import { isObject } from '../../platform/is-object.ts'
import { DAY_MS } from '../../platform/time.ts'
import { type Client, objectsOf, textOf } from '../client.ts'
import type { ReadRange, RecordsPage } from '../connector.ts'

const PAGE_SIZE = 500
/** Pipedrive removes deleted records permanently after 30 days. After that, they cannot be found. */
const DELETED_DAYS = 30

export type Item = Record<string, unknown> & { id: string | number }

type Query = Record<string, string | number | undefined>

/** A page of changed items, in the order of their changes. */
export async function readPage(
  client: Client,
  path: string,
  { since, cursor }: Pick<ReadRange, 'since' | 'cursor'>,
  more: Query = {},
) {
  const query = {
    limit: PAGE_SIZE,
    sort_by: 'update_time',
    updated_since: since === null ? undefined : secondsOf(since),
    cursor: typeof cursor === 'string' ? cursor : undefined,
    ...more,
  }
  const response = await client.call({ path, query })
  const next = isObject(response.additional_data) ? response.additional_data.next_cursor : null
  return { items: objectsOf(response.data).filter(hasId), next: textOf(next) }
}

/** All items of a short list, such as the fields. */
export async function readAll(client: Client, path: string, query: Query = {}): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = []
  let cursor: string | null = null
  do {
    const response = await client.call({ path, query: { limit: PAGE_SIZE, ...query, cursor: cursor ?? undefined } })
    all.push(...objectsOf(response.data))
    cursor = isObject(response.additional_data) ? textOf(response.additional_data.next_cursor) : null
  } while (cursor !== null)
  return all
}

/** Separates existing items from the ids of deleted ones. */
export function splitDeleted(items: readonly Item[]): [Item[], string[]] {
  const deleted = items.filter(({ is_deleted }) => is_deleted === true)
  return [items.filter((item) => !deleted.includes(item)), deleted.map(({ id }) => String(id))]
}

/**
 * Reads deletions. The documentation does not say that the lists of API v2 contain them, so they are read from the recent
 * changes: https://developers.pipedrive.com/docs/api/v1/Recents. A person that was merged into another appears as deleted.
 */
export async function readDeletions(client: Client, { since, until, cursor }: ReadRange): Promise<RecordsPage> {
  const oldest = until.getTime() - DELETED_DAYS * DAY_MS
  const from = new Date(Math.max(since?.getTime() ?? oldest, oldest))
  const start = typeof cursor === 'number' ? cursor : 0
  const { data, additional_data } = await client.call({
    path: '/api/v1/recents',
    query: {
      since_timestamp: secondsOf(from).replace('T', ' ').replace('Z', ''),
      items: 'person,organization',
      start,
      limit: PAGE_SIZE,
    },
  })
  const changes = objectsOf(data)
  const idsOf = (kind: string) =>
    changes.flatMap(({ item, id, data: record }) => {
      const isDeleted = item === kind && (record === null || (isObject(record) && record.active_flag === false))
      return isDeleted ? (textOf(id) ?? []) : []
    })
  const pagination = isObject(additional_data) && isObject(additional_data.pagination) ? additional_data.pagination : {}
  const { more_items_in_collection: hasMore, next_start } = pagination
  const next = typeof next_start === 'number' && next_start > start ? next_start : start + changes.length
  return {
    deleted: idsOf('person'),
    deletedCompanies: idsOf('organization'),
    next: hasMore === true && changes.length > 0 ? next : null,
  }
}

/** RFC 3339 without fractions of a second. */
export function secondsOf(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z')
}

export function hasId(item: Record<string, unknown>): item is Item {
  return textOf(item.id) !== null
}
