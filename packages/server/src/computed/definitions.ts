import type { ComputedNames } from '../contacts/computed-names.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { definitionOf } from './computed-property-object.ts'
import { type Defined, type Entity, isScore, type OfEvents } from './definition.ts'
import { type Scorings, scoringsOf } from './scores/score.ts'

/** A property of a tenant. */
export interface Computed extends Defined {
  id: string
  revision: number
}

/** What a tenant has computed. */
export interface ComputedOfTenant {
  /** Of properties that are being removed too: until then, only the service writes them. */
  names: ComputedNames
  properties: readonly Computed[]
  /** The scores among them. */
  scorings: Scorings
}

/** Finds what a tenant has computed. */
export type FindComputed = (tenant: Tenant) => Promise<ComputedOfTenant>

/** The maximum number of tenants in the cache. */
const CACHED_MAX = 10_000

/**
 * Caches what is computed until any tenant's definitions change, so that tenants without any pay nothing. It uses the caller's
 * database connection, because waiting for a second one could cause a deadlock.
 */
export function cacheComputed(invalidation: Pick<Invalidation, 'listening' | 'onChange'>): FindComputed {
  let known = new Map<string, ComputedOfTenant>()
  invalidation.onChange(() => {
    known = new Map()
  })
  return async (tenant) => {
    const current = known
    const remembered = current.get(tenant.id)
    if (remembered) return remembered
    const found = await readComputed(tenant)
    // If the map was replaced, this entry is discarded with it.
    if (invalidation.listening && current.size < CACHED_MAX) current.set(tenant.id, found)
    return found
  }
}

/** The same from the database: whoever writes values must not use an old definition. */
export async function readComputed(tenant: Tenant): Promise<ComputedOfTenant> {
  const rows = await tenant.db
    .selectFrom('computed_properties')
    .select(['computed_property_id', 'entity', 'name', 'revision', 'definition', 'deleted_at'])
    .orderBy('computed_property_id')
    .execute()
  const namesOf = (entity: Entity) => new Set(rows.flatMap((row) => (row.entity === entity ? row.name : [])))
  const properties = rows
    .filter(({ deleted_at }) => deleted_at === null)
    .map((row) => ({
      id: row.computed_property_id,
      entity: row.entity as Entity,
      name: row.name,
      revision: Number(row.revision),
      definition: definitionOf(row),
    }))
  return {
    names: { contacts: namesOf('contacts'), companies: namesOf('companies') },
    properties,
    scorings: await scoringsOf(tenant, properties),
  }
}

/** The properties of an entity that are computed of events. */
export function ofEvents(properties: readonly Computed[], entity: Entity): (Computed & { definition: OfEvents })[] {
  return properties.flatMap((each) =>
    each.entity === entity && !isScore(each.definition) ? [{ ...each, definition: each.definition }] : [],
  )
}
