import { meetsAll } from '../../conditions/in-memory.ts'
import type { ScoreChange } from '../../contacts/writing/events.ts'
import { type EventRecord, NOBODY, SYSTEM_EVENTS } from '../../journal/event-record.ts'
import { newId } from '../../platform/ids.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'
import type { Trigger } from './trigger.ts'

/** An enabled agent with triggers. */
export interface Reacting {
  agentId: string
  triggers: readonly Trigger[]
  cooldownMs: number
}

/** A look at a contact that an event asks for. */
export interface NewLook {
  tenantId: string
  lookId: string
  agentId: string
  ownerId: string
  isAnonymous: boolean
  trigger: Trigger
  /** How the score changed; null for other triggers. */
  change: ScoreChange | null
  seenAt: Date
  dueAt: Date
  /** Of a newer look at this owner, none is due again. */
  quietSince: Date
}

/** What happened longer ago when it was received is history, such as what a device sends that was offline for a week. */
const LATE_MS = DAY_MS
/** The look at a visitor who may be identified by a transaction that is under way is checked after it. */
const UNDER_WAY_MS = 10_000
/** An anonymous visitor waits for its identification: of the events of a day, one is kept. */
const ANONYMOUS_QUIET_MS = DAY_MS

/** The looks that events of one tenant ask for: one of each agent at each owner, by its first trigger that matches. */
export function looksOf(events: readonly EventRecord[], agents: readonly Reacting[]): NewLook[] {
  const looks = new Map<string, NewLook>()
  for (const event of events) {
    if (event.owner_id === NOBODY || event.received_at - event.timestamp > LATE_MS) continue
    // Any page can send an event named contact_created; only the service's own counts.
    if (!event.is_system && (SYSTEM_EVENTS as readonly string[]).includes(event.event)) continue
    for (const { agentId, triggers, cooldownMs } of agents) {
      const key = `${agentId}/${event.owner_id}`
      if (looks.has(key)) continue
      const trigger = triggers.find((each) => isMet(each, event))
      if (!trigger) continue
      const { received_at, is_anonymous } = event
      looks.set(key, {
        tenantId: event.tenant_id,
        lookId: newId(),
        agentId,
        ownerId: event.owner_id,
        isAnonymous: is_anonymous,
        trigger,
        change: 'score' in trigger ? riseOf(event, trigger.score.name) : null,
        seenAt: new Date(received_at),
        dueAt: new Date(received_at + (is_anonymous ? UNDER_WAY_MS : 0)),
        quietSince: new Date(received_at - (is_anonymous ? Math.min(cooldownMs, ANONYMOUS_QUIET_MS) : cooldownMs)),
      })
    }
  }
  return [...looks.values()]
}

export function cooldownMsOf(hours: number): number {
  return hours * HOUR_MS
}

function isMet(trigger: Trigger, event: EventRecord): boolean {
  if ('event' in trigger) {
    return trigger.event === event.event && meetsAll(event, trigger.where ?? [], new Date(event.received_at))
  }
  if ('score' in trigger) {
    const rise = riseOf(event, trigger.score.name)
    return rise !== null && rise.from < trigger.score.gte && rise.to >= trigger.score.gte
  }
  if (event.event !== 'segment_entered') return false
  return (JSON.parse(event.data) as { segment_id?: unknown }).segment_id === trigger.segment_entered
}

/** How an event changed a score. One that is filled in, because it is new or defined otherwise, has not risen. */
function riseOf({ event, is_system, data }: EventRecord, name: string): ScoreChange | null {
  // Most changes of contacts are of no score: their data are not parsed.
  if (event !== 'contact_updated' || !is_system || !data.includes('"scores"')) return null
  const { scores = {} } = JSON.parse(data) as { scores?: Record<string, ScoreChange> }
  return Object.hasOwn(scores, name) ? (scores[name] ?? null) : null
}
