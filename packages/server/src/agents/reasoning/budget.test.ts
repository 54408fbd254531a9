import { describe, expect, test } from 'vitest'
import type { ConversationObject } from '../../conversations/conversation-object.ts'
import { estimateTokens, fitIntoBudget } from './budget.ts'
import type { ContactContext } from './context.ts'
import { NO_LESSONS } from './decisions.ts'

const AT = '2026-01-31T08:00:00.000Z'
const span = { count: 3, first: AT, last: AT }
const LONG = 'x'.repeat(400)

const CONTEXT: ContactContext = {
  contactId: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071',
  summary: 'Ada Lovelace | Founder',
  properties: {
    email: 'ada@example.com',
    firstname: 'Ada',
    ...Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`key${index}`, LONG])),
  },
  origin: { source: 'manual', at: new Date(AT) },
  consent: null,
  company: {
    company_id: '019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6072',
    name: 'Engines',
    domain: 'engines.example',
    properties: { about: LONG },
  },
  events: {
    total: 500,
    first: AT,
    last: AT,
    by_type: Array.from({ length: 20 }, (_, index) => ({ event: `event ${index}`, ...span })),
    pages: Array.from({ length: 10 }, (_, index) => ({ path: `/${index}`, title: LONG, ...span })),
    latest: Array.from({ length: 20 }, () => ({ event: 'page_view', timestamp: AT, url: LONG, title: LONG })),
  },
  unified_profile: { sources: ['manual'], conflicts: { city: [{ value: LONG, sources: ['crm'] }] } },
  recent_actions: [
    {
      ...{ type: 'note', status: 'executed', at: AT, executed_at: AT, agent: 'Writer', subject: null, text: 'Seen.' },
      ...{ text_before_edit: null, decided_by: 'agent', reason: null, replied_at: null },
    },
  ],
  notes: [{ content: LONG, at: AT }],
}
const participant = { address: 'ada@example.com', name: null }
const CONVERSATIONS: ConversationObject[] = Array.from({ length: 5 }, (_, index) => ({
  thread_id: CONTEXT.contactId,
  channel: 'email',
  source: 'email',
  subject: `Thread ${index}`,
  participants: [participant],
  message_count: 3,
  last_message_at: AT,
  messages: Array.from({ length: 3 }, () => ({
    message_id: 'm',
    direction: 'inbound' as const,
    from: participant,
    to: [],
    cc: [],
    sent_at: AT,
    text: 'y'.repeat(5_000),
    attachments: [],
  })),
}))

describe('the data of a prompt', () => {
  test.each([[12_000], [6_000], [3_000], [1_500], [800]])('fits into %i tokens', (tokens) => {
    const data = fitIntoBudget(CONTEXT, CONVERSATIONS, NO_LESSONS, tokens)
    expect(estimateTokens(JSON.stringify(data))).toBeLessThanOrEqual(tokens)
    expect(data.contact.properties).toMatchObject({ email: 'ada@example.com', firstname: 'Ada' })
    expect(data.events.total).toBe(500)
  })

  test('drops the least important data first, and is deterministic', () => {
    const data = fitIntoBudget(CONTEXT, CONVERSATIONS, NO_LESSONS, 20_000)
    expect(data.unified_profile.conflicts).toEqual({})
    expect(data.events.by_type).toHaveLength(20)
    expect(Object.keys(data.contact.properties)).toHaveLength(100)
    expect(fitIntoBudget(CONTEXT, CONVERSATIONS, NO_LESSONS, 20_000)).toEqual(data)
    expect(CONTEXT.events.latest).toHaveLength(20)
    expect(CONTEXT.unified_profile.conflicts).toHaveProperty('city')
  })

  test('includes a short history completely', () => {
    const short = {
      ...CONTEXT,
      properties: { email: 'ada@example.com' },
      events: { ...CONTEXT.events, pages: [], latest: [] },
    }
    const data = fitIntoBudget(short, [])
    expect(data.unified_profile).toEqual(short.unified_profile)
    expect(data.notes).toEqual(short.notes)
    expect(data.recent_actions).toEqual(short.recent_actions)
  })

  test('does not split a character', () => {
    const data = fitIntoBudget({ ...CONTEXT, summary: '🎉'.repeat(400) }, [])
    expect(data.contact.summary.isWellFormed()).toBe(true)
  })
})
