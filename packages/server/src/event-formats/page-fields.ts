import { underPropertyNames } from '../contacts/property-names.ts'
import { EVENT_TEXT_LENGTH_MAX } from '../journal/event-record.ts'
import { firstCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import type { Place } from '../platform/places.ts'
import { type Fields, textOf } from '../sites/segment/fields.ts'

/* Fields that the formats of PostHog, Mixpanel and Amplitude have in common. */

/** Ids that SDKs generate for a device: five groups of hexadecimal digits, among them UUIDs. */
export const GENERATED_ID = /^[0-9a-f]+(-[0-9a-f]+){4}$/i
/** The value that their SDKs send if a page has no referrer. */
const NO_REFERRER = '$direct'
/** ISO 3166-1 alpha-2. */
const COUNTRY = /^[A-Z]{2}$/
const PLACE_LENGTH_MAX = 200

export function urlOf(value: unknown): string | undefined {
  const text = textOf(value)
  return text === '' ? undefined : firstCharacters(text, EVENT_TEXT_LENGTH_MAX)
}

export function referrerOf(value: unknown): string | undefined {
  return value === NO_REFERRER ? undefined : urlOf(value)
}

export function screenOf({ $screen_width: width, $screen_height: height }: Fields): unknown {
  return { width, height }
}

/** Where a person was, by the fields of an export; undefined if it does not say which country. */
export function placeOf(country: unknown, region: unknown, city: unknown): Place | undefined {
  const code = textOf(country).toUpperCase()
  return COUNTRY.test(code) ? { country: code, region: nameOf(region), city: nameOf(city) } : undefined
}

function nameOf(value: unknown): string {
  return firstCharacters(textOf(value), PLACE_LENGTH_MAX)
}

/** The address among a person's traits as it was sent, valid or not; null for none or a blank one. */
export function sentEmailOf(traits: Fields): string | null {
  const text = textOf(underPropertyNames(traits).email).trim()
  return text === '' ? null : text
}

/** Many sites use the email as the id of a person. */
export function emailOf(id: string): string | null {
  return id.includes('@') ? parseEmail(id) : null
}
