import type { Facts } from '../contacts/writing/facts.ts'
import type { Writer } from '../contacts/writing/writer.ts'
import { nameInMailsOf } from '../conversations/name-in-mails.ts'
import { lastPlaceOf } from '../events/last-place.ts'
import type { Tenant } from '../platform/tenant.ts'

/** What was seen of a contact so far. */
export async function factsOf(tenant: Tenant, contactId: string): Promise<Facts> {
  const [place, nameInMail] = await Promise.all([lastPlaceOf(tenant, contactId), nameInMailsOf(tenant, contactId)])
  return { ...(place ? { place } : {}), ...(nameInMail === null ? {} : { nameInMail }) }
}

/** Enriches contacts now, although nothing about them has changed. Those that are gone are left out. */
export async function enrichNow(
  tenant: Tenant,
  { writer }: { writer: Pick<Writer, 'write'> },
  factsById: ReadonlyMap<string, Facts>,
): Promise<void> {
  const contactIds = [...factsById.keys()]
  await writer.write(tenant, {
    keys: { contactIds },
    apply(set) {
      for (const [contactId, facts] of factsById) {
        const state = set.contact(contactId)
        if (state) set.addFacts(state, { ...facts, isAsked: true })
      }
    },
  })
}
