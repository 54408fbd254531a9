import { sql } from 'kysely'
import type { Tenant } from '../platform/tenant.ts'
import type { FirstTouch } from './writing/first-touch.ts'
import { HAS_FIRST_TOUCH } from './writing/first-touch-keys.ts'
import { isUnverified } from './writing/source-trust.ts'

/** A contact with its keys, and whether they are proven. */
export interface KnownContact {
  contactId: string
  email: string | null
  userId: string | null
  /** Its user id comes only from pages, so it is not verified. */
  isUserIdProvisional: boolean
  isEmailFromPage: boolean
  touch: FirstTouch
}

interface Keys {
  contactIds: readonly string[]
  userIds: readonly string[]
  emails: readonly string[]
}

/** The contacts with one of some keys, in one query, however many keys there are. */
export async function findByKeys(tenant: Tenant, { contactIds, userIds, emails }: Keys): Promise<KnownContact[]> {
  if (contactIds.length + userIds.length + emails.length === 0) return []
  const rows = await tenant.db
    .selectFrom('contacts')
    .select(['contact_id', 'email', 'external_id', 'external_id_provisional', 'first_seen_at'])
    .select(sql<string | null>`properties_provenance -> 'email' ->> 'source'`.as('email_source'))
    .select(HAS_FIRST_TOUCH.as('has_first_touch'))
    .where(({ or, eb }) =>
      or([
        ...(contactIds.length === 0 ? [] : [eb('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)]),
        ...(userIds.length === 0 ? [] : [eb('external_id', '=', sql<string>`any(${userIds}::text[])`)]),
        ...(emails.length === 0 ? [] : [eb('email', '=', sql<string>`any(${emails}::text[])`)]),
      ]),
    )
    .execute()
  return rows.map((row) => ({
    contactId: row.contact_id,
    email: row.email,
    userId: row.external_id,
    isUserIdProvisional: row.external_id_provisional,
    isEmailFromPage: row.email !== null && isUnverified(row.email_source ?? undefined),
    touch: { firstSeenMs: row.first_seen_at.getTime(), isWritten: row.has_first_touch },
  }))
}
