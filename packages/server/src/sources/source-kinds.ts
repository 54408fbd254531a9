import type { SourceKind } from '../contacts/record-source.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Kinds that a pushing source may be. */
export const PUSHED_KINDS = ['crm', 'enrichment', 'email', 'messaging', 'analytics'] as const satisfies SourceKind[]

/** A source that writes all the time need not have each of its writes noted. */
const NOTED_EVERY_MS = 60_000

/**
 * Notes that a source writes, and of which kind it is.
 * @param kind as the request says it; a source that does not say it stays what it was, and is `first` at first.
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
  // Not in the transaction of the records: all writes of the source would wait for one another at this row.
  await tenant.db
    .insertInto('sources')
    .values({ source, kind: after, created_at: now, last_write_at: now })
    .onConflict((row) => row.columns(['source']).doUpdateSet({ kind: after, last_write_at: now }))
    .execute()
  return after
}
