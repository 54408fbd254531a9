import { load, pick, withKey } from './load.ts'
import { someContacts } from './people.ts'
import { POSTGRES_QUERIES } from './queries.ts'
import { repeat } from './repeat.ts'
import { latency, milliseconds, progress, report, reportRate } from './report.ts'
import type { Target } from './target.ts'

interface Read {
  /** The name of the bare queries. */
  what: string
  path: (target: Target) => string
  body?: (target: Target) => object
}

/** Reads of a single caller, and their maximum duration as a multiple of SELECT 1. */
const ONE_AT_A_TIME: (Read & { timesMax: number })[] = [
  {
    what: 'GET contact with its events',
    path: ({ population }) => `/v1/contacts/${pick(population.ordinary)}`,
    timesMax: 6,
  },
  { what: 'newest 20 events of the tenant', path: () => '/v1/events', timesMax: 6 },
  {
    what: 'newest 20 events of a contact',
    path: ({ population }) => `/v1/events?contact_id=${pick(population.ordinary)}`,
    timesMax: 6,
  },
  { what: 'one event', path: ({ raw }) => `/v1/events/${pick(raw.eventIds)}`, timesMax: 4 },
  { what: 'names of events', path: () => '/v1/events/types', timesMax: 5 },
  {
    what: 'all 1,000 events of a contact',
    path: ({ population }) => `/v1/contacts/events/${pick(population.busy)}`,
    timesMax: 30,
  },
  {
    what: 'activity of 25 contacts',
    path: () => '/v1/batch/activity',
    body: ({ population }) => ({ contact_ids: someContacts(population) }),
    timesMax: 30,
  },
  {
    what: 'contacts who did something',
    path: () => '/v1/contacts?has_event_type=video_play',
    timesMax: 40,
  },
]

const MANY_AT_ONCE: Read[] = [
  {
    what: 'GET contact without its events',
    path: ({ raw }) => `/v1/contacts/${pick(raw.contactIds)}?include_events=false`,
  },
  { what: 'list contacts', path: () => '/v1/contacts' },
  { what: 'search contacts', path: () => '/v1/contacts?search=person4321' },
  { what: 'list events', path: () => '/v1/events' },
  { what: 'events, url contains', path: () => '/v1/events?url_contains=page-1999' },
]
const MANY = 16

/** Sequential reads, compared with the cheapest ClickHouse query. */
export async function measureReads(target: Target): Promise<void> {
  const { raw, size } = target
  for (const { what, path, body, timesMax } of ONE_AT_A_TIME) {
    progress(what)
    const measured = await load({
      connections: 1,
      seconds: size.seconds,
      headers: withKey(raw.apiKey),
      next: () => ({ path: path(target), ...(body ? { body: JSON.stringify(body(target)) } : {}) }),
    })
    const bare = raw.byOne[what]?.p50Ms ?? 0
    report({
      what: `${what}, one at a time`,
      measured: latency(measured),
      limit: `p50 ${milliseconds(raw.selectOne.p50Ms)} SELECT 1; ${milliseconds(bare)} its bare queries`,
      ratio: measured.p50Ms / raw.selectOne.p50Ms,
      aim: `at most ${timesMax}`,
      cost: measured.p50Ms,
    })
  }
}

/** Concurrent reads, compared with the databases alone. */
export async function measureLists(target: Target): Promise<void> {
  const { raw, size, postgres } = target
  for (const { what, path } of MANY_AT_ONCE) {
    progress(what)
    const statements = POSTGRES_QUERIES.find(({ name }) => name === what)?.statements
    const bare = statements
      ? await repeat(MANY, size.seconds, async () => {
          const id = pick(raw.contactIds)
          const values = (text: string) => (text.includes('$2') ? [raw.tenantId, id] : [raw.tenantId])
          await Promise.all(statements.map((text) => postgres.query(text, values(text))))
        })
      : raw.byMany[what]
    if (!bare) throw new Error(`There are no bare queries of '${what}'.`)
    const headers = withKey(raw.apiKey)
    const measured = await load({
      connections: MANY,
      seconds: size.seconds,
      headers,
      next: () => ({ path: path(target) }),
    })
    reportRate(`${what}, ${MANY} connections`, measured, { ...bare, of: 'bare queries' }, '0.50')
  }
}
