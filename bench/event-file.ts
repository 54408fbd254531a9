import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { EMPTY_RECORD, type EventRecord } from '../packages/server/src/journal/event-record.ts'
import { newId } from '../packages/server/src/platform/ids.ts'

/* The events of the benchmark of `cdsctl import events`: about 500 bytes each, from 10,000 people, in the order of time. */

const PEOPLE = 10_000
const FIRST_MS = Date.UTC(2025, 0, 1)
const APART_MS = 20_000
const NAMES = ['page_view', 'button_click', 'order_paid']
const LINES_A_PART = 1_000

/** An event as a line of a file. */
export function eventOf(n: number) {
  return {
    event: NAMES[n % NAMES.length] ?? '',
    timestamp: new Date(FIRST_MS + n * APART_MS).toISOString(),
    user_id: `user-${(n * 7_919) % PEOPLE}`,
    url: `https://shop.example/products/${n % 500}?utm_source=news`,
    title: `Product ${n % 500}`,
    data: { order_id: `order ${n}`, amount: n % 997, currency: 'EUR', note: 'a note of the customer '.repeat(9) },
    context: { language: 'en-GB', timezone: 'Europe/Berlin', screen: '1920x1080' },
  }
}

/** The same event as it is stored. */
export function rowOf(tenantId: string, n: number): EventRecord {
  const { event, timestamp, url, title, data, context } = eventOf(n)
  return {
    ...EMPTY_RECORD,
    ...context,
    tenant_id: tenantId,
    event_id: newId(),
    event,
    timestamp: Date.parse(timestamp),
    received_at: Date.now(),
    owner_id: newId(),
    is_anonymous: false,
    url,
    url_path: new URL(url).pathname,
    domain: 'shop.example',
    title,
    data: JSON.stringify({ ...data, title }),
  }
}

export async function writeEvents(file: string, events: number): Promise<void> {
  const stream = createWriteStream(file)
  for (let from = 0; from < events; from += LINES_A_PART) {
    const count = Math.min(LINES_A_PART, events - from)
    const lines = Array.from({ length: count }, (_, index) => `${JSON.stringify(eventOf(from + index))}\n`)
    if (!stream.write(lines.join(''))) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'finish')
}
