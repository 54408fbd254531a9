import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { call } from '../api/client.ts'
import { watchEvents } from '../api/live.ts'
import { keyOf } from '../api/operation.ts'
import { formatNumber } from '../ui/format.ts'
import { PeopleFigure, WithPeople } from './people-panel.tsx'
import type { WebQuestion } from './web-question.ts'
import { text } from './web-text.ts'

/** Who has viewed a page since is still there. */
const ONLINE_MS = 5 * 60_000
/** Counted again after an event, but not after each of many. */
const PAUSE_MS = 10_000

/** How many people are on the sites at this moment. */
export function OnlineNow({ question: { where, people, include_bots, visit } }: { question: WebQuestion }) {
  const narrowed = { where, people, include_bots, visit }
  const { data, refetch } = useQuery({
    queryKey: [...keyOf('insightWeb'), 'online', narrowed],
    queryFn: async ({ signal }) => {
      const question: WebQuestion = { ...narrowed, date_from: new Date(Date.now() - ONLINE_MS).toISOString() }
      return { question, answer: await call('insightWeb', { ...question, lists: ['page'], limit: 1 }, signal) }
    },
    refetchInterval: 60_000,
  })
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const later = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        void refetch()
      }, PAUSE_MS)
    }
    const stop = watchEvents(later, () => undefined)
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [refetch])
  if (!data) return null
  const { people: online } = data.answer.totals
  return (
    <WithPeople kind="web" question={{ ...data.question }}>
      <Badge variant="dot" color={online > 0 ? 'teal' : 'gray'} size="lg" role="status">
        <PeopleFigure name={text.onlineName} at={{}} value={online}>
          {formatNumber(online)}
        </PeopleFigure>{' '}
        {text.online(online)}
      </Badge>
    </WithPeople>
  )
}
