import type { AgentGoal, AgentTrigger } from '../api/types.ts'
import { type GroupDraft, newGroup } from '../filters/draft.ts'
import {
  countUnfinished,
  draftOf,
  type FieldTypes,
  filterOfEvents,
  filterOfWhere,
  whereOf,
} from '../filters/draft-filter.ts'

/** A trigger as its fields have it. */
export type TriggerDraft = { id: number } & (
  | { kind: 'event'; event: string; where: GroupDraft }
  | { kind: 'segment'; segmentId: string }
  | { kind: 'score'; score: string; gte: string }
)

let ids = 0

export function newTrigger(kind: TriggerDraft['kind']): TriggerDraft {
  const id = ++ids
  if (kind === 'score') return { id, kind, score: '', gte: '50' }
  return kind === 'event' ? { id, kind, event: '', where: newGroup() } : { id, kind, segmentId: '' }
}

/** The fields of a stored trigger. */
export function triggerDraft({ event, where, segment_entered: segmentId = '', score }: AgentTrigger): TriggerDraft {
  if (score !== undefined) return { id: ++ids, kind: 'score', score: score.name, gte: String(score.gte) }
  if (event === undefined) return { id: ++ids, kind: 'segment', segmentId }
  return eventDraft(where === undefined ? { event } : { event, where })
}

export function isTriggerComplete(draft: TriggerDraft): boolean {
  if (draft.kind === 'segment') return draft.segmentId !== ''
  if (draft.kind === 'score') return draft.score !== '' && draft.gte !== '' && Number.isFinite(Number(draft.gte))
  return draft.event.trim() !== '' && countUnfinished(draft.where) === 0
}

/** The trigger that a draft says. */
export function triggerOf(draft: TriggerDraft, types: FieldTypes): AgentTrigger {
  if (draft.kind === 'segment') return { segment_entered: draft.segmentId }
  if (draft.kind === 'score') return { score: { name: draft.score, gte: Number(draft.gte) } }
  return eventOf(draft, types)
}

/** An event, with conditions or without. */
export type EventDraft = Extract<TriggerDraft, { kind: 'event' }>

export function eventOf(draft: EventDraft, types: FieldTypes): AgentGoal {
  const where = whereOf(filterOfEvents(draft.where, types))
  const event = draft.event.trim()
  return where.length === 0 ? { event } : { event, where }
}

/** The fields of an event that is stored, or of none. */
export function eventDraft(stored: AgentGoal | null): EventDraft {
  const { event = '', where } = stored ?? {}
  return { id: ++ids, kind: 'event', event, where: where ? draftOf(filterOfWhere(where)) : newGroup() }
}
