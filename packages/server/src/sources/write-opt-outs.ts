import { changeContact } from '../contacts/writing/change.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Source } from './apply-records.ts'
import { type IncomingRecord, optOutsOf } from './incoming-record.ts'

/** Writes the opt-outs of a record that names its contact by the tenant's own id. */
export async function writeOptOutsOfUser(
  tenant: Tenant,
  { writer }: WriteServices,
  { source, kind }: Source,
  userId: string,
  { externalId, properties, at }: Pick<IncomingRecord, 'externalId' | 'properties' | 'at'>,
): Promise<void> {
  const optOuts = optOutsOf(properties)
  if (Object.keys(optOuts).length === 0) return
  const statement = { id: externalId, properties: optOuts, isAgain: false, isAnother: true, isCurrent: false }
  const write = { source, kind, properties: optOuts, isPartial: true, statement, ...(at === null ? {} : { at }) }
  await writer.write(tenant, {
    keys: { externalIds: [userId] },
    apply(set, { now }) {
      const state = set.find('external_id', userId)
      if (state) changeContact(set, state, write, now)
    },
  })
}
