import type { Visit } from '../api/events.ts'
import { formatDuration } from './format.ts'
import { text } from './text.ts'

const words = text.visit

/** Where a visit came from: the campaign in its first URL, else the referrer's host. */
export function visitSource({ utm_source, utm_medium, utm_campaign, referring_domain }: Visit): string {
  const source = [utm_source ?? referring_domain, utm_medium].filter(Boolean).join(' / ')
  const campaign = utm_campaign ? words.campaign(utm_campaign) : ''
  const from = [source, campaign].filter(Boolean).join(', ')
  return from === '' ? words.direct : words.from(from)
}

/** "4 pages · 3 min"; without pages, the number of events. */
export function visitSize({ page_views: pages, event_count: events, duration_seconds: seconds }: Visit): string {
  return [pages > 0 ? words.pages(pages) : words.events(events), formatDuration(seconds)].filter(Boolean).join(' · ')
}
