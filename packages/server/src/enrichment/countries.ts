import { type CountryCode, getCountries, isSupportedCountry } from 'libphonenumber-js/max'

/** The codes of countries by their English names, in lower case. */
const CODES = new Map<string, CountryCode>()
const names = new Intl.DisplayNames(['en'], { type: 'region' })
for (const code of getCountries()) CODES.set((names.of(code) ?? code).toLowerCase(), code)
for (const [name, code] of [
  ['usa', 'US'],
  ['united states of america', 'US'],
  ['uk', 'GB'],
  ['great britain', 'GB'],
  ['england', 'GB'],
  ['scotland', 'GB'],
  ['wales', 'GB'],
  ['deutschland', 'DE'],
  ['österreich', 'AT'],
  ['schweiz', 'CH'],
  ['españa', 'ES'],
  ['italia', 'IT'],
  ['nederland', 'NL'],
  ['the netherlands', 'NL'],
  ['czech republic', 'CZ'],
  ['turkey', 'TR'],
] as const) {
  CODES.set(name, code)
}

/** The code of a country (ISO 3166-1 alpha-2) that is written as a code or as a name; null for any other text. */
export function countryCode(text: string | null): CountryCode | null {
  if (text === null) return null
  const upper = text.toUpperCase()
  return isSupportedCountry(upper) ? upper : (CODES.get(text.toLowerCase()) ?? null)
}
