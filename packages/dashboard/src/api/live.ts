import type { Event } from './types.ts'

/** An event as it arrives. */
export interface LiveEvent {
  event_id: string
  event: string
  timestamp: string
  url: string | null
  title: string | null
  /** The text of the element, such as a clicked button. */
  text: string | null
  contact_id: string | null
  /** Known for events that were fetched, not for those that have just arrived. */
  contact_name?: string | null
  visitor_id: string | null
  browser: string | null
  is_bot: boolean
}

const AGAIN_MS = 10_000

/**
 * Reports events as they are recorded. The browser reconnects by itself when a connection breaks, but not when it is
 * rejected; it is then retried after a while, because a restart of the service or a full feed is temporary.
 * @returns a function that stops watching.
 */
export function watchEvents(onEvent: (event: LiveEvent) => void, onConnected: (isConnected: boolean) => void) {
  let source: EventSource
  let again: ReturnType<typeof setTimeout> | undefined
  const open = () => {
    source = new EventSource('/v1/live')
    source.addEventListener('open', () => onConnected(true))
    source.addEventListener('error', () => {
      onConnected(false)
      if (source.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN_MS)
    })
    source.addEventListener('recorded', ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as LiveEvent))
  }
  open()
  return () => {
    clearTimeout(again)
    source.close()
  }
}

/** An event that was read, as the live feed would have reported it. */
export function toLiveEvent(event: Event): LiveEvent {
  const { contact, data } = event
  const name = contact ? [contact.firstname, contact.lastname].filter(Boolean).join(' ') || contact.email : null
  const textOf = (value: unknown) => (typeof value === 'string' ? value : null)
  return {
    ...event,
    title: textOf(data.title),
    text: textOf(data.text),
    contact_id: event.internal_contact_id,
    contact_name: name,
  }
}
