import { ruleBrokenBy } from '../contacts/consent.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import { ServiceError } from '../platform/errors.ts'

/** A validated record of a source. */
export interface IncomingRecord {
  /** The source's id for the contact; null if it has none (a row of a file). */
  externalId: string | null
  email: string | null
  properties: PropertyChanges
  raw?: unknown
  /** When it was changed in the source. */
  at: Date | null
  /** Domain of the company to link a contact without one to. */
  companyDomain: string | null
  /** The source's id of the contact's company. */
  companyKey?: string | null
}

/**
 * A record that fails only because of its address. Its opt-outs are still written, to the contact that its id leads to, so
 * that a typing error cannot hide an opt-out.
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

/** What a record says, even if its address is malformed; null if it failed for another reason. */
export function recordIn(record: IncomingRecord | ServiceError): IncomingRecord | null {
  if (record instanceof MalformedAddress) return record.said
  return record instanceof ServiceError ? null : record
}

/** The properties that stop outreach. */
export function optOutsOf(properties: PropertyChanges): PropertyChanges {
  return Object.fromEntries(Object.entries(properties).filter(([key, value]) => ruleBrokenBy(key, value) !== null))
}
