import { firstCharacters } from '../platform/characters.ts'

/** The parameters of a URL that name a campaign, and the columns of an event that have their values. */
export const UTM_COLUMNS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const
export type UtmColumn = (typeof UTM_COLUMNS)[number]
export type Campaign = Record<UtmColumn, string>

/** Real values have some dozens. */
const LENGTH_MAX = 500
const NO_CAMPAIGN: Readonly<Campaign> = {
  utm_source: '',
  utm_medium: '',
  utm_campaign: '',
  utm_term: '',
  utm_content: '',
}

/** The campaign in the query of a URL; '' for what it lacks. Apps send URLs of any scheme, and paths alone. */
export function campaignOf(url: string): Readonly<Campaign> {
  // Most URLs have none.
  if (!url.includes('utm_')) return NO_CAMPAIGN
  const [beforeFragment = ''] = url.split('#', 1)
  const start = beforeFragment.indexOf('?')
  const sent = new URLSearchParams(start === -1 ? '' : beforeFragment.slice(start))
  const campaign = { ...NO_CAMPAIGN }
  // PostgreSQL stores no NUL.
  for (const name of UTM_COLUMNS)
    campaign[name] = firstCharacters((sent.get(name) ?? '').replaceAll('\0', ''), LENGTH_MAX)
  return campaign
}

/**
 * The same in ClickHouse, from the column `url`, for events that were recorded without it. Only a percent sign that encodes
 * nothing may be read differently.
 */
export function campaignInSql(name: UtmColumn): string {
  const sent = `replaceAll(extract(concat('&', extract(url, '^[^?#]*[?]([^#]*)')), '&${name}=([^&]*)'), '+', ' ')`
  const value = `substringUTF8(replaceAll(toValidUTF8(decodeURLComponent(${sent})), '\\0', ''), 1, ${LENGTH_MAX})`
  // Most URLs have none, and looking for the name costs a tenth of the rest.
  return `if(position(url, '${name}=') = 0, '', ${value})`
}
