import type { Selectable } from 'kysely'
import Type from 'typebox'
import type { ConditionOnEvent } from '../conditions/language.ts'
import { ConditionOnEventSchema, SegmentFilterSchema } from '../conditions/schema.ts'
import { etagOf } from '../operations/etag.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { LABEL, WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { type ComputedDefinition, ENTITIES, type Entity, FUNCTIONS, isScore, type ScoreRule } from './definition.ts'

export const ComputedProperty = Type.Object(
  {
    computed_property_id: Id,
    name: Type.String({ description: 'The key in `properties` that has the value.', examples: ['orders'], ...WORD }),
    entity: Type.Enum(ENTITIES, { description: 'What has the property.' }),
    function: Nullable(Type.Enum(FUNCTIONS), 'null for a score.'),
    event: Nullable(Type.String(LABEL), 'The name of the events; null for a score.'),
    where: Type.Array(ConditionOnEventSchema, { description: 'Conditions on each event; all must be true.' }),
    property: Nullable(Type.String(WORD), 'The property of the events that is computed.'),
    within_days: Nullable(Type.Integer(), 'Only events of so many days count; null: all do.'),
    score: Nullable(
      Type.Array(
        Type.Object({ filter: SegmentFilterSchema, points: Type.Integer() }, { title: 'ComputedPropertyScoreRule' }),
      ),
      'The rules of a score; null for a function.',
    ),
    filling: Type.Boolean({
      description: 'Whether records still get their first value, because the property is new or was changed.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ComputedProperty' },
)
export type ComputedProperty = Type.Static<typeof ComputedProperty>

export type ComputedPropertyRow = Selectable<TenantTables['computed_properties']>

export function toComputedProperty(row: ComputedPropertyRow): ComputedProperty {
  const definition = definitionOf(row)
  const ofEvents = isScore(definition) ? null : definition
  return {
    computed_property_id: row.computed_property_id,
    name: row.name,
    entity: row.entity as Entity,
    function: ofEvents?.function ?? null,
    event: ofEvents?.event ?? null,
    where: (ofEvents?.where ?? []) as Exclude<ConditionOnEvent, never>[] as ComputedProperty['where'],
    property: ofEvents?.property ?? null,
    within_days: ofEvents?.within_days ?? null,
    score: isScore(definition) ? (definition.score as ScoreRule[]) : null,
    filling: row.filled_at === null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** Only what was checked is stored. */
export function definitionOf({ definition }: Pick<ComputedPropertyRow, 'definition'>): ComputedDefinition {
  return definition as unknown as ComputedDefinition
}

export function etagOfComputedProperty(row: ComputedProperty): string {
  const { name, entity, function: computed, event, where, property, within_days, score } = row
  return etagOf(name, entity, computed, event, where, property, within_days, score)
}
