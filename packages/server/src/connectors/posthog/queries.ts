import { DAY_MS } from '../../platform/time.ts'

/** The last event of a page. The next page starts after it. */
export interface EventsAfter {
  /** In UTC, with microseconds, as `2026-01-31 08:00:00.123456`. */
  time: string
  uuid: string
}

/** If a device sends an event later than this, only a reread from an earlier date finds it. */
const LATE_DAYS_MAX = 31

/** The time of an event in UTC. By default, PostHog returns the project's time zone. */
const TIME = "toString(toTimeZone(timestamp, 'UTC'))"

/**
 * A page of events, in order, selected either by their own time or by the time at which PostHog received them. PostHog sorts
 * events by day, so a limit on their own time also limits what it has to search.
 */
export function eventsQuery(
  range: { from: Date; to: Date } | { since: Date; until: Date },
  after: EventsAfter | null,
  limit: number,
): string {
  const between =
    'from' in range
      ? [`timestamp >= ${time(range.from)}`, `timestamp < ${time(range.to)}`]
      : [
          `created_at >= ${time(range.since)}`,
          `created_at < ${time(range.until)}`,
          `timestamp >= ${time(new Date(range.since.getTime() - LATE_DAYS_MAX * DAY_MS))}`,
        ]
  const last = after === null ? [] : [afterEvent(after)]
  return `SELECT toString(uuid), event, properties, ${TIME}, distinct_id FROM events
    WHERE ${[...between, ...last].join(' AND ')} ORDER BY timestamp, toString(uuid) LIMIT ${limit}`
}

function afterEvent({ time: text, uuid }: EventsAfter): string {
  const at = `toDateTime(${quoted(`${text.replace(' ', 'T')}Z`)})`
  return `(timestamp > ${at} OR (timestamp = ${at} AND toString(uuid) > ${quoted(uuid)}))`
}

/** The time of the first event of a range, in milliseconds since 1970; 0 if there is none. */
export function firstEventQuery(from: Date | null, to: Date): string {
  const since = from === null ? '' : `timestamp >= ${time(from)} AND `
  return `SELECT toUnixTimestamp(min(timestamp)) * 1000 FROM events WHERE ${since}timestamp < ${time(to)}`
}

/** A page of persons, in order: all of them, or those with events that PostHog received since a time. */
export function personsQuery({
  since,
  until,
  after,
  limit,
}: {
  since: Date | null
  until: Date
  after: string | null
  limit: number
}): string {
  const active =
    since === null
      ? []
      : [
          `id IN (SELECT person_id FROM events WHERE created_at >= ${time(since)} AND created_at < ${time(until)}
          AND timestamp >= ${time(new Date(since.getTime() - LATE_DAYS_MAX * DAY_MS))})`,
        ]
  const where = [...active, ...(after === null ? [] : [`toString(id) > ${quoted(after)}`])]
  return `SELECT toString(id), properties FROM persons
    ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY toString(id) LIMIT ${limit}`
}

/** The distinct ids of persons. Without a LIMIT, PostHog returns only 100 rows. */
export function distinctIdsQuery(personIds: readonly string[]): string {
  return `SELECT toString(person_id), groupUniqArray(200)(distinct_id) FROM person_distinct_ids
    WHERE toString(person_id) IN (${personIds.map(quoted).join(', ')})
    GROUP BY person_id LIMIT ${personIds.length}`
}

function time(at: Date): string {
  return `toDateTime(${quoted(at.toISOString())})`
}

/** Quotes a value. Values come from a PostHog server that anyone may run, so they must not become code. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
