import type { Selectable } from 'kysely'
import Type from 'typebox'
import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
import { Id, Nullable, Timestamp } from '../../platform/http/responses.ts'
import { TEXT, WORD } from '../../platform/personal.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import type { Tenant } from '../../platform/tenant.ts'

/** The state of reading an identity's mailbox. */
export const MailboxDescription = Type.Object(
  {
    identity_id: Id,
    state: Type.String({ description: 'waiting, connecting, reading, watching or failed.', ...WORD }),
    error: Nullable(Type.String(TEXT), 'The last error; null once the mailbox is read again.'),
    next_attempt_at: Nullable(Timestamp, 'The earliest time of the next attempt after a failure.'),
    connected_at: Nullable(Timestamp),
    synced_at: Nullable(Timestamp),
    folders: Type.Array(Type.Object({ role: Type.String(WORD), path: Type.String(TEXT), synced_at: Timestamp })),
    skipped: Type.Integer({ description: 'Number of mails that could not be read.' }),
  },
  { title: 'Mailbox' },
)
export type MailboxDescription = Type.Static<typeof MailboxDescription>

/**
 * Makes a mailbox be read from the start again, for example to find earlier mails of new contacts, which were ignored.
 * Stored messages are left unchanged.
 * @throws ServiceError 404 if the identity receives no mail.
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

/** A page of the tenant's mailboxes, by identity, and the total number. */
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

/** @throws ServiceError 404 if the identity receives no mail. */
export async function readMailbox(tenant: Tenant, identityId: string): Promise<MailboxDescription> {
  const rows = await tenant.db.selectFrom('mailboxes').selectAll().where('identity_id', '=', identityId).execute()
  const [mailbox] = await describe(tenant, rows)
  if (!mailbox) throw notFound('mailbox')
  return mailbox
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
