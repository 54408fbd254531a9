import { type Load, load } from './load.ts'
import { GROUPED } from './queries.ts'
import type { Raw } from './raw.ts'
import { number, perSecond, progress, rate, rows, SIZE, URL_OF_SERVICE } from './report.ts'

/** The paths that are read; their names are those of the bare queries. */
const READS: Record<string, (raw: Raw) => string> = {
  'GET contact': (raw) => `/v1/contacts/${pick(raw.contactIds)}?include_events=false`,
  'list contacts': () => '/v1/contacts',
  'search contacts': () => '/v1/contacts?search=person4321',
  'contacts who did something': () => '/v1/contacts?has_event_type=video_play',
  'list events': () => '/v1/events',
  'events by contact': (raw) => `/v1/events?contact_id=${pick(raw.contactIds)}`,
  'GET event': (raw) => `/v1/events/${pick(raw.eventIds)}`,
  'events, url contains': () => '/v1/events?url_contains=page-1999',
}
/** Their answer itself grows with the tenant: growth says nothing of them. */
const GROWING = ['search contacts', 'contacts who did something', 'events, url contains']

/** Reads of one page, by many at once. @returns the answers a second, by name. */
export async function readRates(raw: Raw, seconds: number): Promise<Record<string, Load>> {
  const rates: Record<string, Load> = {}
  for (const [what, path] of Object.entries(READS)) {
    progress(`${what}, ${number(raw.contacts)} contacts`)
    const headers = { authorization: `Bearer ${raw.apiKey}` }
    rates[what] = await load({ url: URL_OF_SERVICE, connections: 16, seconds, headers, path: () => path(raw) })
  }
  return rates
}

/** Adds the reads to the table: against the engines alone, and against a small tenant. */
export function reportReads(raw: Raw, found: Record<string, Load>, small: Record<string, Load> | null): void {
  for (const [what, measured] of Object.entries(found)) {
    const limit = raw.queriesPerSecond[what] ?? 0
    rows.push({
      what,
      measured: perSecond(measured),
      limit: `${rate(limit)}/s bare query`,
      ratio: measured.requestsPerSecond / limit,
      aim: '0.50',
    })
  }
  for (const [what, { requestsPerSecond }] of Object.entries(small ?? {})) {
    const grown = found[what]
    if (!grown || GROWING.includes(what)) continue
    rows.push({
      what: `${what}, a hundred times the data`,
      measured: `${rate(grown.requestsPerSecond)}/s`,
      limit: `${rate(requestsPerSecond)}/s with 10,000 contacts and 100,000 events`,
      ratio: grown.requestsPerSecond / requestsPerSecond,
      aim: '',
    })
  }
}

function pick(ids: string[]): string {
  return ids[Math.floor(Math.random() * ids.length)] ?? ''
}

/** What reads all events of the tenant, or those of many contacts. */
export async function measureGrouping(raw: Raw): Promise<void> {
  const active = () => pick(raw.activeContactIds)
  for (const group_by of Object.keys(GROUPED)) {
    await measureHeavy(raw, `aggregate events by ${group_by}`, {
      connections: 4,
      path: () => '/v1/aggregate',
      body: () => JSON.stringify({ entity: 'events', group_by }),
    })
  }
  await measureHeavy(raw, 'events stats', { connections: 4, path: () => '/v1/events/stats' })
  await measureHeavy(raw, 'batch activity, 25 contacts', {
    connections: 16,
    path: () => '/v1/batch/activity',
    body: () => JSON.stringify({ contact_ids: Array.from({ length: 25 }, active) }),
  })
  await measureHeavy(raw, 'all events of a contact', {
    connections: 16,
    path: () => `/v1/contacts/events/${active()}`,
  })
}

async function measureHeavy(
  raw: Raw,
  what: string,
  requests: { connections: number; path: () => string; body?: () => string },
): Promise<void> {
  progress(what)
  const headers = { authorization: `Bearer ${raw.apiKey}` }
  const measured = await load({ url: URL_OF_SERVICE, seconds: SIZE.seconds, headers, ...requests })
  const limit = raw.queriesPerSecond[what] ?? 0
  rows.push({
    what,
    measured: perSecond(measured),
    limit: `${rate(limit)}/s bare query`,
    ratio: measured.requestsPerSecond / limit,
    // At most one and a half times what the engine alone takes.
    aim: '0.67',
  })
}
