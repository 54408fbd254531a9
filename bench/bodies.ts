import { randomUUID } from 'node:crypto'

const PAGES = ['/', '/pricing', '/product/events', '/docs/quickstart', '/blog/first-party-data', '/signup']

/** A body like a browser's: ids chosen by the sender, about 480 bytes per event. */
export function trackBody(site: string, events: number): string {
  const visitor = Math.floor(Math.random() * 20_000)
  const now = new Date().toISOString()
  const page = PAGES[visitor % PAGES.length]
  const list = Array.from(
    { length: events },
    (_, index) =>
      `{"event_id":"${eventId()}","event":"${index % 3 ? 'button_click' : 'page_view'}","timestamp":"${now}","url":"https://${site}${page}?utm_source=newsletter&utm_medium=email&utm_campaign=autumn-${visitor % 40}","title":"A page of the shop, number ${visitor % 500}","referrer":"https://www.google.com/search","data":{"text":"Start your free trial","class":"btn btn-primary btn-large","id":"start-trial-${index}","path":"${page}","load_time":${visitor % 2000},"position":${index}}}`,
  )
  return `{"visitor_id":"bench-visitor-${visitor}","session_id":"bench-session-${visitor}","sent_at":"${now}","context":{"screen":"1920x1080","language":"en"},"events":[${list.join(',')}]}`
}

/** The most users that have sent events; each is created by its first one. */
export const USERS = 5_000

/** A body like a server's: events of known users, with ids, about 250 bytes each. */
export function serverEvents(events: number): string {
  const now = new Date().toISOString()
  const list = Array.from({ length: events }, (_, index) => {
    const user = Math.floor(Math.random() * USERS)
    return `{"event":"${index % 3 ? 'item_viewed' : 'order_paid'}","event_id":"${randomUUID()}","user_id":"bench-user-${user}","timestamp":"${now}","data":{"order_id":"${user}-${index}","amount":${user % 500}.9,"currency":"EUR","coupon":"AUTUMN-${user % 40}","position":${index}}}`
  })
  return `{"events":[${list.join(',')}]}`
}

/** Like the tracker's: a UUIDv7, which contains its time. */
function eventId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Records like a CRM's, ordered by email: about half are of existing contacts. */
export function sourceRecords(contacts: number, count: number) {
  const numbers = new Set<number>()
  while (numbers.size < count) numbers.add(Math.floor(Math.random() * contacts * 2))
  const records = Array.from(numbers, (n) => ({
    external_id: `crm-${n}`,
    email: `person${n}@company${n % 5000}.example`,
    properties: {
      firstname: `First${n % 700}`,
      lastname: `Last${n % 9000}`,
      company: `Company ${n % 5000}`,
      jobtitle: 'Head of Growth',
      lifecyclestage: n % 3 ? 'lead' : 'customer',
      country: 'Germany',
      score: Math.floor(Math.random() * 100),
    },
  }))
  return records.sort((a, b) => (a.email < b.email ? -1 : 1))
}

/** The email of a person to identify, always a new one. */
export function newEmail(): string {
  return `${randomUUID()}@people.example`
}

const SDK_PEOPLE = 2_000
const SDK_CONTEXT =
  '{"library":{"name":"@segment/analytics-node","version":"3.1.0"},"locale":"en-US","timezone":"Europe/Berlin","page":{"url":"https://shop.example/checkout/thanks","referrer":"https://shop.example/checkout"}}'

/** Batches that create the people of `sdkBody`. */
export function sdkPeople(): string[] {
  const calls = Array.from(
    { length: SDK_PEOPLE },
    (_, n) => `{"type":"identify","userId":"sdk-${n}","traits":{"email":"sdk-${n}@people.example"}}`,
  )
  return Array.from(
    { length: SDK_PEOPLE / 500 },
    (_, n) => `{"batch":[${calls.slice(n * 500, n * 500 + 500).join(',')}]}`,
  )
}

/** A batch of track calls like those of Segment's SDK for servers, about 500 bytes each. */
export function sdkBody(count: number): string {
  const now = new Date().toISOString()
  const calls = Array.from(
    { length: count },
    (_, n) =>
      `{"type":"track","messageId":"node-next-${Date.now()}-${randomUUID()}","userId":"sdk-${Math.floor(Math.random() * SDK_PEOPLE)}","event":"${n % 3 ? 'Product Viewed' : 'Order Completed'}","timestamp":"${now}","properties":{"order_id":"${n}","total":${n * 1.5},"currency":"EUR","category":"Books","coupon":"AUTUMN"},"context":${SDK_CONTEXT},"integrations":{},"_metadata":{"nodeVersion":"24.0.0","jsRuntime":"node"}}`,
  )
  return `{"sentAt":"${now}","batch":[${calls.join(',')}]}`
}
