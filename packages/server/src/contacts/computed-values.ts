import type { Tenant } from '../platform/tenant.ts'
import { COMPUTED } from './computed-names.ts'
import { contactsAmong } from './matching.ts'
import type { Properties, PropertyValue } from './properties.ts'
import { computeContact } from './writing/change.ts'
import type { WriteServices } from './writing/writer.ts'

/** What the service computed of a contact; null for a property that it must not have. */
export type ComputedValues = Readonly<Record<string, PropertyValue | null>>

/**
 * Writes what the service computed of contacts, in the caller's transaction. A contact that has all of it already is not locked,
 * and records no event. One that is full keeps what it has.
 * @param isTold whether the event of a contact says from what to what a score changed
 * @returns the ids of those that exist.
 */
export async function computeContacts(
  tx: Tenant,
  { writer }: Pick<WriteServices, 'writer'>,
  values: ReadonlyMap<string, ComputedValues>,
  isTold: (contactId: string, name: string) => boolean,
): Promise<string[]> {
  const rows = await contactsAmong(tx, { contactIds: [...values.keys()] })
    .select(['contact_id', 'properties', 'properties_provenance'])
    .execute()
  const outdated = rows.filter(({ contact_id, properties, properties_provenance }) =>
    isOutdated(values.get(contact_id) ?? {}, properties as Properties, properties_provenance as Provenance),
  )
  await writer.writeEach(
    tx,
    outdated.map(({ contact_id: contactId }) => ({
      keys: { contactIds: [contactId] },
      apply(set, { now }) {
        const state = set.contact(contactId)
        if (state) computeContact(set, state, values.get(contactId) ?? {}, now, (name) => isTold(contactId, name))
      },
    })),
  )
  return rows.map(({ contact_id }) => contact_id)
}

type Provenance = Record<string, { source: string }>

function isOutdated(values: ComputedValues, properties: Properties, provenance: Provenance): boolean {
  const isOther = ([key, value]: [string, PropertyValue | null]) =>
    Object.hasOwn(properties, key) ? JSON.stringify(properties[key]) !== JSON.stringify(value) : value !== null
  const isStale = (key: string) => provenance[key]?.source === COMPUTED && !Object.hasOwn(values, key)
  return Object.entries(values).some(isOther) || Object.keys(provenance).some(isStale)
}
