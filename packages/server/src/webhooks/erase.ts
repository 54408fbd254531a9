import { sql } from 'kysely'
import { type ErasureSubject, mentionPattern } from '../contacts/erasure-subject.ts'
import type { Tenant } from '../platform/tenant.ts'

/**
 * Copies of events in webhook deliveries, sent or waiting. The news that the contact was deleted stays: it holds nothing
 * but the id, and tells receivers to delete it too.
 */
export async function eraseFromDeliveries(tx: Tenant, { contactId, email }: ErasureSubject) {
  // Nothing matches the pattern of a contact whose address nobody knows.
  const pattern = email === null ? '(?!)' : mentionPattern(email)
  const names = (column: string) => sql<boolean>`strpos(${sql.ref(column)}, ${contactId}) > 0`
  const mentions = (column: string) => sql<boolean>`${sql.ref(column)} ~* ${pattern}`
  const answers = await tx.db
    .updateTable('webhook_attempts')
    .set({ body: null })
    .where((eb) => eb.or([mentions('body'), sql<boolean>`strpos(body, ${contactId}) > 0`]))
    .executeTakeFirst()
  const deliveries = await tx.db
    .deleteFrom('webhook_deliveries')
    .where((eb) =>
      eb.or([
        mentions('payload'),
        mentions('record'),
        eb.and([eb('event', '<>', 'contact_deleted'), eb.or([names('payload'), names('record')])]),
      ]),
    )
    .executeTakeFirst()
  return {
    webhook_deliveries: Number(deliveries.numDeletedRows),
    webhook_answers: Number(answers.numUpdatedRows),
  }
}
