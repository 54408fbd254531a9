import { changeContact } from '../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { lockByKey } from '../contacts/lock-by-key.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Source } from './apply-records.ts'
import { type IncomingRecord, optOutsOf } from './incoming-record.ts'

/** Writes the opt-outs of a record that names its contact by the tenant's own id. */
export async function writeOptOutsOfUser(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { source, kind }: Source,
  userId: string,
  { externalId, properties, at }: Pick<IncomingRecord, 'externalId' | 'properties' | 'at'>,
): Promise<void> {
  const optOuts = optOutsOf(properties)
  if (Object.keys(optOuts).length === 0) return
  await changeContacts(tenant, dependencies, async (tx, log) => {
    const contact = await lockByKey(tx, 'external_id', userId)
    if (!contact) return
    const statement = { id: externalId, properties: optOuts, isAgain: false, isAnother: true, isCurrent: false }
    const write = { source, kind, properties: optOuts, isPartial: true, statement, ...(at === null ? {} : { at }) }
    await changeContact(tx, log, contact.stored ?? contact, write, dependencies.clock())
  })
}
