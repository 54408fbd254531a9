import { DAY_MS } from '../platform/time.ts'
import type { Random } from './random.ts'

/** What is special about the day of a visit. */
export interface Day {
  campaign: string
  /** Share of the visits that the campaign brings. */
  campaignShare: number
  /** Whether the button “Start free trial” leads anywhere. */
  canStartTrial: boolean
}

export const ORDINARY_DAY: Day = { campaign: 'digest', campaignShare: 0.05, canStartTrial: true }

const TUESDAY = 2
const LAUNCH_DAYS_AGO = 40
const CAMPAIGN_DAYS_AGO = 30
const CAMPAIGN_DAYS = 14
const FAULT_DAYS_AGO = 9
/** The launch is talked about for this long, each day half as much as the day before. */
const LAUNCH_DAYS = 4

/** What happened to the invented company lately, in UTC days, so that there is something to find in its figures. */
export interface Story {
  /** A moment at which somebody hears of the launch. */
  sampleLaunchVisit(random: Random): number
  on(timestamp: number): Day
  /** The day on which nobody could start a trial. */
  fault: Date
}

export function storyUntil(now: Date): Story {
  const launch = tuesdayBefore(now, LAUNCH_DAYS_AGO)
  const campaign = tuesdayBefore(now, CAMPAIGN_DAYS_AGO)
  const fault = tuesdayBefore(now, FAULT_DAYS_AGO)
  const isWithin = (timestamp: number, from: number, days: number) =>
    timestamp >= from && timestamp < from + days * DAY_MS
  return {
    sampleLaunchVisit(random) {
      let day = 0
      while (day < LAUNCH_DAYS - 1 && random.chance(0.5)) day++
      return launch + day * DAY_MS + random.integer(7 * 3_600_000, 22 * 3_600_000)
    },
    on: (timestamp) => ({
      ...(isWithin(timestamp, campaign, CAMPAIGN_DAYS) ? { campaign: 'autumn', campaignShare: 0.35 } : ORDINARY_DAY),
      canStartTrial: !isWithin(timestamp, fault, 1),
    }),
    fault: new Date(fault),
  }
}

/** The begin of the last Tuesday that is at least so many days ago. */
function tuesdayBefore(now: Date, days: number): number {
  const day = Math.floor(now.getTime() / DAY_MS) - days
  const weekday = new Date(day * DAY_MS).getUTCDay()
  return (day - ((weekday - TUESDAY + 7) % 7)) * DAY_MS
}
