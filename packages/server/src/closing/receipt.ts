import type { Selectable } from 'kysely'
import Type from 'typebox'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { WORD } from '../platform/personal.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import type { Tenant } from '../platform/tenant.ts'

/** What the service cannot delete. */
const REMAINS = [
  'Backups of the databases and of the data directory, until their operator deletes them',
  'What was sent to other systems: mails, webhooks, connected systems, and exports to buckets',
  'The accounts of the people, who may belong to other workspaces',
]

/** Proof that a tenant was deleted: counts, without personal data. */
export const DeletionReceipt = Type.Object(
  {
    tenant_id: Id,
    status: Type.Unsafe<'running' | 'deleted' | 'verified'>({
      type: 'string',
      enum: ['running', 'deleted', 'verified'],
      description: '`verified`: a second run, after everything in flight had arrived, has deleted what was left.',
    }),
    requested_by: Type.Object(
      { kind: Type.String(WORD), id: Nullable(Id, 'null if the operator closed it on the command line.') },
      { description: 'Who closed the workspace.' },
    ),
    requested_at: Timestamp,
    started_at: Timestamp,
    deleted_at: Nullable(Timestamp),
    verified_at: Nullable(Timestamp),
    removed: Type.Record(Type.String(), Type.Integer(), {
      description: 'How many rows and files were deleted, by table or kind.',
    }),
    remains: Type.Array(Type.String(WORD), { description: 'What the service cannot delete.' }),
  },
  { title: 'DeletionReceipt' },
)
export type DeletionReceipt = Type.Static<typeof DeletionReceipt>

/** The receipt of the tenant's deletion; null if it has not started. */
export async function readDeletion(tenant: Tenant): Promise<DeletionReceipt | null> {
  const row = await tenant.db.selectFrom('tenant_deletions').selectAll().executeTakeFirst()
  return row ? toReceipt({ ...row, tenant_id: tenant.id }) : null
}

/** One page of the receipts of all tenants, newest first, and the total. */
export async function listDeletions(
  database: Database,
  page: Page,
): Promise<{ deletions: DeletionReceipt[]; total: number }> {
  const all = database.selectFrom('tenant_deletions')
  const newest = all.selectAll().orderBy('started_at', 'desc').orderBy('tenant_id')
  const [rows, counted] = await Promise.all([
    newest.limit(page.limit).offset(offsetOf(page)).execute(),
    all.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  ])
  return { deletions: rows.map(toReceipt), total: counted.count }
}

function toReceipt(row: Selectable<DB['tenant_deletions']>): DeletionReceipt {
  return {
    tenant_id: row.tenant_id,
    status: row.status as DeletionReceipt['status'],
    requested_by: row.requested_by as DeletionReceipt['requested_by'],
    requested_at: row.requested_at.toISOString(),
    started_at: row.started_at.toISOString(),
    deleted_at: row.deleted_at?.toISOString() ?? null,
    verified_at: row.verified_at?.toISOString() ?? null,
    removed: row.removed as DeletionReceipt['removed'],
    remains: REMAINS,
  }
}
