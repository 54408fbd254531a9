import { applyWrite } from '../contacts/apply-write.ts'
import { lockStates } from '../contacts/bulk.ts'
import { changedEvents, storeChange } from '../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { ruleBrokenBy } from '../contacts/consent.ts'
import { changedKeys } from '../contacts/contact-row.ts'
import { noteSourceDeletions } from '../contacts/source-deletions.ts'
import { furtherIdsOf, removeFurtherIds, showSourceId } from '../contacts/source-ids.ts'
import { deleteSourceRecords } from '../contacts/undo-write.ts'
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
  dependencies: WriteDependencies,
  { source, kind }: Source,
  externalIds: readonly string[],
): Promise<number> {
  if (externalIds.length === 0) return 0
  const now = dependencies.clock()
  const ids = new Set(externalIds)
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const states = await lockStates(tx, source, externalIds, [])
    // An id that belongs to this contact only through a merge is not the contact's own: its own record still exists.
    const found = states.filter(({ externalIdBefore }) => externalIdBefore !== null && ids.has(externalIdBefore))
    await removeFurtherIds(tx, source, externalIds)
    const furtherIds = await furtherIdsOf(
      tx,
      source,
      found.map(({ row }) => row.contact_id),
    )
    const deleted = found.filter(({ row }) => !furtherIds.has(row.contact_id))
    for (const [contactId, [external_id = '']] of furtherIds) await showSourceId(tx, contactId, { source, external_id })
    for (const { row: before, records } of deleted) {
      const own = records.find((record) => record.source === source)
      const staysSilent = (key: string) => ruleBrokenBy(key, own?.fields[key]?.value) !== null
      const keys = Object.keys(own?.fields ?? {}).filter((key) => key !== 'email' && !staysSilent(key))
      const properties = Object.fromEntries(keys.map((key) => [key, null]))
      const applied = applyWrite(before, records, { source, kind, properties }, before.email, now)
      if (!applied.isRowDirty) continue
      const row = await storeChange(tx, applied.row, null)
      log.noteChange(row.contact_id, changedKeys(before, row))
      if (applied.isNews) log.events.push(...changedEvents(before, row, applied.changed, source, now))
    }
    const contactIds = deleted.map(({ row }) => row.contact_id)
    await deleteSourceRecords(tx, source, contactIds)
    await noteSourceDeletions(tx, source, contactIds)
    return contactIds.length
  })
}
