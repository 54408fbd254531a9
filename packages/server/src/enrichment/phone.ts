import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { countryCode } from './countries.ts'
import { type Enricher, type Found, isEnriched, type Known, statedText, textOf } from './enricher.ts'
import type { EnrichmentSettings } from './settings.ts'

/** Where contacts have a phone number; the first that has one counts. */
const PHONES = ['phone', 'mobilephone', 'mobile', 'phone_number', 'mobile_phone', 'work_phone']
/** Longer texts hold no phone number, and are not searched for one. */
const LENGTH_MAX = 60

/** A phone number in the form that every system reads (E.164), and its country. */
export const PHONE: Enricher = {
  name: 'phone',
  fills: ['phone_e164', 'phone_country'],
  inputs: (known, settings) => [phoneOf(known), ...countriesOf(known, settings)],
  find(known, settings): Found | null {
    const [property, text] = phoneOf(known) ?? []
    const number = text === undefined ? null : numberIn(text, countriesOf(known, settings))
    if (property !== undefined && number !== null) {
      const { number: phone_e164, country = null } = number
      return { properties: { phone_e164, phone_country: country }, raw: { property, number: text ?? null, phone_e164 } }
    }
    // The number that it came from is gone.
    const isStale = isEnriched(known, 'phone_e164')
    return isStale ? { properties: { phone_e164: null, phone_country: null }, raw: { phone_e164: null } } : null
  },
}

function phoneOf(known: Known): [property: string, text: string] | undefined {
  for (const property of PHONES) {
    const text = textOf(known, property)
    if (text !== null && text.length <= LENGTH_MAX) return [property, text]
  }
  return undefined
}

/** The country that somebody says, then the workspace's, then that of the last visit: people travel. */
function countriesOf(known: Known, { country }: EnrichmentSettings): (string | null)[] {
  return [statedText(known, 'country'), country, textOf(known, 'country')]
}

/** A valid number. One without a country code is of the first country that is known. */
function numberIn(text: string, countries: readonly (string | null)[]) {
  const country = countries.map(countryCode).find((code) => code !== null)
  const number = parsePhoneNumberFromString(text, country === undefined ? undefined : { defaultCountry: country })
  return number?.isValid() ? number : null
}
