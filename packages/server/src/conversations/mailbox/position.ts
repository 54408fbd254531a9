import type { Tenant } from '../../platform/tenant.ts'
import { storable } from '../clean.ts'

const REASON_LENGTH_MAX = 500

/** The reading position in a folder. */
export interface Position {
  identityId: string
  role: string
  path: string
  uidValidity: string
  lastUid: number
  /** The server's mod-sequence (CONDSTORE) up to which everything was read; null if unknown. */
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
 * Stores the reading position of a folder.
 * @param isFirst whether the folder had no position before. If it had one that has been deleted, a reread was
 * requested, and no position is stored.
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

/** Stores that a mail could not be read, so that users can see it. */
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
