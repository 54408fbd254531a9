import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'

/** A schedule in words, with the time zone that it is in: "At 09:00, Monday through Friday (Europe/Berlin)". */
export function ScheduleWords({ cron, timeZone }: { cron: string; timeZone?: string | undefined }) {
  const zone = useScheduleZone(timeZone)
  const { data } = useQuery({
    queryKey: ['schedule-words', cron],
    // Loaded on demand: few pages show a schedule.
    queryFn: async () => {
      const { default: cronstrue } = await import('cronstrue')
      return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: true, throwExceptionOnParseError: false })
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  // For an expression that it cannot parse, it returns a sentence, which says less than the expression itself.
  const words = data === undefined || data.startsWith('An error') ? cron : data
  return (
    <span>
      {words}
      {zone === undefined ? '' : ` (${zone})`}
    </span>
  )
}

/** The time zone of a schedule: its own, else that of the rules for all agents; undefined until that is known. */
export function useScheduleZone(own: string | undefined): string | undefined {
  const { data } = useQuery(queryOf('getAgentSettings'))
  return own || data?.settings.time_zone
}
