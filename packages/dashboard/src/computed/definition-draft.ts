import type { ComputedProperty, CreateComputedPropertyInput, Entity } from '../api/types.ts'
import { type GroupDraft, newGroup } from '../filters/draft.ts'
import {
  countUnfinished,
  draftOf,
  type FieldTypes,
  filterOf,
  filterOfEvents,
  filterOfWhere,
  whereOf,
} from '../filters/draft-filter.ts'

export type ComputedFunction = NonNullable<ComputedProperty['function']>

/** The service's limits. */
export const RULES_MAX = 20
export const POINTS_MAX = 1_000
export const DAYS_MAX = 3_650

/** A rule of a score as its fields have it. */
export interface RuleDraft {
  id: number
  filter: GroupDraft
  points: string
}

/** A definition as its form has it. */
export interface DefinitionDraft {
  name: string
  entity: Entity
  kind: 'score' | 'function'
  function: ComputedFunction
  event: string
  where: GroupDraft
  property: string
  withinDays: string
  rules: RuleDraft[]
}

/** What a request says of a definition, besides its name. */
type Definition = Omit<CreateComputedPropertyInput, 'name' | 'entity'>

let ids = 0

export function newRule(): RuleDraft {
  return { id: ++ids, filter: newGroup(), points: '10' }
}

export function newDefinition(): DefinitionDraft {
  return {
    ...{ name: '', entity: 'contacts', kind: 'score', rules: [newRule()] },
    ...{ function: 'count', event: '', where: newGroup(), property: '', withinDays: '' },
  }
}

/** The fields of a stored definition. */
export function definitionDraft(stored: ComputedProperty): DefinitionDraft {
  const { name, entity, score, where, event, property, within_days: days } = stored
  return {
    name,
    entity,
    kind: score === null ? 'function' : 'score',
    function: stored.function ?? 'count',
    event: event ?? '',
    where: where.length > 0 ? draftOf(filterOfWhere(where)) : newGroup(),
    property: property ?? '',
    withinDays: String(days ?? ''),
    rules: (score ?? []).map(({ filter, points }) => ({ id: ++ids, filter: draftOf(filter), points: String(points) })),
  }
}

/** Whether the form says everything that is needed. */
export function isComplete(draft: DefinitionDraft): boolean {
  if (draft.name.trim() === '') return false
  if (draft.kind === 'score') return draft.rules.length > 0 && draft.rules.every(isRuleComplete)
  if (draft.event.trim() === '' || countUnfinished(draft.where) > 0) return false
  return !needsProperty(draft.function) || draft.property.trim() !== ''
}

/** A filter without conditions would give everybody its points. */
function isRuleComplete({ filter, points }: RuleDraft): boolean {
  return filter.conditions.length > 0 && countUnfinished(filter) === 0 && Number.isInteger(Number(points || 'none'))
}

export function needsProperty(computed: ComputedFunction): boolean {
  return computed !== 'count'
}

/** The definition that a draft says. @param types of the properties of the records, and of the events */
export function definitionOf(draft: DefinitionDraft, types: { records: FieldTypes; events: FieldTypes }): Definition {
  if (draft.kind === 'score') {
    const rules = draft.rules.map(({ filter, points }) => ({
      filter: filterOf(filter, types.records),
      points: Number(points),
    }))
    return { score: rules }
  }
  return {
    function: draft.function,
    event: draft.event.trim(),
    where: whereOf(filterOfEvents(draft.where, types.events)) as NonNullable<Definition['where']>,
    property: needsProperty(draft.function) ? draft.property : null,
    within_days: draft.withinDays === '' ? null : Number(draft.withinDays),
  }
}

/** The fewest and the most points that a score can have. */
export function rangeOf(rules: readonly { points: number }[]): [least: number, most: number] {
  const sum = (kept: (points: number) => boolean) =>
    rules.reduce((total, { points }) => total + (kept(points) ? points : 0), 0)
  return [sum((points) => points < 0), sum((points) => points > 0)]
}
