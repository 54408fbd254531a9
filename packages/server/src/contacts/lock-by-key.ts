import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, EXTERNAL_ID, lockSurvivor, survivorOf } from './aliases.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'

/** A contact found by one of its keys. */
export interface KeyedContact extends ContactRow {
  /** Only a page has sent the external id of this contact. */
  external_id_provisional: boolean
  /** The keys in its row, if it was found by a key of a contact that was merged into it. */
  stored?: ContactRow
}

/** Locks the contact with a key, else the survivor of the contact that had it. */
export async function lockByKey(
  tx: Tenant,
  key: 'email' | 'external_id',
  value: string,
): Promise<KeyedContact | undefined> {
  const contacts = tx.db
    .selectFrom('contacts')
    .select([...CONTACT_COLUMNS, 'external_id_provisional'])
    .forUpdate()
  const contact = await contacts.where(key, '=', value).executeTakeFirst()
  if (contact) return contact
  const alias = { ...(key === 'email' ? EMAIL : EXTERNAL_ID), key: value }
  const survivorId = await lockSurvivor(tx, () => survivorOf(tx, alias))
  if (survivorId === null) return undefined
  const stored = await contacts.where('contact_id', '=', survivorId).executeTakeFirstOrThrow()
  return throughMerge(stored, key, value)
}

/** The survivor with the keys of a merged contact. People merged the two, so these keys count as verified. */
function throughMerge(stored: KeyedContact, key: 'email' | 'external_id', value: string): KeyedContact {
  const provenance = stored.properties_provenance as Record<string, unknown>
  return {
    ...stored,
    [key]: value,
    ...(key === 'external_id' ? { external_id_provisional: false } : {}),
    properties_provenance: { ...provenance, email: { source: 'manual', updated_at: '' } },
    stored,
  }
}
