/** An event as it arrives. */
export interface LiveEvent {
  event_id: string
  event: string
  timestamp: string
  url: string | null
  title: string | null
  contact_id: string | null
  /** Known for events that were read, not for those that have just come. */
  contact_name?: string | null
  visitor_id: string | null
  browser: string | null
  is_bot: boolean
}

/**
 * Tells of events as they are recorded; the browser connects again by itself when the connection breaks.
 * @returns what ends it.
 */
export function watchEvents(onEvent: (event: LiveEvent) => void, onConnected: (isConnected: boolean) => void) {
  const source = new EventSource('/api/live')
  source.addEventListener('open', () => onConnected(true))
  source.addEventListener('error', () => onConnected(false))
  source.addEventListener('recorded', ({ data }: MessageEvent<string>) => onEvent(JSON.parse(data) as LiveEvent))
  return () => source.close()
}
