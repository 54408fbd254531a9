import { sql } from 'kysely'
import { mentionPattern } from '../contacts/erasure-subject.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/**
 * Deletes the kept bodies of hooks that were recorded for the contact, or that mention its address or one of its ids.
 * Bodies are stored as JSON without unnecessary escapes, so a text search finds ids.
 */
export async function eraseFromHookBodies(
  tx: Tenant,
  { contactId, email, visitorIds, keys }: ErasureSubject,
): Promise<Record<string, number>> {
  const ids = [contactId, ...visitorIds, ...keys.map(({ key }) => key)]
  const patterns = ids.flatMap(formsOf).map((form) => `%${form.replace(/[\\%_]/g, '\\$&')}%`)
  const { numDeletedRows } = await tx.db
    .deleteFrom('hook_bodies')
    .where(({ eb, or }) =>
      or([
        eb('contact_id', '=', contactId),
        ...(email === null ? [] : [sql<boolean>`${sql.ref('body')} ~* ${mentionPattern(email)}`]),
        sql<boolean>`${sql.ref('body')} LIKE ANY (${patterns}::text[])`,
      ]),
    )
    .executeTakeFirst()
  return { hook_bodies: Number(numDeletedRows) }
}

/**
 * An id in JSON: as a string and, for long numbers, also without quotes, as a field or in a list. Short numbers are left
 * out, because most of them are quantities or prices of other people's bodies.
 */
function formsOf(id: string): string[] {
  if (!/^[1-9]\d{4,}$/.test(id)) return [JSON.stringify(id)]
  return [`"${id}"`, `:${id},`, `:${id}}`, `[${id},`, `[${id}]`, `,${id},`, `,${id}]`]
}
