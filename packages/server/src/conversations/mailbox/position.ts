import { notFound } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { storable } from '../clean.ts'

const REASON_LENGTH_MAX = 500

/** How far a folder has been read. */
export interface Position {
  identityId: string
  role: string
  path: string
  uidValidity: string
  lastUid: number
  /** The server's number of the last change, where it has such numbers and all before it was read. */
  modSequence: string | null
}

export async function readPosition(
  tenant: Tenant,
  { identityId, role }: Pick<Position, 'identityId' | 'role'>,
): Promise<Position | null> {
  const row = await tenant.db
    .selectFrom('mailbox_folders')
    .select(['path', 'uid_validity', 'last_uid', 'mod_sequence'])
    .where('identity_id', '=', identityId)
    .where('role', '=', role)
    .executeTakeFirst()
  if (!row) return null
  const { path, uid_validity: uidValidity, last_uid, mod_sequence: modSequence } = row
  return { identityId, role, path, uidValidity, lastUid: Number(last_uid), modSequence }
}

/**
 * Writes down how far a folder has been read.
 * @param isFirst whether nothing was known of it before. What was known and is gone by now stays gone: meanwhile somebody
 * wants the mailbox to be read again.
 */
export async function storePosition(
  tenant: Tenant,
  position: Position,
  { isFirst, now }: { isFirst: boolean; now: Date },
): Promise<void> {
  const values = {
    path: position.path,
    uid_validity: position.uidValidity,
    last_uid: String(position.lastUid),
    mod_sequence: position.modSequence,
    synced_at: now,
  }
  if (!isFirst) {
    await tenant.db
      .updateTable('mailbox_folders')
      .set(values)
      .where('identity_id', '=', position.identityId)
      .where('role', '=', position.role)
      .execute()
    return
  }
  await tenant.db
    .insertInto('mailbox_folders')
    .values({ identity_id: position.identityId, role: position.role, ...values })
    .onConflict((row) => row.columns(['identity_id', 'role']).doUpdateSet(values))
    .execute()
}

interface MailPlace {
  identityId: string
  role: string
  uidValidity: string
  uid: number
}

/** Writes down a mail that could not be read, so that its owner can be told. */
export async function noteSkipped(tenant: Tenant, place: MailPlace, problem: unknown, now: Date): Promise<void> {
  const reason = storable(problem instanceof Error ? problem.message : String(problem))
    .slice(0, REASON_LENGTH_MAX)
    .toWellFormed()
  await tenant.db
    .insertInto('mailbox_skipped')
    .values({
      identity_id: place.identityId,
      role: place.role,
      uid_validity: place.uidValidity,
      uid: String(place.uid),
      reason,
      at: now,
    })
    .onConflict((row) => row.columns(['identity_id', 'role', 'uid_validity', 'uid']).doUpdateSet({ reason, at: now }))
    .execute()
}

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

/** How the receiving of an identity's mail goes. */
export interface MailboxDescription {
  identity_id: string
  /** waiting, connecting, reading, watching, failed. */
  state: string
  /** What went wrong the last time; null while all is well. */
  error: string | null
  /** When a failed one is tried again at the earliest. */
  next_attempt_at: string | null
  connected_at: string | null
  synced_at: string | null
  folders: { role: string; path: string; synced_at: string }[]
  /** Mails that could not be read. */
  skipped: number
}

/** The mailboxes of a tenant that receive mail, by the identity that they are of. */
export async function describeMailboxes(tenant: Tenant): Promise<MailboxDescription[]> {
  const [mailboxes, folders, skipped] = [
    await tenant.db.selectFrom('mailboxes').selectAll().orderBy('identity_id').execute(),
    await tenant.db.selectFrom('mailbox_folders').selectAll().orderBy('role').execute(),
    await tenant.db
      .selectFrom('mailbox_skipped')
      .select(({ fn }) => ['identity_id', fn.countAll().as('mails')])
      .groupBy('identity_id')
      .execute(),
  ]
  return mailboxes.map((row) => ({
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
