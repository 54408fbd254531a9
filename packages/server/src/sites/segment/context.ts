import { type Fields, fieldsOf, textOf } from './fields.ts'

/** The parts of a campaign under the names that URLs use. */
const CAMPAIGN = {
  source: 'utm_source',
  medium: 'utm_medium',
  name: 'utm_campaign',
  term: 'utm_term',
  content: 'utm_content',
}

/**
 * The context of a call under the names of /track. The IP address in it says where the person is, and is not stored.
 * @param userAgent the header of a browser's request; '' from a server, whose header names the SDK.
 */
export function contextOf(context: Fields, userAgent: string): Record<string, unknown> {
  return {
    language: context.locale,
    timezone: context.timezone,
    screen: context.screen,
    user_agent: textOf(context.userAgent) || userAgent,
    // Sites send 0.0.0.0 so that the browser's own address is not looked up.
    ip: context.ip,
  }
}

/** The campaign of a call as fields of the event's data. */
export function campaignOf({ campaign }: Fields): Fields {
  const sent = fieldsOf(campaign)
  const named = Object.entries(CAMPAIGN).map(([name, key]) => [key, textOf(sent[name])] as const)
  return Object.fromEntries(named.filter(([, value]) => value !== ''))
}
