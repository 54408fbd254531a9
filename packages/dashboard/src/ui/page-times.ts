interface PageEvent {
  event: string
  timestamp: string
  url: string | null
  visitor_id: string | null
  session_id: string | null
  data: Record<string, unknown>
}

export type TimedEvent<Event extends PageEvent> = Event & { secondsOnPage?: number }

/**
 * Events in their order, without those of leaving a page: the time on the page is added to its view. One whose view is
 * not among the events stays.
 */
export function withPageTimes<Event extends PageEvent>(events: readonly Event[]): TimedEvent<Event>[] {
  const seconds = new Map<Event, number>()
  const folded = new Set<Event>()
  const open = new Map<string, Event>()
  // At the same time, a page is viewed before it is left.
  const isLeave = ({ event }: Event) => Number(event === 'page_leave')
  const inOrder = [...events].sort(
    (a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp) || isLeave(a) - isLeave(b),
  )
  for (const event of inOrder) {
    const key = JSON.stringify([event.visitor_id, event.session_id, event.url])
    if (event.event === 'page_view') open.set(key, event)
    if (event.event !== 'page_leave') continue
    const view = open.get(key)
    if (!view) continue
    const { time_on_page: time } = event.data
    folded.add(event)
    // A page that is hidden and shown again is left several times.
    if (typeof time === 'number') seconds.set(view, (seconds.get(view) ?? 0) + time)
  }
  return events
    .filter((event) => !folded.has(event))
    .map((event) => {
      const time = seconds.get(event)
      return time === undefined ? event : { ...event, secondsOnPage: time }
    })
}
