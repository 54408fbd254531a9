import { type Selectable, sql } from 'kysely'
import { namesIn } from '../operations/audit.ts'
import { REPLACED_FOR_MS } from '../platform/crypto/tokens.ts'
import { conflict, notFound, type ServiceError } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { newId } from '../platform/ids.ts'
import { requireFewer } from '../platform/limits.ts'
import { requireName } from '../platform/names.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import { announceChange } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { addWriteKey, expireWriteKeys, type WriteKeyType } from './write-keys.ts'

/** Sources with write keys per tenant. */
const SOURCES_MAX = 200

export type SourceType = WriteKeyType | 'connector'

/** One page of a tenant's sources, newest first, and the total. */
export async function listSources(tenant: Tenant, page: Page, now: Date) {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('sources')
      .select(COLUMNS)
      .orderBy('created_at', 'desc')
      .orderBy('source_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('sources')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirst(),
  ])
  return { sources: await toSources(tenant, rows, now), total: Number(counted?.count ?? 0) }
}

/** @throws ServiceError 404 */
export async function readSource(tenant: Tenant, sourceId: string, now: Date) {
  const rows = await tenant.db.selectFrom('sources').select(COLUMNS).where('source_id', '=', sourceId).execute()
  const [source] = await toSources(tenant, rows, now)
  if (!source) throw notFound('source')
  return source
}

const COLUMNS = ['source_id', 'name', 'type', 'kind', 'created_at', 'last_seen_at'] as const

/** The names of sources, for the audit log. */
export function namesOfSources({ db }: Tenant, ids: readonly string[]) {
  return namesIn(db.selectFrom('sources').select(['source_id as id', 'name']).where('source_id', 'in', ids))
}

async function toSources(
  tenant: Tenant,
  rows: readonly Pick<Selectable<TenantTables['sources']>, (typeof COLUMNS)[number]>[],
  now: Date,
) {
  const ids = rows.map(({ source_id }) => source_id)
  const [keys, counts] = await Promise.all([currentKeys(tenant, ids), eventsOfLastDay(tenant, ids, now)])
  return rows.map((row) => ({
    source_id: row.source_id,
    name: row.name,
    type: row.type as SourceType,
    kind: row.kind,
    key_hint: keys.get(row.source_id)?.hint ?? null,
    key_created_at: keys.get(row.source_id)?.created_at.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at?.toISOString() ?? null,
    // What connectors send is counted as contacts and conversations, not as events.
    events_last_day: row.type === 'connector' ? null : (counts.get(row.source_id) ?? 0),
  }))
}

async function currentKeys(tenant: Tenant, sourceIds: readonly string[]) {
  const rows = await tenant.db
    .selectFrom('write_keys')
    .select(['source_id', 'hint', 'created_at'])
    .where('source_id', '=', sql<string>`any(${sourceIds})`)
    .where('expires_at', 'is', null)
    .execute()
  return new Map(rows.map((row) => [row.source_id, row]))
}

async function eventsOfLastDay(tenant: Tenant, sourceIds: readonly string[], now: Date): Promise<Map<string, number>> {
  const rows = await tenant.db
    .selectFrom('source_hours')
    .select(['source_id', ({ fn }) => fn.sum<string>('events').as('events')])
    .where('source_id', '=', sql<string>`any(${sourceIds})`)
    .where('hour', '>', new Date(now.getTime() - DAY_MS))
    .groupBy('source_id')
    .execute()
  return new Map(rows.map(({ source_id, events }) => [source_id, Number(events)]))
}

/** Whether a source is a server, whose key writes verified data. */
export async function isServerSource(tenant: Tenant, sourceId: string): Promise<boolean> {
  const found = tenant.db.selectFrom('sources').select('type').where('source_id', '=', sourceId)
  return (await found.executeTakeFirst())?.type === 'server'
}

/**
 * Creates a source with a write key.
 * @returns the key, which cannot be shown again.
 * @throws ServiceError 400 for a blank name, 409 `source_name_taken` or `too_many_sources`.
 */
export async function createSource(
  tx: Tenant,
  { name, type }: { name: string; type: WriteKeyType },
  now: Date,
): Promise<{ sourceId: string; writeKey: string }> {
  const sourceId = newId()
  const trimmed = requireName(name)
  const keyed = tx.db
    .selectFrom('sources')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('type', '!=', 'connector')
  const message = `A tenant can have at most ${SOURCES_MAX} sources with write keys. Delete an unused one.`
  await requireFewer(tx, 'sources', SOURCES_MAX, () => keyed.executeTakeFirstOrThrow(), message)
  const inserted = await tx.db
    .insertInto('sources')
    .values({ source_id: sourceId, name: trimmed, type, kind: null, created_at: now, last_seen_at: null })
    .onConflict((row) => row.columns(['name']).doNothing())
    .returning('source_id')
    .executeTakeFirst()
  if (!inserted) throw nameTaken(trimmed)
  return { sourceId, writeKey: await addWriteKey(tx, sourceId, now) }
}

/**
 * Renames a source. @returns whether that changed anything.
 * @throws ServiceError 404, 409 `source_name_taken` or `source_is_connector`.
 */
export async function renameSource(tx: Tenant, sourceId: string, name: string): Promise<boolean> {
  const trimmed = requireName(name)
  const before = await lockKeyedSource(tx, sourceId)
  if (before.name === trimmed) return false
  const taken = await tx.db.selectFrom('sources').select('source_id').where('name', '=', trimmed).executeTakeFirst()
  if (taken) throw nameTaken(trimmed)
  await tx.db.updateTable('sources').set({ name: trimmed }).where('source_id', '=', sourceId).execute()
  return true
}

/**
 * Replaces the write key of a source. The old one works for another day, unless it is revoked.
 * @returns the new key, which cannot be shown again.
 * @throws ServiceError 404, 409 `source_is_connector`.
 */
export async function rotateWriteKey(
  tx: Tenant,
  sourceId: string,
  { revokeOld }: { revokeOld: boolean },
  now: Date,
): Promise<{ writeKey: string; oldKeyUntil: Date }> {
  await lockKeyedSource(tx, sourceId)
  const oldKeyUntil = revokeOld ? now : new Date(now.getTime() + REPLACED_FOR_MS)
  await expireWriteKeys(tx, sourceId, oldKeyUntil)
  const writeKey = await addWriteKey(tx, sourceId, now)
  await announceChange(tx.db)
  return { writeKey, oldKeyUntil }
}

/** Deletes a source with its keys, which stop working after the commit. What it sent remains. @throws ServiceError 404 */
export async function deleteSource(tx: Tenant, sourceId: string): Promise<{ name: string }> {
  const deleted = await tx.db
    .deleteFrom('sources')
    .where('source_id', '=', sourceId)
    .returning('name')
    .executeTakeFirst()
  if (!deleted) throw notFound('source')
  await announceChange(tx.db)
  return deleted
}

async function lockKeyedSource(tx: Tenant, sourceId: string): Promise<{ name: string }> {
  const source = await tx.db
    .selectFrom('sources')
    .select(['name', 'type'])
    .where('source_id', '=', sourceId)
    .forUpdate()
    .executeTakeFirst()
  if (!source) throw notFound('source')
  if (source.type !== 'connector') return source
  const message = `${source.name} is a connector: it writes under this name with an API key, and has no write key.`
  throw conflict('source_is_connector', message)
}

function nameTaken(name: string): ServiceError {
  return conflict('source_name_taken', `There is already a source named ${name}. Choose another name.`)
}
