import type { ClickHouse } from '../src/platform/clickhouse/connect.ts'
import type { PeerEvent } from './analytics.ts'
import type { SystemRequest, SystemResponse } from './connected-system.ts'

/**
 * PostHog's query API (https://posthog.com/docs/api/queries) on a real ClickHouse, which PostHog has too. What HogQL changes of
 * a query is changed here: the names of its tables, and `toDateTime`, which parses any form with microseconds.
 */
export interface PostHogPeer {
  respond(request: SystemRequest): Promise<SystemResponse>
  add(...events: PeerEvent[]): Promise<void>
  /** Adds rows as they are. */
  insert(table: 'events' | 'persons' | 'person_distinct_ids', ...rows: object[]): Promise<void>
  reset(): Promise<void>
  queries: string[]
}

const TABLES = {
  events:
    "uuid UUID, event String, properties String, timestamp DateTime64(6, 'UTC'), distinct_id String, created_at DateTime64(6, 'UTC'), person_id String",
  persons: 'id UUID, properties String',
  person_distinct_ids: 'distinct_id String, person_id UUID',
}
/** Without a LIMIT. */
const ROWS_DEFAULT = 100
const ROWS_MAX = 50_000

export function createPostHog(clickhouse: () => ClickHouse): PostHogPeer {
  const persons = new Map<string, number>()
  let inserts = 0
  const queries: string[] = []
  const run = async (hogql: string): Promise<SystemResponse> => {
    queries.push(hogql)
    const limit = Number(/LIMIT (\d+)\s*$/.exec(hogql)?.[1] ?? ROWS_DEFAULT)
    if (limit > ROWS_MAX) return { status: 400, body: { type: 'validation_error', detail: 'LIMIT is too high.' } }
    const sql = hogql
      .replaceAll(/\bFROM (events|persons|person_distinct_ids)\b/g, 'FROM posthog_$1')
      .replaceAll(/toDateTime\(('[^']*')\)/g, "parseDateTime64BestEffort($1, 6, 'UTC')")
    const rows = await clickhouse().query<Record<string, unknown>>(
      /LIMIT \d+\s*$/.test(sql) ? sql : `${sql} LIMIT ${ROWS_DEFAULT}`,
    )
    const results = rows.map((row) => Object.values(row))
    return { body: { results, columns: Object.keys(rows[0] ?? {}), hasMore: false } }
  }
  const insert: PostHogPeer['insert'] = async (table, ...rows) => {
    const body = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    await clickhouse().insert(`posthog_${table}`, 'JSONEachRow', body, `posthog ${++inserts}`)
  }
  return {
    queries,
    insert,
    respond: async ({ method, path, body }) => {
      if (method !== 'POST' || path !== '/api/projects/7/query/') {
        return { status: 404, body: { type: 'invalid_request', code: 'not_found', detail: 'Not found.' } }
      }
      const { query } = JSON.parse(body) as { query: { kind: string; query: string } }
      return run(query.query)
    },
    add: async (...events) => {
      for (const { userId, deviceId, person } of events) {
        if (userId === undefined || persons.has(userId)) continue
        persons.set(userId, persons.size + 1)
        const id = personId(persons.get(userId) ?? 0)
        await insert('persons', { id, properties: JSON.stringify({ ...person, $creator: 'x' }) })
        await insert('person_distinct_ids', { distinct_id: userId, person_id: id })
        const devices = new Set(events.filter((each) => each.userId === userId).map((each) => each.deviceId))
        for (const device of devices) {
          if (device !== undefined) await insert('person_distinct_ids', { distinct_id: device, person_id: id })
        }
        if (deviceId !== undefined && !devices.has(deviceId)) throw new Error('The device is missing.')
      }
      const rows = events.map(({ id, name, at, receivedAt = at, userId, deviceId, properties }) => ({
        uuid: uuidOf(id, name),
        event: name,
        properties: JSON.stringify({ ...properties, ...(deviceId === undefined ? {} : { $device_id: deviceId }) }),
        timestamp: clickhouseTime(at),
        distinct_id: userId ?? deviceId ?? '',
        created_at: clickhouseTime(receivedAt),
        person_id: userId === undefined ? '' : personId(persons.get(userId) ?? 0),
      }))
      await insert('events', ...rows)
    },
    reset: async () => {
      persons.clear()
      queries.length = 0
      for (const [name, columns] of Object.entries(TABLES)) {
        await clickhouse().command(
          `CREATE TABLE IF NOT EXISTS posthog_${name} (${columns}) ENGINE = MergeTree ORDER BY tuple()`,
        )
        await clickhouse().command(`TRUNCATE TABLE posthog_${name}`)
      }
    },
  }
}

/** The id that PostHog gave an event: every event has one. */
export function uuidOf(id: string, name: string): string {
  const digits = Buffer.from(`${id}/${name}`).toString('hex').padEnd(20, '0').slice(0, 20)
  return `019a0000-0000-7000-8${digits.slice(0, 3)}-${digits.slice(3, 15)}`
}

export function personId(number: number): string {
  return `5e000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** With microseconds, which JavaScript has not. */
export function clickhouseTime(at: Date): string {
  return `${at.toISOString().replace('T', ' ').replace('Z', '')}456`
}
