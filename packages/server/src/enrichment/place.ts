import { countryCode } from './countries.ts'
import { type Enricher, type Found, statedText } from './enricher.ts'

/** Where the contact was at its last visit. */
export const PLACE: Enricher = {
  name: 'place',
  fills: ['country', 'region', 'city'],
  inputs: ({ facts: { place } }) => [place?.country, place?.region, place?.city],
  find(known): Found | null {
    const { place } = known.facts
    if (!place) return null
    const { country, region, city, at } = place
    const stated = statedText(known, 'country')
    // A city of one country beside the name of another would be nonsense. A city that somebody says has its own region.
    if (stated !== null && countryCode(stated) !== country) return null
    const knowsCity = statedText(known, 'city') !== null || statedText(known, 'state') !== null
    const near: Found['properties'] = knowsCity ? {} : { region: region || null, city: city || null }
    return { properties: { country, ...near }, raw: { country, region, city, seen_at: at.toISOString() } }
  },
}
