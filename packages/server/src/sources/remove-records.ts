import { strictness } from '../contacts/consent.ts'
import type { ContactRow } from '../contacts/contact-row.ts'
import type { Properties } from '../contacts/properties.ts'
import { noteSourceDeletions } from '../contacts/source-deletions.ts'
import { furtherIdsOf, removeFurtherIds, showSourceId } from '../contacts/source-ids.ts'
import { applyWrite } from '../contacts/writing/apply.ts'
import { recordOf } from '../contacts/writing/contact-set.ts'
import { changedEvents } from '../contacts/writing/events.ts'
import type { SourceRecord } from '../contacts/writing/source-records.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Source } from './apply-records.ts'

/**
 * Removes a source's records of contacts that were deleted in the source. Values that only this source wrote are
 * removed. Where its value had won, the next source's value is used. The contacts stay, with their events and all other
 * values. A contact that the source still has under another id keeps its record. An opt-out stays: a deletion is not an
 * agreement.
 * @returns how many contacts lost their record.
 */
export async function removeSourceRecords(
  tenant: Tenant,
  { writer }: WriteServices,
  { source, kind }: Source,
  externalIds: readonly string[],
): Promise<number> {
  if (externalIds.length === 0) return 0
  const ids = new Set(externalIds)
  return writer.write(tenant, {
    keys: { ofSource: { source, externalIds } },
    // It also changes ids that others of a group would have read.
    isAlone: true,
    async apply(set, { tx, now }) {
      // An id that belongs to this contact only through a merge is not the contact's own: its own record still exists.
      const found = [...set.contacts].filter((state) => ids.has(recordOf(state, source)?.external_id ?? ''))
      await removeFurtherIds(tx, source, externalIds)
      const furtherIds = await furtherIdsOf(
        tx,
        source,
        found.map(({ row }) => row.contact_id),
      )
      const deleted = found.filter(({ row }) => !furtherIds.has(row.contact_id))
      for (const [contactId, [external_id = '']] of furtherIds)
        await showSourceId(tx, contactId, { source, external_id })
      for (const state of deleted) {
        const { row: before, records } = state
        const own = recordOf(state, source)
        const staysSilent = (key: string) => strictness(key, own?.fields[key]?.value) > 0
        const keys = Object.keys(own?.fields ?? {}).filter((key) => key !== 'email' && !staysSilent(key))
        const properties = Object.fromEntries(keys.map((key) => [key, null]))
        const applied = applyWrite(before, records, { source, kind, properties }, before.email, now)
        const row = withSayer(applied.isRowDirty ? applied.row : before, source, own)
        set.replace(state, { row, records: records.filter((record) => record !== own) })
        if (applied.isNews) set.addEvents(...changedEvents(before, row, applied.changed, source, now))
      }
      const contactIds = deleted.map(({ row }) => row.contact_id)
      await noteSourceDeletions(tx, source, contactIds)
      return contactIds.length
    },
  })
}

/** An opt-out that several sources say is noted as that of the deleted record, so that none of the others releases it. */
function withSayer(contact: ContactRow, source: string, own: SourceRecord | undefined): ContactRow {
  const properties = contact.properties as Properties
  const provenance = contact.properties_provenance as Record<string, { source: string; updated_at: string }>
  const said = Object.entries(own?.fields ?? {}).filter(
    ([key, { value }]) =>
      strictness(key, value) > 0 &&
      Object.hasOwn(properties, key) &&
      strictness(key, properties[key]) > 0 &&
      provenance[key]?.source !== source,
  )
  if (said.length === 0) return contact
  const noted = said.map(([key, { updated_at }]) => [key, { source, updated_at }])
  return { ...contact, properties_provenance: { ...provenance, ...Object.fromEntries(noted) } }
}
