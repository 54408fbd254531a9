import type { SourceKind } from '../contacts/writing/source-records.ts'
import { conflict, type ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import { MINUTE_MS } from '../platform/time.ts'

/** The kinds of connectors. */
export const CONNECTOR_KINDS = ['crm', 'enrichment', 'email', 'messaging', 'analytics'] as const satisfies SourceKind[]

/** The minimum interval between updates of the time when a connector was last seen. */
const NOTED_EVERY_MS = MINUTE_MS

/**
 * Records that a connector writes, and its kind. The first write lists it among the sources.
 * @param kind from the request; without one, the connector keeps its kind, initially `first`.
 * @throws ServiceError 409 `source_name_taken` if the name is that of a source with a write key.
 */
export async function noteConnector(
  tenant: Tenant,
  name: string,
  kind: SourceKind | undefined,
  now: Date,
  first: SourceKind = 'crm',
): Promise<SourceKind> {
  const known = await tenant.db
    .selectFrom('sources')
    .select(['type', 'kind', 'last_seen_at'])
    .where('name', '=', name)
    .executeTakeFirst()
  if (known && known.type !== 'connector') throw nameOfWriteKey(name)
  const before = (known?.kind ?? undefined) as SourceKind | undefined
  const after = kind ?? before ?? first
  const isNoted = known?.last_seen_at && now.getTime() - known.last_seen_at.getTime() < NOTED_EVERY_MS
  if (after === before && isNoted) return after
  // Outside the transaction of the records; otherwise, all writes of the connector would wait for this row.
  const { numInsertedOrUpdatedRows } = await tenant.db
    .insertInto('sources')
    .values({ source_id: newId(), name, type: 'connector', kind: after, created_at: now, last_seen_at: now })
    .onConflict((row) =>
      row.columns(['name']).doUpdateSet({ kind: after, last_seen_at: now }).where('sources.type', '=', 'connector'),
    )
    .executeTakeFirst()
  if (!numInsertedOrUpdatedRows) throw nameOfWriteKey(name)
  return after
}

/** The id of a connector in the list of sources. If it was deleted, it is listed again. */
export async function connectorId(tenant: Tenant, name: string, kind: SourceKind, now: Date): Promise<string> {
  await noteConnector(tenant, name, kind, now)
  const { source_id } = await tenant.db
    .selectFrom('sources')
    .select('source_id')
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  return source_id
}

/**
 * Lists a connector before it first writes. @returns its id.
 * @throws ServiceError 409 `source_name_taken`, also if a connector writes under this name: it may be another system.
 */
export async function createConnector(tx: Tenant, name: string, kind: SourceKind, now: Date): Promise<string> {
  const inserted = await tx.db
    .insertInto('sources')
    .values({ source_id: newId(), name, type: 'connector', kind, created_at: now, last_seen_at: null })
    .onConflict((row) => row.columns(['name']).doNothing())
    .returning('source_id')
    .executeTakeFirst()
  if (inserted) return inserted.source_id
  throw conflict('source_name_taken', `There is already a source named ${name}. Choose another name.`)
}

/** Removes a connector from the list, if it is still there. Its data stays. */
export async function deleteConnector(tx: Tenant, name: string): Promise<void> {
  await tx.db.deleteFrom('sources').where('name', '=', name).where('type', '=', 'connector').execute()
}

function nameOfWriteKey(name: string): ServiceError {
  const message = `${name} is the name of a source with a write key. Rename that source, or push under another name.`
  return conflict('source_name_taken', message)
}
