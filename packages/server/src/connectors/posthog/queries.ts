/** The last event of a page: the next page begins after it. */
export interface EventsAfter {
  /** In UTC, with microseconds, as `2026-01-31 08:00:00.123456`. */
  time: string
  uuid: string
}

/** Events that a device sends later than this after they happened are found by a read from an earlier date only. */
const LATE_DAYS_MAX = 31
const DAY_MS = 86_400_000

/** The time of an event in UTC: PostHog would answer in the project's time zone. */
const TIME = "toString(toTimeZone(timestamp, 'UTC'))"

/**
 * A page of events, in order, either of a range of their own time or of the time at which PostHog got them. The range of
 * their own time bounds what PostHog has to search, because it sorts events by day.
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

/** A page of persons, in order: all of them, or those with events that PostHog got since a time. */
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

/** The ids of some persons. A LIMIT is needed: without one, PostHog answers 100 rows. */
export function distinctIdsQuery(personIds: readonly string[]): string {
  return `SELECT toString(person_id), groupUniqArray(200)(distinct_id) FROM person_distinct_ids
    WHERE toString(person_id) IN (${personIds.map(quoted).join(', ')})
    GROUP BY person_id LIMIT ${personIds.length}`
}

function time(at: Date): string {
  return `toDateTime(${quoted(at.toISOString())})`
}

/** Values come from PostHog, which may be anybody's server: they must stay values. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
}
