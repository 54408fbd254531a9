import { trackBody } from './bodies.ts'
import { identificationOf } from './identification.ts'
import { load, pick, withKey } from './load.ts'
import { CROWD_SECONDS } from './options.ts'
import { latency, progress, rate, report } from './report.ts'
import type { Target } from './target.ts'

const TRACKERS = 64
const READERS = 8
const IDENTIFYING = 4
const EVENTS_A_REQUEST = 3

/**
 * Readers alone, then beside pages that send events and systems that identify visitors, all of one tenant. A response
 * that is not 2xx fails the row.
 */
export async function measureCrowd(target: Target): Promise<void> {
  const { raw, population, site } = target
  const paths = [
    () => '/v1/events',
    () => '/v1/contacts',
    () => `/v1/contacts/${pick(population.ordinary)}`,
    () => `/v1/events?contact_id=${pick(population.ordinary)}`,
  ]
  let count = 0
  const read = (seconds: number) =>
    load({
      connections: READERS,
      seconds,
      headers: withKey(raw.apiKey),
      next: () => ({ path: paths[count++ % paths.length]?.() ?? '' }),
    })
  progress(`${READERS} readers alone`)
  const alone = await read(Math.max(2, CROWD_SECONDS / 6))
  progress(`${READERS} readers, ${TRACKERS} trackers, ${IDENTIFYING} identifying`)
  const everybody = [
    read(CROWD_SECONDS),
    load({
      connections: TRACKERS,
      seconds: CROWD_SECONDS,
      headers: { origin: `https://${site}` },
      next: () => ({ path: '/track', body: trackBody(site, EVENTS_A_REQUEST) }),
    }),
    load({
      connections: IDENTIFYING,
      seconds: CROWD_SECONDS,
      headers: withKey(raw.apiKey),
      next: () => identificationOf(target.nextVisitor()),
    }),
  ] as const
  // All clients stop before the next row is measured.
  await Promise.allSettled(everybody)
  const [readers, tracked, identified] = await Promise.all(everybody)
  const others = `${rate(tracked.perSecond * EVENTS_A_REQUEST)} events/s tracked, ${rate(identified.perSecond)}/s identified`
  report({
    what: `${READERS} readers beside ${TRACKERS} trackers and ${IDENTIFYING} identifying, ${CROWD_SECONDS} s, no error`,
    measured: `${rate(readers.perSecond)}/s, ${latency(readers)}; ${others}`,
    limit: `${rate(alone.perSecond)}/s, ${latency(alone)} alone`,
    ratio: readers.p95Ms / alone.p95Ms,
    aim: 'at most 3 (p95)',
    cost: readers.p95Ms,
  })
}
