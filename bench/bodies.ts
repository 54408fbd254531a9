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

/** Like the tracker's: a UUIDv7, which contains its time. */
function eventId(): string {
  const time = Date.now().toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}

/** Records like a CRM's, ordered by e-mail: about half are of existing contacts. */
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
