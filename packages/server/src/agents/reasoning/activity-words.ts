import { SYSTEM_EVENTS } from '../../journal/event-record.ts'
import { DAY_MS } from '../../platform/time.ts'
import { type DayWords, sinceDay } from './day-words.ts'
import type { EventsSummary } from './events-summary.ts'

const FORMS: readonly string[] = ['form_submit', 'form_submission']
/** Events that trackers send by themselves, and those that only say who somebody is. */
const QUIET: readonly string[] = [
  'page_view',
  'page_leave',
  'first_visit',
  'link_click',
  'button_click',
  'screen_view',
  'video_play',
  'video_pause',
  'video_milestone',
  'video_complete',
  'identify',
  'group',
]
const COUNTS = ['never', 'once', 'twice', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']

const LENGTH_MAX = 80
/** Other pages that are named beside the most important one. */
const OTHER_PAGES = 2
/** Events that are named, such as `trial_started`, the latest first. */
const OTHER_EVENTS = 2

interface Activity {
  events: EventsSummary
  /** The number of different sessions; 0 if none was recorded. */
  visits: number
  /** Part of the path of the pages that matter most, such as `/pricing`. */
  topic: string | undefined
}

/**
 * What a colleague would say about what a contact did: what it viewed, whether it filled in a form, and whether it came
 * back. Every fact is from the data, and what is not known is left out. Empty if the contact never did anything.
 */
export function activityWords({ events, visits, topic }: Activity, day: DayWords, now: Date): string[] {
  const { first, last } = activeSpan(events)
  if (first === null || last === null) return []
  const page = events.pages.find(({ path }) => topic !== undefined && path.includes(topic)) ?? events.pages[0]
  const sentences: string[] = []
  if (page) {
    const others = events.pages.filter((other) => other !== page).slice(0, OTHER_PAGES)
    const also = others.length > 0 ? `; also ${others.map(nameOf).join(' and ')}` : ''
    sentences.push(`Viewed ${nameOf(page)} ${often(page, day, now)}${also}.`)
  }
  const forms = events.by_type.filter(({ event }) => FORMS.includes(event))
  for (const form of forms.slice(0, 1)) {
    sentences.push(
      form.count === 1 ? `Filled in a form ${day(form.last)}.` : `Filled in forms ${often(form, day, now)}.`,
    )
  }
  const others = events.by_type.filter(({ event }) => isTelling(event)).sort(byLast)
  for (const other of others.slice(0, OTHER_EVENTS)) {
    sentences.push(`${didWords(other.event)} ${often(other, day, now)}.`)
  }
  const told = [page, ...forms.slice(0, 1), ...others.slice(0, OTHER_EVENTS)].flatMap((each) =>
    each ? day(each.last) : [],
  )
  if (!told.includes(day(last))) sentences.push(`Last seen ${day(last)}.`)
  if (visits === 1) sentences.push('It was their first visit.')
  if (visits > 1) sentences.push(`${visits.toLocaleString('en')} visits, the first ${day(first)}.`)
  return sentences
}

/** When the contact itself first and last did something; events that the service records do not count. */
export function activeSpan({ by_type }: EventsSummary): { first: string | null; last: string | null } {
  const own = by_type.filter(({ event }) => !(SYSTEM_EVENTS as readonly string[]).includes(event))
  const last = own.map((type) => type.last).sort()
  return { first: own.map(({ first }) => first).sort()[0] ?? null, last: last.at(-1) ?? null }
}

/** Whether an event says something about a person that its page, its form or their visits do not say. */
function isTelling(event: string): boolean {
  return !FORMS.includes(event) && !QUIET.includes(event) && !(SYSTEM_EVENTS as readonly string[]).includes(event)
}

function didWords(event: string): string {
  if (event === 'video_conversion') return 'Left an email address in a video'
  return `Recorded: “${shortened(event.replaceAll('_', ' '))}”`
}

function byLast(one: { last: string }, other: { last: string }): number {
  return other.last.localeCompare(one.last)
}

/** "three times in the last 7 days, last on Tuesday" */
function often(
  { count, first, last }: { count: number; first: string; last: string },
  day: DayWords,
  now: Date,
): string {
  if (count === 1) return `once, ${day(last)}`
  const days = (now.getTime() - Date.parse(first)) / DAY_MS
  const period = [7, 30].find((most) => days <= most)
  const since = period === undefined ? `since ${sinceDay(day(first))}` : `in the last ${period} days`
  return `${timesOf(count)} ${since}, last ${day(last)}`
}

function timesOf(count: number): string {
  if (count <= 2) return COUNTS[count] ?? ''
  return `${COUNTS[count] ?? count.toLocaleString('en')} times`
}

/** The title of a page, which the visitor's browser sent; else its path. */
function nameOf({ title, path }: EventsSummary['pages'][number]): string {
  return `“${shortened(title ?? '') || shortened(path)}”`
}

/** A text that strangers may have chosen, on one line and not long. */
export function shortened(text: string): string {
  const characters = [...text.replace(/[\s\p{Cc}]+/gu, ' ').trim()]
  return characters.length > LENGTH_MAX ? `${characters.slice(0, LENGTH_MAX).join('')}…` : characters.join('')
}
