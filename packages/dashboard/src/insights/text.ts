import type { TrendSeries } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'

type Metric = NonNullable<TrendSeries['metric']>
type Unit = 'hour' | 'day' | 'week' | 'month'

const METRICS: { group: string; items: { value: Metric; label: string }[] }[] = [
  {
    group: 'Events',
    items: [
      { value: 'count', label: 'Number of events' },
      { value: 'per_person', label: 'Events per person' },
    ],
  },
  {
    group: 'Different',
    items: [
      { value: 'unique_people', label: 'People' },
      { value: 'unique_contacts', label: 'Contacts' },
      { value: 'unique_visitors', label: 'Visitors' },
      { value: 'unique_sessions', label: 'Visits' },
    ],
  },
  {
    group: 'A number in the events',
    items: [
      { value: 'sum', label: 'Sum' },
      { value: 'avg', label: 'Average' },
      { value: 'median', label: 'Median' },
      { value: 'p90', label: '90th percentile' },
      { value: 'min', label: 'Smallest' },
      { value: 'max', label: 'Largest' },
    ],
  },
]

/** The words of the insights. */
export const text = {
  title: 'Insights',
  description:
    'Questions about what people do. Each person counts once, across devices and the time before they were known.',
  kinds: { label: 'Kind of question', trend: 'Trend' },
  loading: 'Loading the answer',
  slow: 'Still counting. A question about many events can take a while.',
  noEvents: {
    title: 'No events yet',
    hint: 'Add the tracker to your website or send an event from your server. You can then ask about it here.',
    action: 'Connect a source',
  },
  empty: {
    title: 'Nothing in this range',
    hint: 'No event matches. Choose more days, another event or fewer conditions.',
  },
  tooLong: 'This question is too long to be kept in the address of the page. Remove a condition.',
  question: {
    label: 'Question',
    event: 'Event',
    eventOf: (name: string) => `Event of ${name}`,
    anyEvent: 'Any event',
    addCondition: 'Condition',
    unfinished: (count: number) =>
      count === 1 ? '1 condition is incomplete.' : `${formatNumber(count)} conditions are incomplete.`,
    everyEvent: 'Conditions on every event',
    bots: 'Include bots',
    compare: 'Compare with the period before',
  },
  range: {
    label: (range: string) => `Date range: ${range}`,
    last: (value: number, unit: Unit) => (value === 1 ? `This ${unit}` : `Last ${formatNumber(value)} ${unit}s`),
    since: (from: string) => `Since ${from}`,
    between: (from: string, to: string) => `${from} – ${to}`,
  },
  people: {
    of: (figure: string, what: string) => `${figure}. Show the people behind “${what}”`,
    loading: 'Loading the people',
    counted: (contacts: number, anonymous: number) =>
      `${contacts === 1 ? 'contact' : 'contacts'}${anonymous === 0 ? '' : `, and ${anonymous === 1 ? '1 anonymous visitor' : `${formatNumber(anonymous)} anonymous visitors`}`}`,
    contacts: 'Contacts behind this number',
    more: (count: number) => `and ${formatNumber(count)} more`,
    openList: 'Open as list',
    createSegment: 'Create segment',
    segment: 'Contacts belong to the segment while the number counts them. A range such as “last 30 days” moves on.',
  },
  trend: {
    series: 'Series',
    nameOf: (letter: string) => `Series ${letter}`,
    add: 'Add a series',
    remove: (letter: string) => `Remove series ${letter}`,
    metric: 'Figure',
    metricOf: (letter: string) => `Figure of series ${letter}`,
    property: 'of',
    propertyOf: (letter: string) => `Number of series ${letter}`,
    choose: (letter: string) => `Choose the number that series ${letter} is about.`,
    formula: 'Formula',
    formulaHint: 'One line from several series, such as B / A',
    breakdown: 'Break down by',
    breakdownAt: (position: number) => `Property ${position} to break down by`,
    addBreakdown: 'Property',
    removeBreakdown: (position: number) => `Remove property ${position}`,
    interval: 'Interval',
    intervals: { hour: 'By hour', day: 'By day', week: 'By week', month: 'By month' } satisfies Record<Unit, string>,
    metrics: METRICS,
    /** What a series counts, after the name of its events. */
    figures: {
      count: () => '',
      per_person: () => 'events per person',
      unique_people: () => 'people',
      unique_contacts: () => 'contacts',
      unique_visitors: () => 'visitors',
      unique_sessions: () => 'visits',
      sum: (property) => `sum of ${property}`,
      avg: (property) => `average ${property}`,
      median: (property) => `median ${property}`,
      p90: (property) => `90th percentile of ${property}`,
      min: (property) => `smallest ${property}`,
      max: (property) => `largest ${property}`,
    } satisfies Record<Metric, (property: string) => string>,
    named: (events: string, figure: string) => (figure === '' ? events : `${events}: ${figure}`),
    where: (events: string) => `${events} (conditions)`,
    within: (series: string, interval: string) => `${series}, ${interval}`,
    valueOf: (series: string, value: string) => `${series}, ${value}`,
    noValue: 'No value',
    others: 'All others',
    yes: 'Yes',
    no: 'No',
    heading: (interval: Unit) => `By ${interval}`,
    chart: (interval: Unit) => `Figures by ${interval}`,
    chartHint: 'Use the arrow keys to read the figures. The table has them all.',
    before: (series: string) => `${series}, the period before`,
    soFar: (interval: string) => `${interval}, so far`,
    at: (interval: string, figures: string) => `${interval}: ${figures}`,
    figure: (series: string, figure: string) => `${series}: ${figure}`,
    more: (count: number) => `and ${formatNumber(count)} more`,
    asTable: 'Show as table',
    asChart: 'Show as chart',
    totals: 'Totals',
    figuresTable: (interval: Unit) => `Figures by ${interval}, as a table`,
    interval1: { hour: 'Hour', day: 'Day', week: 'Week', month: 'Month' } satisfies Record<Unit, string>,
    total: 'Total',
    totalBefore: 'Before',
    change: 'Change',
    show: (series: string) => `Show ${series}`,
    download: 'CSV',
    downloadLabel: 'Download the figures as CSV',
    fileName: 'trend.csv',
  },
}
