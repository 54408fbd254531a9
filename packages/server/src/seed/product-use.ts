import type { EventRecord } from '../journal/event-record.ts'
import { newId } from '../platform/ids.ts'
import { DAY_MS } from '../platform/time.ts'
import { type SampleVisitor, toRecord } from './journeys.ts'
import type { Random } from './random.ts'

/** How many who used the product in a week use it in the next one too. */
const STAYING = 0.84
const VISITS_OF_WEEK_MAX = 3
const ACTIVATED_SHARE = 0.6
/** Who never makes anything seldom comes back. */
const STAYING_WITHOUT_PROJECT = 0.35
const PAYING_SHARE = 0.4
const PLANS = [
  ['team', 49],
  ['business', 199],
] as const

/** What somebody does with the product from when they signed up until now, visit by visit. */
export function sampleProductUse(
  random: Random,
  tenantId: string,
  site: string,
  visitor: SampleVisitor,
  { signedUpAt, now }: { signedUpAt: number; now: number },
): EventRecord[][] {
  const visits: EventRecord[][] = []
  const isActivated = random.chance(ACTIVATED_SHARE)
  const paysInWeek = isActivated && random.chance(PAYING_SHARE) ? random.integer(0, 2) : null
  const staying = isActivated ? STAYING : STAYING_WITHOUT_PROJECT
  for (let week = 0; week === 0 || random.chance(staying); week++) {
    const weekBegins = signedUpAt + week * 7 * DAY_MS
    if (weekBegins > now) break
    const times = Array.from({ length: random.integer(1, VISITS_OF_WEEK_MAX) }, () => random.integer(0, 7 * DAY_MS - 1))
    // The first visit follows the form at once.
    const starts = week === 0 ? [60_000, ...times] : times
    for (const [index, after] of starts.toSorted((one, other) => one - other).entries()) {
      visits.push(
        use(random, { tenantId, site, visitor, start: weekBegins + after }, (add) => {
          if (isActivated && week === 0 && index === 0) add('project_created', { template: random.pick(TEMPLATES) })
          if (isActivated) add('report_viewed', { report: random.pick(REPORTS) })
          if (isActivated && random.chance(0.08)) add('teammate_invited', { role: random.pick(['member', 'viewer']) })
          if (paysInWeek === week && index === starts.length - 1) {
            const [plan, amount] = random.pick(PLANS)
            add('subscription_started', { plan, amount, currency: 'EUR' })
          }
        }),
      )
    }
  }
  return visits
}

const TEMPLATES = ['blank', 'newsletter', 'onboarding']
const REPORTS = ['weekly', 'sources', 'accounts']

interface Visit {
  tenantId: string
  site: string
  visitor: SampleVisitor
  start: number
}

function use(
  random: Random,
  { tenantId, site, visitor, start }: Visit,
  act: (add: (event: string, data: Record<string, string | number>) => void) => void,
): EventRecord[] {
  const sessionId = newId()
  const url = `https://${site}/app`
  let at = start
  const events: EventRecord[] = []
  const add = (event: string, data: Record<string, string | number>) => {
    events.push(toRecord({ tenantId, visitor, sessionId, event, url, referrer: '', data, at }))
    at += random.integer(5, 120) * 1_000
  }
  add('page_view', { title: 'Your projects', path: '/app', load_time: random.integer(180, 900) })
  act(add)
  return events
}
