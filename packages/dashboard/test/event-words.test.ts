import { expect, test } from 'vitest'
import { eventLabel } from '../src/ui/event-words.ts'

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
