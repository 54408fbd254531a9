import { sql } from 'kysely'
import { type ErasureSubject, mentionPattern } from '../contacts/erasure-subject.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Erases a contact from the errors of connections. Its outbox entries are deleted with the contact's row. */
export async function eraseFromConnections(tx: Tenant, { contactId, email }: ErasureSubject) {
  const { numDeletedRows } = await tx.db
    .deleteFrom('connection_errors')
    .where(({ or, eb }) =>
      or([
        eb('external_id', '=', contactId),
        // Without an address, the pattern matches nothing.
        sql<boolean>`message ~* ${email === null ? '(?!)' : mentionPattern(email)}`,
      ]),
    )
    .executeTakeFirst()
  return { connection_errors: Number(numDeletedRows) }
}
