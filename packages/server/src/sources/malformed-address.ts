import { changeContact } from '../contacts/change.ts'
import { changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { ruleBrokenBy } from '../contacts/consent.ts'
import { lockByKey } from '../contacts/lock-by-key.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import { ServiceError } from '../platform/errors.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { IncomingRecord, Source } from './apply-records.ts'

/**
 * The error of a record that fails for its address alone. Nothing of it is written but its opt-outs, to the contact that
 * its id already names: the person must not get mail because of a typing error.
 */
export class MalformedAddress extends ServiceError {
  /** The record without its address. */
  readonly said: IncomingRecord
  /** The tenant's own id of the contact; null if the record names the contact by its source's id. */
  readonly userId: string | null

  constructor({ status, code, message, details }: ServiceError, said: IncomingRecord, userId: string | null = null) {
    super(status, code, message, details === undefined ? {} : { details })
    this.said = { ...said, email: null }
    this.userId = userId
  }
}

/** The properties that stop outreach. */
export function optOutsOf(properties: PropertyChanges): PropertyChanges {
  return Object.fromEntries(Object.entries(properties).filter(([key, value]) => ruleBrokenBy(key, value) !== null))
}

/** Writes the opt-outs of a record that names its contact by the tenant's own id. */
export async function writeOptOutsOfUser(
  tenant: Tenant,
  dependencies: WriteDependencies,
  { source, kind }: Source,
  userId: string,
  { properties, at }: Pick<IncomingRecord, 'properties' | 'at'>,
): Promise<void> {
  const optOuts = optOutsOf(properties)
  if (Object.keys(optOuts).length === 0) return
  await changeContacts(tenant, dependencies, async (tx, log) => {
    const contact = await lockByKey(tx, 'external_id', userId)
    if (!contact) return
    const write = { source, kind, properties: optOuts, isPartial: true, ...(at === null ? {} : { at }) }
    await changeContact(tx, log, contact.stored ?? contact, write, dependencies.clock())
  })
}
