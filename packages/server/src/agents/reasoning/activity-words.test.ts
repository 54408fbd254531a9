import { describe, expect, test } from 'vitest'
import { createTestTenant, sharedService } from '../../../test/service.ts'
import { activityWords } from './activity-words.ts'
import { type EventsSummary, NO_EVENTS, summarizeEvents } from './events-summary.ts'

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

const words = (events: EventsSummary, mail = NO_MAIL as Parameters<typeof activityWords>[0]['mail'], topic?: string) =>
  activityWords({ events, mail, topic }, 'Europe/Berlin', NOW)

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
    [NO_EVENTS, 'No visits recorded.'],
  ])('are sentences %#', (events, expected) => {
    expect(words(events)).toBe(`${expected} No email exchanged yet.`)
  })

  test('name the page that the playbook is about, and when the contact was last seen elsewhere', () => {
    const events = viewed({ path: '/blog', title: 'Blog', count: 9, last: '2026-11-19T09:00:00Z' }, {})
    expect(words(events, NO_MAIL, '/pricing')).toBe(
      'Viewed “Pricing” once, on Tuesday. Last seen yesterday. No email exchanged yet.',
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
    expect(words(NO_EVENTS, mail)).toBe(`No visits recorded. ${expected}`)
  })

  test('come from the events that were tracked', async () => {
    const service = await sharedService()
    const tenant = await createTestTenant(service)
    const contactId = await tenant.contact('ada@example.com', {}, { visitor_id: 'ada' })
    const url = `https://${tenant.site}/pricing`
    const view = { event: 'page_view', url, title: 'Pricing' }
    await tenant.track({
      visitor_id: 'ada',
      events: [view, { event: 'page_leave', url }, view, { event: 'form_submit', url }],
    })
    const events = (await summarizeEvents(tenant.handle, [contactId])).get(contactId) ?? NO_EVENTS
    expect(activityWords({ events, mail: NO_MAIL, topic: '/pricing' }, 'UTC', new Date())).toBe(
      'Viewed “Pricing” twice in the last 7 days, last today. Filled in a form today. No email exchanged yet.',
    )
  })
})
