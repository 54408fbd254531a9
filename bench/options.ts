/** What a run measures, and with how much data. */
import { parseArgs } from 'node:util'

/** The data of a tenant, and the duration of each row. */
export interface Size {
  contacts: number
  events: number
  seconds: number
}

/** The groups of the run, in order. Contacts come late, because their writes are slower once segments are defined. */
export const GROUPS = [
  'start',
  'reads',
  'lists',
  'grouping',
  'insights',
  'track',
  'server-events',
  'sdks',
  'sources',
  'identify',
  'single',
  'crowd',
  'import',
  'contacts',
  'agents',
  'computed',
  'fairness',
  'connectors',
  'webhooks',
] as const
export type Group = (typeof GROUPS)[number]

const { values } = parseArgs({
  options: {
    /** Little data and short rows. */
    quick: { type: 'boolean' },
    /** In a quick run, also measures everything with a hundredth of the data. */
    growth: { type: 'boolean' },
    /** The same as `--only fairness`. */
    fairness: { type: 'boolean' },
    /** Groups, separated by commas. */
    only: { type: 'string' },
    contacts: { type: 'string' },
    events: { type: 'string' },
    seconds: { type: 'string' },
  },
})

const usual = values.quick
  ? { contacts: 20_000, events: 500_000, seconds: 2 }
  : { contacts: 1_000_000, events: 10_000_000, seconds: 8 }

export const IS_QUICK = values.quick ?? false
export const SIZE: Size = {
  contacts: Number(values.contacts ?? usual.contacts),
  events: Number(values.events ?? usual.events),
  seconds: Number(values.seconds ?? usual.seconds),
}

/** The tenant that growth is compared with; a quick run has none unless requested. */
export const SMALL_SIZE: Size | null =
  IS_QUICK && !values.growth
    ? null
    : {
        contacts: Math.max(1_000, SIZE.contacts / 100),
        events: Math.max(20_000, SIZE.events / 100),
        seconds: Math.min(3, SIZE.seconds),
      }

/** The duration of the crowd row. */
export const CROWD_SECONDS = IS_QUICK ? 10 : 60

/** @throws Error for an unknown group. */
export function chosenGroups(): readonly Group[] {
  const names = values.fairness ? ['fairness'] : (values.only?.split(',') ?? GROUPS)
  const unknown = names.filter((name) => !GROUPS.includes(name as Group))
  if (unknown.length > 0) throw new Error(`There is no group ${unknown.join(', ')}. Choose from ${GROUPS.join(', ')}.`)
  return GROUPS.filter((group) => names.includes(group))
}
