/** Where a visitor was, and the campaign that brought them, in words. */

interface Placed {
  country: string | null
  region: string | null
  city: string | null
}

const COUNTRIES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })

/** "Bielefeld, North Rhine-Westphalia, Germany"; null if nothing is known. */
export function placeWords({ country, region, city }: Placed): string | null {
  const place = [city, region === city ? null : region, country === null ? null : countryName(country)]
  return place.filter(Boolean).join(', ') || null
}

/** The name of a country; a text that is no code stays as it is. */
export function countryName(code: string): string {
  return /^[A-Z]{2}$/.test(code) ? (COUNTRIES.of(code) ?? code) : code
}
