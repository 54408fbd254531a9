import { ServiceError } from '../platform/errors.ts'
import { type Properties, type PropertyChanges, type PropertyValue, requireFewKeys } from './properties.ts'
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

/** What a person decides about being contacted: it is written however full the contact is. */
const WISHES = ['unsubscribed', 'do_not_contact']

interface Write {
  kind: SourceKind
  properties: PropertyChanges
}

/**
 * Checks that a contact stays within its bounds.
 * @param records what all sources say after the write.
 * @throws ServiceError 400 for too many keys, 413 `contact_too_large`.
 */
export function requireRoomInContact(properties: Properties, records: readonly SourceRecord[], write: Write): void {
  if (isWish(write.properties)) return
  requireFewKeys(properties, 'contact')
  const isFromPages = write.kind === 'tracker' || write.kind === 'form'
  const kibMax = isFromPages ? CONTACT_KIB_MAX_FROM_PAGES : CONTACT_KIB_MAX
  const bytesOf = (measure: MeasureText) => contactBytes(properties, records, measure)
  if (fits(bytesOf, kibMax * KIB)) return
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

function isWish(properties: PropertyChanges): boolean {
  const entries = Object.entries(properties)
  return entries.length > 0 && entries.every(([key, value]) => WISHES.includes(key) && typeof value === 'boolean')
}

/** How many bytes a text takes in JSON. */
type MeasureText = (text: string) => number

const atMost: MeasureText = (text) => text.length * CHARACTER_BYTES_MAX + BRACES_BYTES
const exactly: MeasureText = (text) => Buffer.byteLength(JSON.stringify(text))

/** Nearly everything is so small that its characters need not be looked at. */
function fits(bytesOf: (measure: MeasureText) => number, bytesMax: number): boolean {
  return bytesOf(atMost) <= bytesMax || bytesOf(exactly) <= bytesMax
}

function contactBytes(properties: Properties, records: readonly SourceRecord[], measure: MeasureText): number {
  const ofSources = records.map(({ source, external_id, fields, raw_bytes }) => {
    const said = Object.entries(fields).map(
      ([key, { value }]) => measure(key) + FIELD_BYTES + valueBytes(value, measure) + 2 * SEPARATOR_BYTES,
    )
    return measure(source) + measure(external_id ?? '') + BRACES_BYTES + sum(said) + raw_bytes
  })
  return propertiesBytes(properties, measure) + sum(ofSources)
}

/** Bytes of the text that PostgreSQL makes of properties, which is what is stored, sent and read again. */
function propertiesBytes(properties: Properties, measure: MeasureText): number {
  const entries = Object.entries(properties).map(
    ([key, value]) => measure(key) + valueBytes(value, measure) + 2 * SEPARATOR_BYTES,
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
