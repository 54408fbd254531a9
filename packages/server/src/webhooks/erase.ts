import { sql } from 'kysely'
import { mentionPattern } from '../contacts/erasure-subject.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'
import { deleteDeliveriesById } from './queue/delete.ts'

/** Deliveries that are deleted together. */
const BATCH = 5_000

/**
 * Erases a contact from webhook deliveries and from the responses to them. Deliveries of its contact_deleted event
 * stay: they contain only the id, and tell receivers to delete the contact too.
 */
export async function eraseFromDeliveries(tx: Tenant, { contactId, email }: ErasureSubject) {
  const hasId = (column: string) => sql<boolean>`strpos(${sql.ref(column)}, ${contactId}) > 0`
  // The pattern for an unknown address matches nothing.
  const pattern = email === null ? '(?!)' : mentionPattern(email)
  const hasAddress = (column: string) => sql<boolean>`${sql.ref(column)} ~* ${pattern}`
  const responses = await tx.db
    .updateTable('webhook_attempts')
    .set({ body: null })
    .where((eb) => eb.or([hasAddress('body'), hasId('body')]))
    .executeTakeFirst()
  let deleted = 0
  for (;;) {
    const found = await tx.db
      .selectFrom('webhook_deliveries')
      .select('delivery_id')
      .where((eb) =>
        eb.or([
          hasAddress('payload'),
          hasAddress('record'),
          eb.and([
            eb('event', '<>', 'contact_deleted'),
            eb.or([hasId('payload'), hasId('record'), eb('contact_id', '=', contactId)]),
          ]),
        ]),
      )
      .limit(BATCH)
      .execute()
    deleted += await deleteDeliveriesById(
      tx,
      found.map(({ delivery_id }) => delivery_id),
    )
    if (found.length < BATCH) break
  }
  return { webhook_deliveries: deleted, webhook_responses: Number(responses.numUpdatedRows) }
}
