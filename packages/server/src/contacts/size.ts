import { ServiceError } from '../platform/errors.ts'
import { isWish, type Properties, type PropertyValue, requireFewKeys } from './properties.ts'
import type { SourceKind, SourceRecord } from './record-source.ts'

const KIB = 1024
/** A contact's properties and what its sources say of it, as JSON. Every write and every list reads all of it. */
const CONTACT_KIB_MAX = 256
/** Anyone can write through a page or a form: the rest is kept for the tenant's own systems. */
const CONTACT_KIB_MAX_FROM_PAGES = 192
const COMPANY_KIB_MAX = 256
/** Every change is recorded as an event: without a bound of its own, small changes of a large contact would fill the disk. */
const EVENT_PROPERTIES_BYTES_MAX = 32 * KIB

/** `{"value": , "updated_at": "2026-01-31T08:00:00.000Z"}` without the value. */
const FIELD_BYTES = 53
const SEPARATOR_BYTES = 2
const BRACES_BYTES = 2
/** JSON escapes a control character with six bytes; no character takes more. */
const CHARACTER_BYTES_MAX = 6

/** A contact's properties, and what all of its sources say. */
interface Content {
  properties: Properties
  records: readonly SourceRecord[]
}

/**
 * Checks that a write keeps a contact within its bounds.
 * @throws ServiceError 400 for too many keys, 413 `contact_too_large`.
 */
export function requireRoomInContact(before: Content, after: Content, kind: SourceKind): void {
  requireFewKeys(after.properties, 'contact')
  const isFromPages = kind === 'tracker' || kind === 'form'
  const kibMax = isFromPages ? CONTACT_KIB_MAX_FROM_PAGES : CONTACT_KIB_MAX
  if (fits((measure) => contactBytes(after, measure), kibMax * KIB)) return
  // Whoever says nothing more is heard, though others have filled the contact.
  if (contactBytes(after, exactly) <= contactBytes(before, exactly)) return
  const message = `The contact would hold more than ${kibMax} KiB, counting its properties and what each source says. Remove properties or shorten them; long texts belong in notes.`
  throw new ServiceError(413, 'contact_too_large', message)
}

/** @throws ServiceError 400 for too many keys, 413 `company_too_large`. */
export function requireRoomInCompany(properties: Properties): void {
  requireFewKeys(properties, 'company')
  if (fits((measure) => propertiesBytes(properties, measure), COMPANY_KIB_MAX * KIB)) return
  const message = `The company's properties would hold more than ${COMPANY_KIB_MAX} KiB. Remove some or shorten them.`
  throw new ServiceError(413, 'company_too_large', message)
}

/** Whether properties are small enough to be repeated in the event of a change. */
export function fitInEvent(properties: Properties): boolean {
  return fits((measure) => propertiesBytes(properties, measure), EVENT_PROPERTIES_BYTES_MAX)
}

/** How many bytes a text takes in JSON. */
type MeasureText = (text: string) => number

const atMost: MeasureText = (text) => text.length * CHARACTER_BYTES_MAX + BRACES_BYTES
const exactly: MeasureText = (text) => Buffer.byteLength(JSON.stringify(text))

/** Nearly everything is so small that its characters need not be looked at. */
function fits(bytesOf: (measure: MeasureText) => number, bytesMax: number): boolean {
  return bytesOf(atMost) <= bytesMax || bytesOf(exactly) <= bytesMax
}

function contactBytes({ properties, records }: Content, measure: MeasureText): number {
  return propertiesBytes(properties, measure) + sum(records.map((record) => recordBytes(record, measure)))
}

/** A source that says nothing takes no room: who somebody is can be said of a full contact too. */
function recordBytes({ source, external_id, fields, raw_bytes }: SourceRecord, measure: MeasureText): number {
  const said = Object.entries(fields).flatMap(([key, { value }]) =>
    isWish(key, value) ? [] : [measure(key) + FIELD_BYTES + valueBytes(value, measure) + 2 * SEPARATOR_BYTES],
  )
  if (said.length === 0 && raw_bytes === 0) return 0
  return measure(source) + measure(external_id ?? '') + BRACES_BYTES + sum(said) + raw_bytes
}

/** Bytes of the text that PostgreSQL makes of properties, which is what is stored, sent and read again. */
function propertiesBytes(properties: Properties, measure: MeasureText): number {
  const entries = Object.entries(properties).flatMap(([key, value]) =>
    isWish(key, value) ? [] : [measure(key) + valueBytes(value, measure) + 2 * SEPARATOR_BYTES],
  )
  return BRACES_BYTES + sum(entries)
}

function valueBytes(value: PropertyValue | null, measure: MeasureText): number {
  if (typeof value === 'string') return measure(value)
  if (typeof value === 'number') return numberBytes(value)
  if (!Array.isArray(value)) return String(value).length
  return BRACES_BYTES + sum(value.map((element) => valueBytes(element, measure) + SEPARATOR_BYTES))
}

/** PostgreSQL writes 1e300 with all its zeros. */
function numberBytes(value: number): number {
  const text = String(value)
  const [digits = '', exponent = '0'] = text.split('e')
  return digits.length + Math.abs(Number(exponent))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
