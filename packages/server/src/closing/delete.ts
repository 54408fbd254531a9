import { sql } from 'kysely'
import { deleteMailCounts } from '../access/mail-limits.ts'
import type { Config } from '../config.ts'
import { deleteSetsOfTenant } from '../contact-sets/erase.ts'
import { deleteEventsOfTenant } from '../events/erase.ts'
import { deleteFilesOfTenant as deleteImportFiles } from '../imports/expire.ts'
import { importDirectory } from '../imports/files.ts'
import { deleteRefusedEvents, hasJournalRow } from '../journal/erase.ts'
import type { Projector } from '../journal/projector.ts'
import { deleteLinksOfTenant } from '../owners/erase.ts'
import { storeUnavailable } from '../platform/errors.ts'
import { deleteJobsOfTenant } from '../platform/jobs/jobs.ts'
import type { Database } from '../platform/postgres/database.ts'
import { isClaimed, RELEASED, releasedFor } from '../platform/postgres/lease.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { deleteFilesOfTenant as deleteExportFiles, exportDirectory } from '../tenant-export/exports.ts'
import { deleteFolder } from '../warehouse/storage/folder.ts'
import { deleteRowsOfTenant } from './delete-rows.ts'

/**
 * The delay until the verification. What was under way when the tenant was closed ends within 30 seconds: its rows in
 * tables without a foreign key, and its events, have arrived by then.
 */
const VERIFY_AFTER_SECONDS = 60

export interface DeletionDependencies {
  stores: Stores
  projector: Pick<Projector, 'drain' | 'barrier'>
  config: Pick<Config, 'clickhouseCluster' | 'dataDirectory' | 'warehouseDirectory'>
  clock: Clock
}

/** The deletion that this process has claimed. */
export interface ClaimedDeletion {
  claim: string
  status: string
}

/**
 * Deletes everything of a tenant that is left, wherever it is; after a crash or a failure, the next call continues. The
 * first complete run ends the deletion, and a second one catches what arrived late.
 * @param tenant opened even though it is closed.
 */
export async function runDeletion(
  tenant: Tenant,
  dependencies: DeletionDependencies,
  { claim, status }: ClaimedDeletion,
): Promise<void> {
  const { stores, clock } = dependencies
  const { database } = stores
  const count: Count = (kind, found) => addCount(database, tenant.id, kind, found)
  // First, because they continue when their tenant is reopened, and files belong to rows.
  await count('jobs', await deleteJobsOfTenant(database, tenant.id))
  await deleteFiles(tenant, dependencies, count)
  await deleteEvents(tenant, dependencies, count)
  await count('sent_mails', await deleteMailCounts(database, tenant.id))
  await deleteRowsOfTenant(database, tenant.id, (transaction, table, rows) =>
    addCount(transaction, tenant.id, table, rows),
  )
  await whereClaimed(database, tenant.id, claim)
    .set(
      status === 'running'
        ? { status: 'deleted', deleted_at: clock(), ...releasedFor(VERIFY_AFTER_SECONDS) }
        : { status: 'verified', verified_at: clock(), ...RELEASED },
    )
    .execute()
}

type Count = (kind: string, found: number) => Promise<void>

async function deleteFiles(
  tenant: Tenant,
  { config: { dataDirectory, warehouseDirectory } }: DeletionDependencies,
  count: Count,
): Promise<void> {
  await count('import_files', await deleteImportFiles(tenant, importDirectory(dataDirectory)))
  await count('export_files', await deleteExportFiles(tenant, exportDirectory(dataDirectory)))
  if (warehouseDirectory !== null) await count('warehouse_files', await deleteFolder(warehouseDirectory, tenant.id))
}

/** Projects the rest of the journal to ClickHouse, where a tenant's events can be deleted: a row has those of many tenants. */
async function deleteEvents(
  { id }: Tenant,
  { stores: { database, clickhouse }, projector, config }: DeletionDependencies,
  count: Count,
): Promise<void> {
  const all = { ids: [id], pattern: null }
  await projector.drain()
  await projector.barrier(id)
  if (await hasJournalRow(database, all))
    throw storeUnavailable('ClickHouse', new Error('the journal still has events of the tenant'))
  const deletion = { clickhouse, cluster: config.clickhouseCluster }
  await count('events', await deleteEventsOfTenant(deletion, id))
  await count('owner_links_in_clickhouse', await deleteLinksOfTenant(deletion, id))
  await count('contact_sets', await deleteSetsOfTenant(deletion, id))
  await count('refused_events', await deleteRefusedEvents(database, id, all))
}

/** Adds to the receipt at once, so that a crash loses hardly a count. */
async function addCount(database: Database, tenantId: string, kind: string, found: number): Promise<void> {
  if (found === 0) return
  await database
    .updateTable('tenant_deletions')
    .where('tenant_id', '=', tenantId)
    .set({
      removed: sql`removed || jsonb_build_object(${kind}::text, coalesce((removed ->> ${kind})::bigint, 0) + ${found}::bigint)`,
    })
    .execute()
}

/** An update of a deletion that applies only while this process has claimed it. */
export function whereClaimed(database: Database, tenantId: string, claim: string) {
  return database.updateTable('tenant_deletions').where('tenant_id', '=', tenantId).where(isClaimed(claim))
}
