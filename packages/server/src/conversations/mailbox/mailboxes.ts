import type { Selectable } from 'kysely'
import Type from 'typebox'
import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** How the receiving of an identity's mail goes. */
export const MailboxDescription = Type.Object(
  {
    identity_id: Id,
    state: Type.String({ description: 'waiting, connecting, reading, watching or failed.' }),
    error: Nullable(Type.String(), 'What went wrong the last time; null while all is well.'),
    next_attempt_at: Nullable(Timestamp, 'When a failed one is tried again at the earliest.'),
    connected_at: Nullable(Timestamp),
    synced_at: Nullable(Timestamp),
    folders: Type.Array(Type.Object({ role: Type.String(), path: Type.String(), synced_at: Timestamp })),
    skipped: Type.Integer({ description: 'Mails that could not be read.' }),
  },
  { title: 'Mailbox' },
)
export type MailboxDescription = Type.Static<typeof MailboxDescription>

/**
 * Has a mailbox read from its first day again, as for contacts that were made since: their earlier mails were left out.
 * What is known stays as it is.
 * @throws ServiceError 404 for an identity that receives no mail.
 */
export async function rereadMailbox(tenant: Tenant, identityId: string): Promise<void> {
  const mailbox = await tenant.db
    .selectFrom('mailboxes')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
  if (!mailbox) throw notFound('mailbox')
  await tenant.db.deleteFrom('mailbox_folders').where('identity_id', '=', identityId).execute()
}

/** A page of a tenant's mailboxes that receive mail, by identity, and how many there are in all. */
export async function listMailboxes(
  tenant: Tenant,
  page: Page,
): Promise<{ mailboxes: MailboxDescription[]; total: number }> {
  const rows = await tenant.db
    .selectFrom('mailboxes')
    .selectAll()
    .orderBy('identity_id')
    .limit(page.limit)
    .offset(offsetOf(page))
    .execute()
  const { total } = await tenant.db
    .selectFrom('mailboxes')
    .select(({ fn }) => fn.countAll().as('total'))
    .executeTakeFirstOrThrow()
  return { mailboxes: await describe(tenant, rows), total: Number(total) }
}

async function describe(tenant: Tenant, rows: Selectable<TenantTables['mailboxes']>[]): Promise<MailboxDescription[]> {
  const ids = rows.map(({ identity_id }) => identity_id)
  if (ids.length === 0) return []
  const folders = await tenant.db
    .selectFrom('mailbox_folders')
    .selectAll()
    .where('identity_id', 'in', ids)
    .orderBy('role')
    .execute()
  const skipped = await tenant.db
    .selectFrom('mailbox_skipped')
    .select(({ fn }) => ['identity_id', fn.countAll().as('mails')])
    .where('identity_id', 'in', ids)
    .groupBy('identity_id')
    .execute()
  return rows.map((row) => ({
    identity_id: row.identity_id,
    state: row.state,
    error: row.error,
    next_attempt_at: row.state === 'failed' ? row.next_attempt_at.toISOString() : null,
    connected_at: row.connected_at?.toISOString() ?? null,
    synced_at: row.synced_at?.toISOString() ?? null,
    folders: folders
      .filter(({ identity_id }) => identity_id === row.identity_id)
      .map(({ role, path, synced_at }) => ({ role, path, synced_at: synced_at.toISOString() })),
    skipped: Number(skipped.find(({ identity_id }) => identity_id === row.identity_id)?.mails ?? 0),
  }))
}
