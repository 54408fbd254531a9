import type { SourceKind } from '../contacts/record-source.ts'
import type { Tenant } from '../platform/tenant.ts'

/** The kinds of pushing sources. */
export const PUSHED_KINDS = ['crm', 'enrichment', 'email', 'messaging', 'analytics'] as const satisfies SourceKind[]

/** The minimum interval between updates of a source's write time. */
const NOTED_EVERY_MS = 60_000

/**
 * Records that a source writes, and its kind.
 * @param kind from the request; without one, the source keeps its kind, initially `first`.
 */
export async function noteSource(
  tenant: Tenant,
  source: string,
  kind: SourceKind | undefined,
  now: Date,
  first: SourceKind = 'crm',
): Promise<SourceKind> {
  const known = await tenant.db
    .selectFrom('sources')
    .select(['kind', 'last_write_at'])
    .where('source', '=', source)
    .executeTakeFirst()
  const before = known?.kind as SourceKind | undefined
  const after = kind ?? before ?? first
  const isNoted = known !== undefined && now.getTime() - known.last_write_at.getTime() < NOTED_EVERY_MS
  if (after === before && isNoted) return after
  // Outside the transaction of the records; otherwise, all writes of the source would wait for this row.
  await tenant.db
    .insertInto('sources')
    .values({ source, kind: after, created_at: now, last_write_at: now })
    .onConflict((row) => row.columns(['source']).doUpdateSet({ kind: after, last_write_at: now }))
    .execute()
  return after
}
