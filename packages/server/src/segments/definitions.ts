import { sql } from 'kysely'
import { type EventQuestion, eventsOf, propertiesOf, type SegmentFilter, usesCompany } from '../conditions/language.ts'
import { lock, lockKey } from '../platform/postgres/locks.ts'
import type { Tenant } from '../platform/tenant.ts'
import { zoneOf } from './contact-filters.ts'
import { filtersOf, withSegments } from './named-segments.ts'

/** The parts of a segment that determine membership. */
export interface Definition {
  segmentId: string
  name: string
  revision: number
  /** With the filters of the segments that it names. */
  filter: SegmentFilter
  /** Its questions about events. */
  matches: EventQuestion[]
  /** The time zone in which its days are. */
  zone: string
  /** Whether it depends on the contact's company. */
  usesCompany: boolean
  /** The properties and columns that it uses: other changes do not affect membership. */
  reads: ReadonlySet<string>
  /** Whether it was evaluated, so that the results of its event conditions are stored for all contacts. */
  isEvaluated: boolean
}

export function usesEvents({ matches }: Definition): boolean {
  return matches.length > 0
}

const CACHED_TENANTS_MAX = 1_000

/** This process's cache of every tenant's definitions. */
export interface Definitions {
  /**
   * All current segments of a tenant, by what their members are; none is added, changed or removed before the transaction ends. The cache is
   * compared with the database each time, which costs one short query and guarantees that no old definition is used.
   */
  of(tx: Tenant): Promise<DefinitionsOfTenant>
}

export interface DefinitionsOfTenant {
  contacts: readonly Definition[]
  companies: readonly Definition[]
}

export function cacheDefinitions(): Definitions {
  const known = new Map<string, { version: string; definitions: DefinitionsOfTenant }>()
  return {
    of: async (tx) => {
      const key = lockKey('segments', tx.id)
      const { rows } = await sql<{ version: string }>`
        SELECT lock_segment_version(${key}, ${tx.id}::uuid) AS version`.execute(tx.db)
      const version = rows[0]?.version ?? ''
      const cached = known.get(tx.id)
      if (cached?.version === version) return cached.definitions
      const definitions = await readDefinitions(tx)
      if (known.size >= CACHED_TENANTS_MAX) known.clear()
      known.set(tx.id, { version, definitions })
      return definitions
    },
  }
}

/** Locks the segments of a tenant until the transaction that changes them ends. */
export async function lockDefinitions(tx: Tenant): Promise<void> {
  await lock(tx.db, 'segments', tx.id)
}

async function readDefinitions(tx: Tenant): Promise<DefinitionsOfTenant> {
  const rows = await tx.db
    .selectFrom('segments')
    .select(['segment_id', 'entity', 'name', 'filter', 'revision', 'evaluated_at'])
    .orderBy('segment_id')
    .execute()
  const zone = await zoneOf(tx, rows)
  const filters = filtersOf(rows)
  const definitionOf = (row: (typeof rows)[number]): Definition => {
    const filter = withSegments(row.filter as unknown as SegmentFilter, filters)
    const matches = eventsOf(filter)
    return {
      segmentId: row.segment_id,
      name: row.name,
      revision: Number(row.revision),
      filter,
      zone,
      usesCompany: usesCompany(filter),
      matches,
      reads: new Set(propertiesOf(filter)),
      isEvaluated: row.evaluated_at !== null,
    }
  }
  const of = (entity: string) => rows.filter((row) => row.entity === entity).map(definitionOf)
  return { contacts: of('contacts'), companies: of('companies') }
}
