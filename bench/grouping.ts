import { load, type Requests, URL_OF_SERVICE, withKey } from './load.ts'
import { GROUPINGS, SUMMED_UP } from './queries.ts'
import { repeat } from './repeat.ts'
import { latency, milliseconds, progress, report, reportRate } from './report.ts'
import type { Target } from './target.ts'

/** Each reads all events of the tenant, so a few at a time fill the machine. */
const CONNECTIONS = 4
const DAY_MS = 86_400_000
const AGGREGATE = /^aggregate events by (.+)$/

/** Aggregation and statistics: several at once, and one at a time where sums could be stored. */
export async function measureGrouping(target: Target): Promise<void> {
  const { raw, size } = target
  for (const { name } of GROUPINGS) {
    progress(name)
    const request = requestOf(name)
    const headers = withKey(raw.apiKey)
    const measured = await load({ connections: CONNECTIONS, seconds: size.seconds, headers, next: () => request })
    const bare = raw.byMany[name]
    // At most one and a half times as long as the engine alone.
    if (bare) reportRate(`${name}, ${CONNECTIONS} connections`, measured, { ...bare, of: 'bare queries' }, '0.67')
  }
  const cookie = await signIn(target)
  for (const { name } of SUMMED_UP) {
    progress(`${name}, one at a time`)
    const isDashboard = name.startsWith('home page')
    const measured = await load({
      connections: 1,
      seconds: size.seconds,
      headers: isDashboard ? { cookie } : withKey(raw.apiKey),
      next: () => (isDashboard ? { path: overviewAnew() } : requestOf(name)),
    })
    const bare = raw.byOne[name]?.p50Ms ?? 0
    report({
      what: `${name}, one at a time`,
      measured: latency(measured),
      limit: `p50 ${milliseconds(bare)} bare grouping`,
      ratio: measured.p50Ms / bare,
      aim: 'at most 0.10',
      cost: measured.p50Ms,
    })
  }
  await measureHome(target, cookie)
}

let ranges = 0

/** Another range each time, because some figures of a range are kept for a minute. */
function overviewAnew(): string {
  const from = new Date(Math.floor(Date.now() / DAY_MS - 27) * DAY_MS + ranges++)
  return `/v1/overview?from=${from.toISOString()}`
}

/** What a browser sends for the home page; whether a question can be asked, only once the figures are there. */
async function measureHome({ size }: Target, cookie: string): Promise<void> {
  const read = async (path: string) => {
    const response = await fetch(URL_OF_SERVICE + path, { headers: { cookie } })
    if (!response.ok) throw new Error(`${response.status} ${path}: ${await response.text()}`)
    await response.arrayBuffer()
  }
  const pageWith = async (overview: string) => {
    await Promise.all(['/v1/tracker', overview, '/v1/events?limit=60', '/v1/approvals?limit=1'].map(read))
    await read('/v1/ask')
  }
  for (const [what, overview] of [
    ['home page, all its requests, at first', overviewAnew],
    ['home page, all its requests, again within a minute', () => '/v1/overview'],
  ] as const) {
    progress(what)
    const measured = await repeat(1, size.seconds, () => pageWith(overview()))
    report({ what, measured: latency(measured), limit: '', ratio: null, aim: 'p50 300 ms', cost: measured.p50Ms })
  }
}

function requestOf(name: string): ReturnType<Requests['next']> {
  const group_by = AGGREGATE.exec(name)?.[1]
  const asks = GROUPINGS.find((row) => row.name === name)?.asks ?? (group_by === undefined ? null : { group_by })
  if (asks === null) return { path: '/v1/events/stats' }
  return { path: '/v1/aggregate', body: JSON.stringify({ entity: 'events', ...asks }) }
}

/** @returns the cookies of a person who is signed in to the dashboard. */
async function signIn({ raw }: Target): Promise<string> {
  const response = await fetch(`${URL_OF_SERVICE}/api/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: URL_OF_SERVICE, 'x-requested-by': 'dashboard' },
    body: JSON.stringify(raw.person),
  })
  if (!response.ok) throw new Error(`Signing in returned ${response.status}: ${await response.text()}`)
  return response.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ')
}
