import type { LastMail } from '../../conversations/last-mail.ts'
import { SYSTEM_EVENTS } from '../../journal/event-record.ts'
import { DAY_MS } from '../../platform/time.ts'
import type { EventsSummary } from './events-summary.ts'

const TITLE_LENGTH_MAX = 80
const FORMS: readonly string[] = ['form_submit', 'form_submission']
const COUNTS = ['never', 'once', 'twice', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

interface Activity {
  events: EventsSummary
  mail: LastMail
  /** Part of the path of the pages that matter most, such as `/pricing`. */
  topic: string | undefined
}

/**
 * What a colleague would say about a contact: what it viewed, whether it filled in a form, and when mail was last
 * exchanged. Every fact is from the data, and what is not known is left out.
 * @param timeZone of the days.
 */
export function activityWords({ events, mail, topic }: Activity, timeZone: string, now: Date): string {
  const day = daysIn(timeZone, now)
  const page = events.pages.find(({ path }) => topic !== undefined && path.includes(topic)) ?? events.pages[0]
  const sentences: string[] = []
  if (page) sentences.push(`Viewed ${nameOf(page)} ${often(page, day, now)}.`)
  const forms = events.by_type.filter(({ event }) => FORMS.includes(event))
  for (const form of forms.slice(0, 1)) {
    sentences.push(
      form.count === 1 ? `Filled in a form ${day(form.last)}.` : `Filled in forms ${often(form, day, now)}.`,
    )
  }
  const { last } = activeSpan(events)
  if (last === null) sentences.push('No visits recorded.')
  else if (page === undefined || day(last) !== day(page.last)) sentences.push(`Last seen ${day(last)}.`)
  sentences.push(mailWords(mail, day))
  return sentences.join(' ')
}

/** When the contact itself first and last did something; events that the service records do not count. */
export function activeSpan({ by_type }: EventsSummary): { first: string | null; last: string | null } {
  const own = by_type.filter(({ event }) => !(SYSTEM_EVENTS as readonly string[]).includes(event))
  const last = own.map((type) => type.last).sort()
  return { first: own.map(({ first }) => first).sort()[0] ?? null, last: last.at(-1) ?? null }
}

type DayWords = (at: string | Date) => string

/** "three times in the last 7 days, last on Tuesday" */
function often(
  { count, first, last }: { count: number; first: string; last: string },
  day: DayWords,
  now: Date,
): string {
  if (count === 1) return `once, ${day(last)}`
  const days = (now.getTime() - Date.parse(first)) / DAY_MS
  const period = [7, 30].find((most) => days <= most)
  const since = period === undefined ? `since ${day(first).replace(/^on /, '')}` : `in the last ${period} days`
  return `${timesOf(count)} ${since}, last ${day(last)}`
}

function timesOf(count: number): string {
  if (count <= 2) return COUNTS[count] ?? ''
  return `${COUNTS[count] ?? count.toLocaleString('en')} times`
}

function mailWords({ sentAt, receivedAt }: LastMail, day: DayWords): string {
  if (sentAt === null && receivedAt === null) return 'No email exchanged yet.'
  if (sentAt === null || (receivedAt !== null && receivedAt > sentAt))
    return `Last wrote to us ${day(receivedAt ?? '')}.`
  const reply = receivedAt === null ? 'no reply so far' : `their last reply was ${day(receivedAt)}`
  return `We last wrote ${day(sentAt)}; ${reply}.`
}

/** A day as people say it: "today", "yesterday", "on Tuesday", "on 3 September", "on 3 September 2025". */
function daysIn(timeZone: string, now: Date): DayWords {
  const date = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  const weekday = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long' })
  const short = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long' })
  const long = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long', year: 'numeric' })
  const dayOf = (at: Date) => Date.parse(date.format(at)) / DAY_MS
  return (moment) => {
    const at = new Date(moment)
    const ago = dayOf(now) - dayOf(at)
    if (ago <= 0) return 'today'
    if (ago === 1) return 'yesterday'
    if (ago < 7) return `on ${weekday.format(at)}`
    return `on ${(date.format(at).slice(0, 4) === date.format(now).slice(0, 4) ? short : long).format(at)}`
  }
}

/** A page's title, which a visitor's browser sent, on one line and shortened; else its path. */
function nameOf({ title, path }: EventsSummary['pages'][number]): string {
  const name = (title ?? path).replace(/[\s\p{Cc}]+/gu, ' ').trim() || path
  const characters = [...name]
  return `“${characters.length > TITLE_LENGTH_MAX ? `${characters.slice(0, TITLE_LENGTH_MAX).join('')}…` : name}”`
}
