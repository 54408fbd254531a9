import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { type LiveEvent, toLiveEvent, watchEvents } from '../api/live.ts'
import { queryOf } from '../api/operation.ts'
import type { RequestProblem } from '../api/types.ts'

/** More would slow the page; older events are in the event list. */
const KEPT_MAX = 300
const FIRST_EVENTS = 20
/** As many as a page of the list may have. */
export const PROBLEMS_READ = { limit: 100 }
const AGAIN_MS = 3_000

export type Arrival =
  | { kind: 'event'; id: string; at: string; event: LiveEvent }
  | { kind: 'problem'; id: string; at: string; problem: RequestProblem }

/** The last hour's requests that were rejected or got warnings, newest first. */
export function useProblems() {
  return useQuery({
    ...queryOf('listRequestProblems', PROBLEMS_READ),
    select: ({ problems }) => problems,
    refetchInterval: AGAIN_MS,
  })
}

/** What arrives, newest first: events from the live feed, and problems that are read every few seconds. */
export function useArrivals() {
  const [live, setLive] = useState<LiveEvent[]>([])
  const [isConnected, setConnected] = useState(false)
  const [clearedAt, setClearedAt] = useState('')
  const latest = useQuery(queryOf('listEvents', { limit: FIRST_EVENTS }))
  const problems = useProblems()
  useEffect(() => {
    const add = (event: LiveEvent) => setLive((before) => [event, ...before].slice(0, KEPT_MAX))
    return watchEvents(add, setConnected)
  }, [])
  const seen = new Set(live.map(({ event_id }) => event_id))
  const earlier = (latest.data?.events ?? []).filter(({ event_id }) => !seen.has(event_id))
  const events = [...live, ...earlier.map(toLiveEvent)]
  const arrivals = [
    ...events.map((event): Arrival => ({ kind: 'event', id: event.event_id, at: event.timestamp, event })),
    ...(problems.data ?? []).map(
      (problem): Arrival => ({ kind: 'problem', id: problem.problem_id, at: problem.at, problem }),
    ),
  ]
    .filter(({ at }) => at > clearedAt)
    .sort((one, other) => (one.at < other.at ? 1 : one.at > other.at ? -1 : 0))
  return {
    arrivals,
    isConnected,
    isPending: latest.isPending || problems.isPending,
    error: problems.error ?? latest.error,
    refetch: () => void Promise.all([problems.refetch(), latest.refetch()]),
    clear: () => setClearedAt(new Date().toISOString()),
  }
}
