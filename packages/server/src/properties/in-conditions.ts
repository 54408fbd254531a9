import { isObject } from '../platform/is-object.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Entity } from './catalogue.ts'
import { unknownPropertyWarnings } from './unknown.ts'

interface Named {
  entity: Entity
  name: string
}

/**
 * What to tell a caller about the properties in conditions that nothing in the tenant has.
 * @param entity what the conditions are about
 * @param sent valid conditions: a filter, a list of conditions, or either as JSON
 */
export async function warningsAbout(tenant: Tenant, entity: Entity, sent: unknown): Promise<string[]> {
  const named = [...propertiesIn(entity, typeof sent === 'string' ? JSON.parse(sent) : sent)]
  const byEntity = Map.groupBy(named, (each) => each.entity)
  const warnings = await Promise.all(
    [...byEntity].map(([of, some]) =>
      unknownPropertyWarnings(
        tenant,
        of,
        some.map(({ name }) => name),
      ),
    ),
  )
  return warnings.flat()
}

/** Conditions inside one on events are about the events. */
function* propertiesIn(entity: Entity, sent: unknown): Generator<Named> {
  if (Array.isArray(sent)) for (const each of sent) yield* propertiesIn(entity, each)
  if (!isObject(sent)) return
  if (typeof sent.property === 'string') yield { entity, name: sent.property }
  yield* propertiesIn(entity, sent.conditions)
  for (const match of [sent.event, sent.sequence].flat()) {
    if (isObject(match)) yield* propertiesIn('events', [match.where, match.measure].flat())
  }
}
