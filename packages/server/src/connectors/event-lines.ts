import { setImmediate as nextTurn } from 'node:timers/promises'
import { callOfLine } from '../event-formats/call-of-line.ts'
import type { AnalyticsFormat } from '../event-formats/format.ts'
import type { Line } from '../event-formats/lines.ts'
import { eventIdOf } from '../journal/sent-ids.ts'
import { ServiceError } from '../platform/errors.ts'
import type { SourceCall } from './connector.ts'

/** Events per page. More would make a page's transactions long; fewer would store the position too often. */
export const EVENTS_PER_PAGE = 2_000

/** After this many events, other requests get a turn. */
const EVENTS_PER_TURN = 200

export interface LineOptions {
  /** The namespace of the event ids, such as `posthog us.posthog.com 123`. */
  namespace: string
  format: AnalyticsFormat
  /** The name of the line in the error list, if its event has no id. */
  name: string
}

/**
 * Translates an event of a product analytics system. Its id is the same in every read. The person's properties are left out,
 * because an event contains them as they were at its time; profiles contain the current ones.
 */
export function sourceCallOf(line: Pick<Line, 'value' | 'text'>, { namespace, format, name }: LineOptions): SourceCall {
  const call = callOfLine(line, (value) => format.toCall(value, []))
  const id = format.idOf(line.value) || name
  if (call instanceof ServiceError) return { id, call }
  const { event } = call
  const sentId = event?.sentId ?? null
  return {
    id,
    call: {
      ...call,
      properties: null,
      event: event && { ...event, sentId: sentId === null ? null : eventIdOf(namespace, sentId) },
    },
  }
}

/** Translates events and lets other requests run in between, because a page takes tens of milliseconds. */
export async function sourceCallsOf(values: readonly object[], options: LineOptions): Promise<SourceCall[]> {
  const calls: SourceCall[] = []
  for (const [index, value] of values.entries()) {
    if (index % EVENTS_PER_TURN === 0) await nextTurn()
    const line = {
      value,
      // Needed only for an event without an id.
      get text() {
        return JSON.stringify(value)
      },
    }
    calls.push(sourceCallOf(line, options))
  }
  return calls
}
