import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import { type EventMatch, eventsOf, propertiesOf, type SegmentFilter } from './filter.ts'

/** A segment as far as membership is concerned. */
export interface Definition {
  segmentId: string
  name: string
  revision: number
  filter: SegmentFilter
  /** What it asks of events. */
  matches: EventMatch[]
  /** The properties and columns that it reads: a change of any other changes nobody's membership. */
  reads: ReadonlySet<string>
  /** Whether it was evaluated, so that all contacts are known that have such events. */
  isEvaluated: boolean
}

const REMEMBERED_TENANTS = 1_000

/** The definitions of every tenant, remembered by this process. */
export interface Definitions {
  /**
   * All segments of a tenant as they are now; none is added, changed or removed before the transaction ends. What is
   * remembered is compared with the database each time, which costs one short query and leaves no moment at which an
   * old definition is taken for a current one.
   */
  of(tx: Tenant): Promise<readonly Definition[]>
}

export function rememberDefinitions(): Definitions {
  const known = new Map<string, { version: string; definitions: readonly Definition[] }>()
  return {
    of: async (tx) => {
      const { rows } = await sql<{ version: string }>`SELECT hold_segments(${tx.id}::uuid) AS version`.execute(tx.db)
      const version = rows[0]?.version ?? ''
      const remembered = known.get(tx.id)
      if (remembered?.version === version) return remembered.definitions
      const definitions = await readDefinitions(tx)
      if (known.size >= REMEMBERED_TENANTS) known.clear()
      known.set(tx.id, { version, definitions })
      return definitions
    },
  }
}

/** Keeps everybody from using the segments of a tenant until the transaction that changes them ends. */
export async function lockDefinitions(tx: Tenant): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('segments/' || ${tx.id}::text, 0))`.execute(tx.db)
}

async function readDefinitions(tx: Tenant): Promise<Definition[]> {
  const rows = await tx.db
    .selectFrom('segments')
    .select(['segment_id', 'name', 'filter', 'revision', 'evaluated_at'])
    .orderBy('segment_id')
    .execute()
  return rows.map((row) => {
    const filter = row.filter as unknown as SegmentFilter
    const matches = eventsOf(filter)
    return {
      segmentId: row.segment_id,
      name: row.name,
      revision: Number(row.revision),
      filter,
      matches,
      reads: new Set(propertiesOf(filter)),
      isEvaluated: row.evaluated_at !== null,
    }
  })
}
