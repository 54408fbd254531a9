import { expect, test } from 'vitest'
import { eventLabel, eventLine } from '../src/ui/event-words.ts'

test.each([
  ['order_paid', 'Order paid'],
  ['order.paid', 'Order paid'],
  ['orderPaid', 'Order paid'],
  ['BOOKING_CREATED', 'Booking created'],
  ['downloaded_PDF', 'Downloaded PDF'],
  ['checkout:step-2', 'Checkout step 2'],
  ['Order Completed', 'Order Completed'],
  ['Покупка_завершена', 'Покупка завершена'],
  ['購入', '購入'],
  ['__', '__'],
  ['page_view', 'Viewed a page'],
  ['<b>bold</b>', '<b>bold</b>'],
  ['constructor', 'Constructor'],
])('the event %j is called %j', (name, label) => expect(eventLabel(name)).toBe(label))

const DEAL = { deal_name: 'Acme rollout', amount: 12_000, currency: 'EUR' }

test.each([
  ['deal_created', DEAL, 'Deal “Acme rollout” created, worth 12,000 EUR'],
  ['deal_stage_changed', { ...DEAL, stage: 'Offer' }, 'Deal “Acme rollout” moved to “Offer”'],
  [
    'deal_stage_changed',
    { ...DEAL, stage: 'Offer', previous_stage: 'Demo' },
    'Deal “Acme rollout” moved from “Demo” to “Offer”',
  ],
  ['deal_won', DEAL, 'Won the deal “Acme rollout” for 12,000 EUR'],
  ['deal_won', { deal_name: 'Acme rollout' }, 'Won the deal “Acme rollout”'],
  ['deal_lost', DEAL, 'Lost the deal “Acme rollout”, worth 12,000 EUR'],
  ['deal_lost', { amount: 5 }, 'Deal lost'],
])('the event %s with %o is the line %j', (event, data, line) =>
  expect(eventLine({ event, url: null, data })).toBe(line),
)
