import { setTimeout as sleep } from 'node:timers/promises'
import { type CustomerData, CustomerDataError, type Event } from '../../../../client/src/index.ts'
import { DAY_MS } from '../../platform/time.ts'

const POLL_EVERY_MS = 1_000
/** An event is received a moment before it is committed, and clocks of processes differ a little. */
const OVERLAP_MS = 5_000
/** Bounds what each poll reads. */
const HAPPENED_WITHIN_MS = DAY_MS

/**
 * The events that a service receives from now on, in that order. While the service does not respond, the loop waits;
 * what was recorded meanwhile follows. Events that happened more than a day before they were received are left out.
 * @param names only these events; every event if empty
 * @throws CustomerDataError if the service refuses the key
 */
export async function* follow(
  client: CustomerData,
  {
    names,
    signal,
    onReady,
    onProblem,
  }: {
    names: readonly string[]
    signal: AbortSignal
    /** Called when events that are recorded from now on will be seen. */
    onReady(): void
    /** Called when the service stops responding. */
    onProblem(error: Error): void
  },
): AsyncGenerator<Event> {
  let from = await clockOf(client, signal)
  // What the first poll finds was there before.
  const seen = new Map((await read(client, names, from, signal)).map((event) => [event.event_id, receivedAt(event)]))
  onReady()
  let isAway = false
  while (!signal.aborted) {
    const arrived = await read(client, names, from, signal).catch((error: unknown) => {
      if (signal.aborted) return []
      if (!(error instanceof CustomerDataError) || isRefusal(error)) throw error
      if (!isAway) onProblem(error)
      isAway = true
      return null
    })
    if (arrived !== null) isAway = false
    for (const event of arrived ?? []) {
      if (seen.has(event.event_id)) continue
      seen.set(event.event_id, receivedAt(event))
      from = Math.max(from, receivedAt(event))
      yield event
    }
    for (const [id, at] of seen) if (at < from - 2 * OVERLAP_MS) seen.delete(id)
    await sleep(POLL_EVERY_MS, undefined, { signal }).catch(() => {})
  }
}

/** The time of the service, which also checks the key. */
async function clockOf(client: CustomerData, signal: AbortSignal): Promise<number> {
  let date: string | null = null
  const onResponse = ({ headers }: Response) => {
    date = headers.get('date')
  }
  await client.listEvents({ limit: 1, fields: 'summary' }, { signal, onResponse })
  return date === null ? Date.now() : Date.parse(date)
}

/** The events received since a moment or shortly before it, by the time they were received. */
async function read(client: CustomerData, names: readonly string[], from: number, signal: AbortSignal) {
  const range = {
    created_after: new Date(from - OVERLAP_MS).toISOString(),
    date_after: new Date(from - HAPPENED_WITHIN_MS).toISOString(),
    sort_dir: 'asc',
  } as const
  const requests = names.length > 0 ? names.map((event_type) => ({ event_type })) : [{ include: 'system' } as const]
  const lists = requests.map((request) => Array.fromAsync(client.listEvents({ ...range, ...request }, { signal })))
  // `fields` is not given, so that these are whole events.
  const events = (await Promise.all(lists)).flat() as Event[]
  return events.sort((one, other) => receivedAt(one) - receivedAt(other))
}

const receivedAt = ({ createdAt }: Event) => Date.parse(createdAt)

/** Whether asking again cannot help. */
function isRefusal({ status }: CustomerDataError): boolean {
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}
