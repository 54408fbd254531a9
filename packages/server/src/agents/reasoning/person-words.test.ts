import { describe, expect, test } from 'vitest'
import { type EventsSummary, NO_EVENTS } from './events-summary.ts'
import { NO_FACTS } from './person-facts.ts'
import { type Person, personWords } from './person-words.ts'

/** A Friday. */
const NOW = new Date('2026-11-20T12:00:00Z')
const NO_MAIL = { sentAt: null, receivedAt: null }

interface Viewed {
  path?: string
  title?: string | null
  count?: number
  first?: string
  last?: string
}

function viewed(...pages: Viewed[]): EventsSummary {
  const spans = pages.map(
    ({ path = '/pricing', title = 'Pricing', count = 1, last = '2026-11-17T09:00:00Z', first = last }) => {
      return { path, title, count, first, last }
    },
  )
  const total = spans.reduce((sum, { count }) => sum + count, 0)
  const last =
    spans
      .map((span) => span.last)
      .sort()
      .at(-1) ?? null
  const first = spans.map((span) => span.first).sort()[0] ?? null
  const types = [
    { event: 'page_leave', count: total, first: first ?? '', last: last ?? '' },
    { event: 'page_view', count: total, first: first ?? '', last: last ?? '' },
    { event: 'segment_entered', count: 1, first: NOW.toISOString(), last: NOW.toISOString() },
  ]
  return { total: 2 * total + 1, first, last: NOW.toISOString(), by_type: types, pages: spans, latest: [] }
}

const ORIGIN = { source: 'manual', at: new Date('2026-09-03T09:00:00Z') }

const words = (events: EventsSummary, mail: Person['mail'] = NO_MAIL, more: Partial<Person> = {}) => {
  const context = { properties: {}, company: null, events, origin: ORIGIN }
  return personWords({ context, facts: NO_FACTS, mail, topic: undefined, ...more }, 'Europe/Berlin', NOW)
}

