import type { LiveEvent } from '../api/live.ts'

/** One visitor in the live feed: what they did last, and how much in this visit. */
export interface Person {
  /** The contact, or else the visitor. */
  key: string
  /** What they did last, but for leaving a page. */
  latest: LiveEvent
  /** When they were last here. */
  at: string
  /** Their latest events in a row, without a pause of half an hour. */
  steps: number
}

/** A pause after which a visit is over, as everywhere in the service. */
const PAUSE_MS = 30 * 60_000

/**
 * The people behind events, which are sorted newest first: one each, without bots. Those whom the service knows come first, among
 * those who are here now and then among the others.
 */
export function peopleOf(events: readonly LiveEvent[], now = Date.now()): Person[] {
  const people = new Map<string, Person & { since: number }>()
  for (const event of events) {
    if (event.is_bot) continue
    const key = event.contact_id ?? event.visitor_id ?? event.event_id
    const at = Date.parse(event.timestamp)
    const known = people.get(key)
    const step = event.event === 'page_leave' ? 0 : 1
    if (known === undefined) people.set(key, { key, latest: event, at: event.timestamp, steps: step, since: at })
    else if (known.since - at < PAUSE_MS) {
      const latest = known.latest.event === 'page_leave' ? event : known.latest
      Object.assign(known, { latest, steps: known.steps + step, since: at })
    }
  }
  const rank = ({ latest, at }: Person) =>
    (now - Date.parse(at) < PAUSE_MS ? 0 : 2) + (latest.contact_id === null ? 1 : 0)
  return [...people.values()].toSorted((a, b) => rank(a) - rank(b)).map(({ since: _, ...person }) => person)
}
