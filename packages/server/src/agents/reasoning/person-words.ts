import type { LastMail } from '../../conversations/last-mail.ts'
import { DAY_MS, HOUR_MS } from '../../platform/time.ts'
import { activityWords, shortened } from './activity-words.ts'
import type { ContactContext } from './context.ts'
import { type DayWords, daysIn, sinceDay } from './day-words.ts'
import type { PersonFacts } from './person-facts.ts'

/** A change that is older is no news. */
const NEWS_DAYS = 30

export interface Person {
  context: Pick<ContactContext, 'properties' | 'company' | 'events' | 'origin'>
  facts: PersonFacts
  mail: LastMail
  /** Part of the path of the pages that matter most, such as `/pricing`. */
  topic: string | undefined
}

/**
 * What a colleague would say about a person, what sets them apart first: what they did, what changed, where they work,
 * and when mail was last exchanged. Of a person who never did anything, what changed, who they are and how they came; that
 * nobody saw them is said only if there is nothing else to say. Every fact is from the data, and what is not known is left out.
 * @param timeZone of the days.
 */
export function personWords({ context, facts, mail, topic }: Person, timeZone: string, now: Date): string {
  const day = daysIn(timeZone, now)
  const isNews = (at: Date) => now.getTime() - at.getTime() <= NEWS_DAYS * DAY_MS
  const { stage, segment, visits } = facts
  const activity = activityWords({ events: context.events, visits, topic }, day, now)
  const work = workWords(context)
  const changes = [stage && isNews(stage.at) ? stageWords(stage, day) : '']
  const exchanged = mail.sentAt !== null || mail.receivedAt !== null
  if (segment && (activity.length === 0 || (isNews(segment.since) && hasEntered(segment)))) {
    changes.push(`In the segment “${shortened(segment.name)}” since ${sinceDay(day(segment.since))}.`)
  }
  const origin = originWords(context.origin, facts, day)
  // Only where nothing sets the person apart.
  const isUnknown = work === '' && !origin.says && !exchanged && !changes.some(Boolean)
  const who =
    activity.length > 0
      ? [...activity, ...changes, work]
      : [...changes, isUnknown ? 'No visits recorded.' : '', work, origin.words]
  return [...who, mailWords(mail, day)].filter(Boolean).join(' ')
}

/** A new segment has members from its beginning, which says nothing about them. */
function hasEntered({ since, createdAt }: NonNullable<PersonFacts['segment']>): boolean {
  return since.getTime() - createdAt.getTime() > HOUR_MS
}

/** "Head of numbers at Analytical Engines (aerospace)." */
function workWords({ properties, company }: Person['context']): string {
  const jobtitle = textOf(properties.jobtitle)
  const name = textOf(company?.name ?? properties.company)
  const industry = textOf(company?.properties.industry ?? properties.industry)
  if (name === '') return jobtitle === '' ? '' : `Works as ${jobtitle}.`
  const where = industry === '' ? name : `${name} (${industry})`
  return jobtitle === '' ? `Works at ${where}.` : `${jobtitle} at ${where}.`
}

/** How a person came who has no visits, and whether that says something about them. */
function originWords(
  { source, at }: ContactContext['origin'],
  { importFile }: PersonFacts,
  day: DayWords,
): { words: string; says: boolean } {
  if (source === 'import') {
    const what = importFile === null ? 'an import' : `the import “${shortened(importFile)}”`
    return { words: `Came with ${what} ${day(at)}.`, says: true }
  }
  if (source === 'form') return { words: `Came through a form ${day(at)}.`, says: true }
  const isNamed = !['manual', 'tracker', 'identify'].includes(source)
  return isNamed
    ? { words: `Came from ${shortened(source)} ${day(at)}.`, says: true }
    : { words: `In your contacts since ${sinceDay(day(at))}.`, says: false }
}

function stageWords({ from, to, at }: NonNullable<PersonFacts['stage']>, day: DayWords): string {
  if (to === null) return ''
  return from === null
    ? `Stage set to ${nameOf(to)} ${day(at)}.`
    : `Went from ${nameOf(from)} to ${nameOf(to)} ${day(at)}.`
}

/** Stages with three letters are abbreviations. */
function nameOf(stage: string): string {
  return stage.length === 3 ? stage.toUpperCase() : stage
}

function mailWords({ sentAt, receivedAt }: LastMail, day: DayWords): string {
  if (sentAt === null && receivedAt === null) return 'No email exchanged yet.'
  if (sentAt === null || (receivedAt !== null && receivedAt > sentAt))
    return `Last wrote to us ${day(receivedAt ?? '')}.`
  const reply = receivedAt === null ? 'no reply so far' : `their last reply was ${day(receivedAt)}`
  return `We last wrote ${day(sentAt)}; ${reply}.`
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? shortened(value) : ''
}
