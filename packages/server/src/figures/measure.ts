/** What a metric needs: `nothing`, the numbers of a field, or who sent the events. */
const NEEDS = {
  count: 'nothing',
  avg: 'numbers',
  sum: 'numbers',
  min: 'numbers',
  max: 'numbers',
  median: 'numbers',
  p90: 'numbers',
  unique_contacts: 'senders',
  unique_visitors: 'senders',
  unique_people: 'senders',
  unique_sessions: 'senders',
} as const

export type Metric = keyof typeof NEEDS
/** The metrics of events; other records have no senders. */
export const METRICS = Object.keys(NEEDS) as Metric[]
export const RECORD_METRICS = METRICS.filter((metric) => NEEDS[metric] !== 'senders')

export function needsNumbers(metric: Metric): boolean {
  return NEEDS[metric] === 'numbers'
}

/** The figure to compute for each group. */
export interface Measure {
  metric: Metric
  /** The property whose numbers are used; empty for metrics that need none. */
  field: string
  /** What is left out for a caller from whom personal values are hidden. */
  redaction?: {
    /** Groups of equal value are sorted by a hash of it and their key: the order of the keys would reveal hidden ones. */
    orderSecret: string
    /** Numbers of events, in digits, that are phone numbers of their contacts, whatever the field's name. */
    phoneNumbers: readonly string[]
  }
}
