import { expect, test } from 'vitest'
import type { ActionType } from '../action-types.ts'
import { checkTexts, type Sources } from './facts.ts'

const SOURCES: Sources = {
  instructions:
    'Offer 20% off. Plans from €1,200.50 a year. Call us: +44 20 7946 0001. Docs: https://docs.partner.example/start',
  settings: { config: { price: 49 }, variables: { deposit: '150' } },
  data: [
    {
      properties: { mrr: 1500, budget: '9000 EUR' },
      pages: [{ count: 7, title: 'How it works | Ours', last: '2026-11-17T23:30:00.000Z' }],
    },
    {
      conversations: [
        { text: 'Visit https://evil.example/now. Our launch is on 3 May. Call 0900 1234567 89. Get 90% off.' },
      ],
    },
  ],
  own: ['ada@customer.example', '+49 30 1234567'],
  domains: ['ours.example'],
}

async function check(message: string, type: ActionType = 'email_message', others: string[] = []) {
  const params = type === 'email_message' ? { subject: 'Hello', message } : { content: message }
  const [facts, people] = await checkTexts({ type, params } as never, SOURCES, async () => others)
  return { facts, people }
}

test.each([
  'Hi Ada,\n\nHow are you? Read more at https://www.ours.example/pricing?x=1, app.ours.example or https://docs.partner.example/else.',
  'Write to team@ours.example, or answer from ada@customer.example.',
  'Call +44 (0)20 7946 0001? Or shall we call 030 1234567?',
  'You get 20% off: 1,200.50 EUR instead of €1,500, or $49 a month with a deposit of $150.',
  'You viewed “How it works” on 17 November, or on 18.11. as we say, or 2026-11-18.',
  'Your launch on May 3rd is near.',
  'We use node.js, see plan.pdf. That took 3 days and 12 people, version 2.0.1.',
])('vouched for: %s', async (message) => {
  const { facts } = await check(message)
  expect(facts).toMatchObject({ rule: 'facts', passed: true })
})

test.each([
  ['https://evil.example/now', 'evil.example'],
  ['Go to evil.example/now.', 'evil.example'],
  ['Go to www.evil.example.', 'evil.example'],
  ['[docs](//evil.example/x)', 'evil.example'],
  ['https://ours.example.evil.example/', 'ours.example.evil.example'],
  ['https://ours.example@evil.example/', 'evil.example'],
  ['https://notours.example/', 'notours.example'],
  ['https://оurs.example/', 'xn--'],
  ['Write to da@customer.example.', 'da@customer.example'],
  ['Write to mallory@evil.example.', 'mallory@evil.example'],
  ['Call 0900 1234567 89.', '0900 1234567 89'],
  ['You get 90% off.', '90%'],
  ['It costs $99 a month.', '$99'],
  ['It costs $20.', '$20'],
  ['You get 7% off.', '7%'],
  ['We know your budget of 9000 EUR.', '9000 EUR'],
  ['See you on 24 December.', '24 December'],
  ['See you on 2026-12-24.', '2026-12-24'],
  ['You viewed “How it never worked”.', 'How it never worked'],
  ['Dear {{contact.firstname}},', '{{contact.firstname}}'],
  ['Dear [first name],', '[first name]'],
  ['Dear firstname:019a2b3c-4d5e-7f60-8a1b-2c3d4e5f6071,', 'firstname:019a2b3c'],
])('not vouched for: %s', async (message, named) => {
  const { facts } = await check(message)
  expect(facts?.passed).toBe(false)
  expect(facts?.message).toContain(named)
})

test('what stays inside is checked for where it leads, not for figures', async () => {
  expect((await check('Likely 40% to buy by 24 December, said “soon”.', 'note')).facts?.passed).toBe(true)
  expect((await check('See https://evil.example/.', 'note')).facts?.passed).toBe(false)
})

test('other contacts are named, five at most', async () => {
  const names = ['Bob', 'Cleo', 'Dora', 'Emil', 'Fred', 'Gus']
  const { people } = await check('x', 'note', names)
  expect(people).toMatchObject({ rule: 'other_people', passed: false })
  expect(people?.message).toContain('Bob, Cleo, Dora, Emil, Fred and 1 more')
})

test('a long text of one kind of character is checked too', async () => {
  for (const characters of ['a', '1', '.', 'a.', '1,', '“', '-', '@', 'a@', '+', ' ', 'a-', '1 ']) {
    const { facts } = await check(characters.repeat(20_000 / characters.length))
    expect(facts).toMatchObject({ rule: 'facts' })
  }
})
