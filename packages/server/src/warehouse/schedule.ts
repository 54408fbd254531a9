import type { ErrorDetail } from '../platform/errors.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import { MINUTE_MS } from '../platform/time.ts'
import { problemsOfZone } from '../platform/time-zone.ts'

/** Every run copies all contacts, so runs must not follow each other too closely. */
const INTERVAL_MS_MIN = 15 * MINUTE_MS
/** How many upcoming times are compared. */
const TIMES_COMPARED = 20

type Cron = Pick<Jobs, 'nextTime'>

/** The next time of a schedule; null if there is no schedule. */
export function nextTimeOf(
  jobs: Cron,
  { schedule, time_zone, destination_id }: { schedule: string | null; time_zone: string; destination_id: string },
  now: Date,
): Date | null {
  return schedule === null ? null : jobs.nextTime(cronOf(schedule, destination_id), time_zone, now)
}

/** Destinations get different minutes, so that exports of all tenants do not start at the same time. */
function cronOf(schedule: string, destinationId: string): string {
  const minute = Number.parseInt(destinationId.slice(-4), 16) % 60
  if (schedule === 'hourly') return `${minute} * * * *`
  return schedule === 'daily' ? `${minute} 2 * * *` : schedule
}

/** The problems of a schedule. */
export function checkSchedule(
  jobs: Cron,
  { schedule, time_zone: zone }: { schedule?: string | null | undefined; time_zone?: string | undefined },
): ErrorDetail[] {
  const details = problemsOfZone('time_zone', zone)
  if (schedule === undefined || schedule === null || schedule === 'hourly' || schedule === 'daily') return details
  const times: Date[] = []
  for (let after = new Date(); times.length < TIMES_COMPARED; ) {
    const next = jobs.nextTime(schedule, 'UTC', after)
    if (next === null) break
    times.push(next)
    after = next
  }
  if (times.length === 0) {
    const message = 'must be hourly, daily, or a cron expression of five fields with a future time, such as 0 6 * * 1-5'
    return [...details, { path: 'schedule', message }]
  }
  const isTooOften = times.some(
    (time, index) => index > 0 && time.getTime() - (times[index - 1]?.getTime() ?? 0) < INTERVAL_MS_MIN,
  )
  if (isTooOften) details.push({ path: 'schedule', message: 'must leave at least 15 minutes between two runs' })
  return details
}
