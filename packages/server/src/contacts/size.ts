import { ServiceError } from '../platform/errors.ts'
import { withoutConsent } from './consent.ts'
import { propertiesOf } from './contact-row.ts'
import { type Properties, requireFewKeys } from './properties.ts'
import type { SourceKind, SourceRecord } from './writing/source-records.ts'
import { isUnverified } from './writing/source-trust.ts'

const KIB = 1024
/** A contact's properties and source records, as JSON. Every write and every list reads all of them. */
const CONTACT_KIB_MAX = 256
const COMPANY_KIB_MAX = 256
/** Anyone can write through a page or a form, so the rest is reserved for the tenant's own systems. */
const KIB_MAX_FROM_PAGES = 192
const KEYS_MAX_FROM_PAGES = 400
/** Every change is recorded as an event: without this limit, small changes to a large contact would fill the disk. */
const EVENT_PROPERTIES_BYTES_MAX = 32 * KIB

/** A contact's email and properties, and the records of all its sources. */
interface Content {
  email: string | null
  properties: Properties
  records: readonly SourceRecord[]
}

/**
 * Checks that a write keeps a contact within its limits.
 * @throws ServiceError 400 for too many keys, 413 `contact_too_large`.
 */
export function requireContactFits(before: Content, after: Content, kind: SourceKind): void {
  const isFromPage = isUnverified(kind)
  requireKeysFit(propertiesOf(before), propertiesOf(after), 'contact', isFromPage)
  const kibMax = isFromPage ? KIB_MAX_FROM_PAGES : CONTACT_KIB_MAX
  // Few contacts are near the limit; the others need not be measured.
  if (contactBytesAtMost(after) <= kibMax * KIB) return
  const bytes = contactBytes(after)
  if (bytes <= kibMax * KIB) return
  // A write that adds nothing is accepted, even if others have filled the contact.
  if (bytes <= contactBytes(before)) return
  const message = `The contact would exceed ${kibMax} KiB, counting its properties and source records. Remove or shorten properties; put long texts in notes.`
  throw new ServiceError(413, 'contact_too_large', message)
}

/**
 * Checks that a write keeps a company within its limits.
 * @throws ServiceError 400 for too many keys, 413 `company_too_large`.
 */
export function requireCompanyFits(before: Properties, after: Properties, isFromForm: boolean): void {
  requireKeysFit(before, after, 'company', isFromForm)
  const kibMax = isFromForm ? KIB_MAX_FROM_PAGES : COMPANY_KIB_MAX
  const bytes = jsonBytes(after)
  if (bytes <= kibMax * KIB || bytes <= jsonBytes(before)) return
  const message = `The company's properties would exceed ${kibMax} KiB. Remove or shorten some.`
  throw new ServiceError(413, 'company_too_large', message)
}

function requireKeysFit(
  before: Properties,
  after: Properties,
  record: 'contact' | 'company',
  isFromPage: boolean,
): void {
  const addsKeys = Object.keys(after).length > Object.keys(before).length
  requireFewKeys(after, record, isFromPage && addsKeys ? KEYS_MAX_FROM_PAGES : undefined)
}

/** Whether properties are small enough to include in the change event. */
export function fitInEvent(properties: Properties): boolean {
  return jsonBytes(properties) <= EVENT_PROPERTIES_BYTES_MAX
}

function contactBytes({ properties, records }: Content): number {
  return jsonBytes(withoutConsent(properties, (value) => value)) + sum(records.map(recordBytes))
}

/** An upper bound of `contactBytes`, in a fraction of its time. */
function contactBytesAtMost({ properties, records }: Content): number {
  let bytes = bytesAtMost(properties)
  for (const { source, external_id, fields, raw_bytes } of records) {
    bytes += bytesAtMost([source, external_id ?? '']) + RECORD_KEYS_BYTES + raw_bytes
    for (const key in fields) bytes += bytesAtMost(key) + bytesAtMost(fields[key]) + 2 * SEPARATOR_BYTES
  }
  return bytes
}

/** A source with nothing but the email does not count, so a full contact can still be identified. */
function recordBytes({ source, external_id, fields: { email: _, ...fields }, raw_bytes }: SourceRecord): number {
  const counted = withoutConsent(fields, ({ value }) => value)
  if (Object.keys(counted).length === 0 && raw_bytes === 0) return 0
  return jsonBytes({ source, external_id, fields: counted }) + raw_bytes
}

const SEPARATOR_BYTES = 2
const BRACES_BYTES = 2
const NUMBER_BYTES_MAX = 400
/** The bytes of a record besides its values: keys and braces. */
const RECORD_KEYS_BYTES = 100

/** Bytes of a `jsonb` value in PostgreSQL's text form. */
function jsonBytes(value: unknown): number {
  if (typeof value === 'string') return Buffer.byteLength(JSON.stringify(value))
  if (typeof value === 'number') return numberBytes(value)
  if (typeof value !== 'object' || value === null) return String(value).length
  const parts = Array.isArray(value)
    ? value.map((element) => jsonBytes(element) + SEPARATOR_BYTES)
    : Object.entries(value).map(([key, field]) => jsonBytes(key) + jsonBytes(field) + 2 * SEPARATOR_BYTES)
  return BRACES_BYTES + sum(parts)
}

/** A character has at most six bytes, as an escape; a number has little more than 300 digits. */
function bytesAtMost(value: unknown): number {
  if (typeof value === 'string') return 6 * value.length + BRACES_BYTES
  if (typeof value !== 'object' || value === null) return NUMBER_BYTES_MAX
  let bytes = BRACES_BYTES
  if (Array.isArray(value)) for (const element of value) bytes += bytesAtMost(element) + SEPARATOR_BYTES
  else
    for (const [key, field] of Object.entries(value))
      bytes += bytesAtMost(key) + bytesAtMost(field) + 2 * SEPARATOR_BYTES
  return bytes
}

/** PostgreSQL writes 1e300 and 1e-300 with all their zeros, and the latter with a point. */
function numberBytes(value: number): number {
  const [digits = '', exponent = '0'] = String(value).split('e')
  const point = exponent.startsWith('-') && !digits.includes('.') ? 1 : 0
  return digits.length + Math.abs(Number(exponent)) + point
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
