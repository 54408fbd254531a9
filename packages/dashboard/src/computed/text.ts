import type { ComputedProperty } from '../api/types.ts'
import { formatNumber } from '../ui/format.ts'

type ComputedFunction = NonNullable<ComputedProperty['function']>

const points = (value: number) => `${value > 0 ? '+' : value < 0 ? '−' : ''}${formatNumber(Math.abs(value))}`

/** The words of computed properties and scores. */
export const text = {
  points,
  list: {
    title: 'Computed properties',
    description:
      'Properties that the service computes from what people do, such as a lead score or the sum of their orders. They stay up to date by themselves.',
    create: 'Create a computed property',
    table: 'Computed properties',
    columns: { name: 'Property', entity: 'Of', computes: 'Value', state: 'State' },
    entities: { contacts: 'Contacts', companies: 'Companies' },
    filling: 'Being filled in',
    upToDate: 'Up to date',
    empty: 'No computed properties yet',
    emptyHint:
      'Create a lead score, or count, sum up or look up the events of each contact. Filters, segments, lists and agents can then use the value.',
  },
  words: {
    functions: {
      count: (event) => `Number of ${event} events`,
      sum: (event, property) => `Sum of ${property} of ${event}`,
      avg: (event, property) => `Average of ${property} of ${event}`,
      min: (event, property) => `Smallest ${property} of ${event}`,
      max: (event, property) => `Largest ${property} of ${event}`,
      distinct: (event, property) => `Number of different ${property} of ${event}`,
      first: (event, property) => `First ${property} of ${event}`,
      last: (event, property) => `Latest ${property} of ${event}`,
      most_frequent: (event, property) => `Most frequent ${property} of ${event}`,
    } satisfies Record<ComputedFunction, (event: string, property: string) => string>,
    where: (conditions: string) => `, where ${conditions}`,
    withinDays: (days: number) => (days === 1 ? ', in the last day' : `, in the last ${days} days`),
    score: (rules: number, least: number, most: number) =>
      `Score of ${rules === 1 ? '1 rule' : `${rules} rules`}, from ${points(least)} to ${points(most)}`,
  },
  form: {
    newTitle: 'Create a computed property',
    newDescription: 'Existing contacts or companies get their values in the background.',
    breadcrumb: 'Computed properties',
    label: 'Definition',
    kind: 'What it is',
    kinds: { score: 'Score', function: 'Figure from events' },
    entity: 'Of',
    name: 'Property',
    nameHint:
      'The key of the property, such as lead_score. No contact or company may have it yet, and it cannot be changed.',
    create: 'Create',
    save: 'Save',
    cancel: 'Cancel',
    notSaved: 'Could not save the computed property',
    saved: 'Saved. The values are being brought up to date.',
  },
  functionFields: {
    function: 'Figure',
    functions: {
      count: 'Number of events',
      sum: 'Sum',
      avg: 'Average',
      min: 'Smallest value',
      max: 'Largest value',
      distinct: 'Number of different values',
      first: 'First value',
      last: 'Latest value',
      most_frequent: 'Most frequent value',
    } satisfies Record<ComputedFunction, string>,
    event: 'Event',
    property: 'Property of the event',
    chooseEvent: 'Choose an event to set conditions on it.',
    withinDays: 'Only the last days',
    withinDaysHint: 'Empty: all events count.',
    withinDaysUnit: ' days',
  },
  scoreFields: {
    explanation: 'The score is the sum of the points of all rules that match. It is 0 if none does.',
    rule: (position: number) => `Rule ${position}`,
    points: 'Points',
    pointsHint: 'From −1,000 to 1,000.',
    add: 'Add a rule',
    remove: (position: number) => `Remove rule ${position}`,
  },
  property: {
    one: 'Computed property',
    remove: 'Delete',
    removeTitle: (name: string) => `Delete ${name}?`,
    removeHint: (entity: string) =>
      `Its value is removed from all ${entity} in the background. This cannot be undone; you can create the property again.`,
    usedBy: 'These use it and will no longer find a value:',
    looking: 'Looking for what uses it…',
    notUsed: 'No segment, agent or score uses it.',
    users: {
      segment: (name: string) => `Segment “${name}”`,
      agent: (name: string) => `Agent “${name}”`,
      score: (name: string) => `Score “${name}”`,
    },
    usersFailed: 'Could not find out what uses it.',
    readOnly: 'Only members and admins can change a computed property.',
  },
}