describe('the facts about a contact', () => {
  test.each([
    [viewed({}), 'Viewed “Pricing” once, on Tuesday.'],
    [
      viewed({ count: 2, first: '2026-11-16T09:00:00Z' }),
      'Viewed “Pricing” twice in the last 7 days, last on Tuesday.',
    ],
    [
      viewed({ count: 3, first: '2026-10-30T09:00:00Z', last: '2026-11-19T09:00:00Z' }),
      'Viewed “Pricing” three times in the last 30 days, last yesterday.',
    ],
    [
      viewed({ count: 1_200, first: '2025-12-30T09:00:00Z', last: '2026-09-03T09:00:00Z' }),
      'Viewed “Pricing” 1,200 times since 30 December 2025, last on 3 September.',
    ],
    [viewed({ title: null }), 'Viewed “/pricing” once, on Tuesday.'],
    [viewed({ title: 'A\u0007\r\nB' }), 'Viewed “A B” once, on Tuesday.'],
    [viewed({ title: 'x'.repeat(200) }), `Viewed “${'x'.repeat(80)}…” once, on Tuesday.`],
    // Half past eleven in the evening in London is the next day in Berlin.
    [viewed({ last: '2026-11-19T23:30:00Z' }), 'Viewed “Pricing” once, today.'],
    [NO_EVENTS, 'No visits recorded. In your contacts since 3 September.'],
  ])('are sentences %#', (events, expected) => {
    expect(words(events)).toBe(`${expected} No email exchanged yet.`)
  })

  test('name the page that the playbook is about, and when the contact was last seen elsewhere', () => {
    const events = viewed({ path: '/blog', title: 'Blog', count: 9, last: '2026-11-19T09:00:00Z' }, {})
    expect(words(events, NO_MAIL, { topic: '/pricing' })).toBe(
      'Viewed “Pricing” once, on Tuesday; also “Blog”. Last seen yesterday. No email exchanged yet.',
    )
  })

  test.each([
    [{ sentAt: new Date('2026-09-03T09:00:00Z'), receivedAt: null }, 'We last wrote on 3 September; no reply so far.'],
    [
      { sentAt: new Date('2026-11-19T09:00:00Z'), receivedAt: new Date('2026-11-16T09:00:00Z') },
      'We last wrote yesterday; their last reply was on Monday.',
    ],
    [{ sentAt: null, receivedAt: new Date('2026-11-20T09:00:00Z') }, 'Last wrote to us today.'],
  ])('say who wrote last %#', (mail, expected) => {
    expect(words(viewed({}), mail)).toBe(`Viewed “Pricing” once, on Tuesday. ${expected}`)
  })

  test('say what sets a person apart first: what they did, or else who they are and how they came', () => {
    const at = new Date('2026-11-17T09:00:00Z')
    const createdAt = new Date('2026-11-01T09:00:00Z')
    const facts = {
      visits: 3,
      stage: { from: 'lead', to: 'mql', at },
      segment: { name: 'Trials', createdAt, since: at },
    }
    const properties = { jobtitle: 'Head of numbers', company: 'Engines' }
    const company = { company_id: 'c', name: 'Analytical Engines', domain: null, properties: { industry: 'Aerospace' } }
    const seen = { properties, company, events: viewed({}), origin: ORIGIN }
    expect(words(NO_EVENTS, NO_MAIL, { context: seen, facts: { ...facts, importFile: null } })).toBe(
      'Viewed “Pricing” once, on Tuesday. 3 visits, the first on Tuesday. Went from lead to MQL on Tuesday. In the segment “Trials” since Tuesday. Head of numbers at Analytical Engines (Aerospace). No email exchanged yet.',
    )
    // A member since the segment exists.
    const first = { ...facts.segment, createdAt: at }
    expect(
      words(NO_EVENTS, NO_MAIL, { context: seen, facts: { ...facts, segment: first, importFile: null } }),
    ).not.toContain('Trials')
    const silent = { ...seen, company: null, events: NO_EVENTS, origin: { source: 'import', at: ORIGIN.at } }
    const stage = { from: 'lead', to: 'mql', at: ORIGIN.at }
    const segment = { name: 'Trials', createdAt: ORIGIN.at, since: ORIGIN.at }
    expect(
      words(NO_EVENTS, NO_MAIL, { context: silent, facts: { visits: 0, stage, segment, importFile: 'leads.csv' } }),
    ).toBe(
      'In the segment “Trials” since 3 September. Head of numbers at Engines. Came with the import “leads.csv” on 3 September. No email exchanged yet.',
    )
  })

  test.each([
    ['form', 'Came through a form on 3 September.'],
    ['import', 'Came with an import on 3 September.'],
    ['hubspot', 'Came from hubspot on 3 September.'],
    ['identify', 'No visits recorded. In your contacts since 3 September.'],
  ])('of a person without visits that %s created', (source, expected) => {
    const context = { properties: {}, company: null, events: NO_EVENTS, origin: { ...ORIGIN, source } }
    expect(words(NO_EVENTS, NO_MAIL, { context })).toBe(`${expected} No email exchanged yet.`)
  })

  test('say that nobody saw a person only if nothing else can be said', () => {
    const at = new Date('2026-11-17T09:00:00Z')
    const nobody = { properties: {}, company: null, events: NO_EVENTS, origin: ORIGIN }
    const stage = { from: 'lead', to: 'mql', at }
    expect(words(NO_EVENTS, NO_MAIL, { context: nobody })).toMatch(/^No visits recorded/)
    for (const more of [
      { context: { ...nobody, properties: { jobtitle: 'Founder' } } },
      { context: nobody, facts: { ...NO_FACTS, stage } },
      { context: { ...nobody, origin: { ...ORIGIN, source: 'form' } } },
      { context: nobody, mail: { sentAt: at, receivedAt: null } },
    ]) {
      expect(words(NO_EVENTS, NO_MAIL, more)).not.toContain('No visits')
    }
    expect(words(NO_EVENTS, NO_MAIL, { context: nobody, facts: { ...NO_FACTS, stage } })).toBe(
      'Went from lead to MQL on Tuesday. In your contacts since 3 September. No email exchanged yet.',
    )
  })

  test('name the events that say more than a visit, the latest first', () => {
    const span = (event: string, count: number, last: string) => ({ event, count, first: last, last })
    const types = [
      span('page_view', 9, '2026-11-16T09:00:00Z'),
      span('trial_started', 1, '2026-11-17T09:00:00Z'),
      span('seat_added', 2, '2026-11-19T09:00:00Z'),
      span('login', 30, '2026-11-02T09:00:00Z'),
    ]
    const events = { ...NO_EVENTS, total: 42, by_type: types }
    expect(words(events)).toBe(
      'Recorded: “seat added” twice in the last 7 days, last yesterday. Recorded: “trial started” once, on Tuesday. No email exchanged yet.',
    )
  })
})
