import { useQuery } from '@tanstack/react-query'

/** A schedule in words: "At 09:00, Monday through Friday". */
export function ScheduleWords({ cron, timeZone }: { cron: string; timeZone?: string | undefined }) {
  const { data } = useQuery({
    queryKey: ['schedule-words', cron],
    // Only whoever looks at a schedule needs what puts it into words.
    queryFn: async () => {
      const { default: cronstrue } = await import('cronstrue')
      return cronstrue.toString(cron, { use24HourTimeFormat: true, verbose: false, throwExceptionOnParseError: false })
    },
    staleTime: Number.POSITIVE_INFINITY,
  })
  // It answers in a sentence what it cannot read, which says less than the expression itself.
  const words = data === undefined || data.startsWith('An error') ? cron : data
  return (
    <span>
      {words}
      {timeZone === undefined ? '' : ` (${timeZone})`}
    </span>
  )
}
