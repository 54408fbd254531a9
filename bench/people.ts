/**
 * The owners of a tenant's events. A tenth belong to a few busy contacts with 1,000 each; two tenths to ordinary contacts
 * with 80 each; the others to anonymous visitors with 20 each. A contact has two visitors, and was identified halfway
 * through the time.
 */
import { hash } from 'node:crypto'
import { episodeId } from '../packages/server/src/journal/episodes.ts'
import { pick } from './load.ts'

export const EVENTS_A_SESSION = 10
/** Sessions come in blocks: one of a busy contact, two of ordinary ones, seven of anonymous visitors. */
const BLOCK = { sessions: 10, busy: 1, ordinary: 2, anonymous: 7 }
const VISITORS_A_CONTACT = 2
/** With fewer, a small tenant's identifications by 64 connections would end before their speed shows. */
const IDENTIFIED_MIN = 60_000
const SPAN_MS = 8 * 7 * 86_400_000

/** A visitor with events. */
export interface Visitor {
  number: number
  visitorId: string
  /** null: anonymous. */
  contactId: string | null
  /** Its anonymous episode. */
  episode: string
  /** Number of its earliest event. */
  firstEvent: number
}

export interface Population {
  /** Ids of contacts. */
  busy: string[]
  ordinary: string[]
  visitorsOfBusy: number
  visitorsOfOrdinary: number
  anonymousVisitors: number
  /** More anonymous visitors of a small tenant, to be identified: PostgreSQL knows how they began, but none has events. */
  spareVisitors: number
}

export function populationOf({ contacts, events }: { contacts: number; events: number }): Population {
  const busy = Math.max(1, Math.round(events / 10_000))
  const ordinary = Math.max(1, Math.round(events / 400))
  const apart = Math.floor(contacts / (busy + ordinary))
  const anonymousVisitors = Math.max(1, Math.round((events * BLOCK.anonymous) / 200))
  const ids = Array.from({ length: busy + ordinary }, (_, index) => contactIdOf(index * apart))
  return {
    busy: ids.slice(0, busy),
    ordinary: ids.slice(busy),
    visitorsOfBusy: busy * VISITORS_A_CONTACT,
    visitorsOfOrdinary: ordinary * VISITORS_A_CONTACT,
    anonymousVisitors,
    spareVisitors: Math.max(0, IDENTIFIED_MIN - anonymousVisitors),
  }
}

/** All visitors of a population: first those of busy contacts, then of ordinary ones, then the anonymous, then the spare. */
export function* visitorsOf(tenantId: string, population: Population): Generator<Visitor> {
  const { busy, ordinary, visitorsOfBusy, visitorsOfOrdinary, anonymousVisitors, spareVisitors } = population
  const known = visitorsOfBusy + visitorsOfOrdinary
  for (let number = 0; number < known + anonymousVisitors + spareVisitors; number++) {
    const visitorId = visitorIdOf(number)
    const contactId =
      number < visitorsOfBusy
        ? busy[number % busy.length]
        : number < known
          ? ordinary[(number - visitorsOfBusy) % ordinary.length]
          : undefined
    const like = number < known ? number : known + ((number - known) % anonymousVisitors)
    const firstEvent = firstSessionOf(like, population) * EVENTS_A_SESSION
    yield { number, visitorId, contactId: contactId ?? null, episode: episodeId(tenantId, visitorId, 0), firstEvent }
  }
}

/** The anonymous visitors, whom the benchmark identifies; the spare ones come last. */
export function anonymousVisitorIds(population: Population): string[] {
  const { visitorsOfBusy, visitorsOfOrdinary, anonymousVisitors, spareVisitors } = population
  const known = visitorsOfBusy + visitorsOfOrdinary
  return Array.from({ length: anonymousVisitors + spareVisitors }, (_, index) => visitorIdOf(known + index))
}

/** The contacts of an activity request: a few busy ones among ordinary ones. */
export function someContacts({ busy, ordinary }: Population): string[] {
  return Array.from({ length: 25 }, (_, index) => pick(index < 5 ? busy : ordinary))
}

/** The owners of each contact's events: itself, and the episodes of its visitors. */
export function ownersOfContacts(tenantId: string, population: Population): Map<string, string[]> {
  const owners = new Map<string, string[]>()
  for (const { contactId, episode } of visitorsOf(tenantId, population)) {
    if (contactId === null) break
    owners.set(contactId, [...(owners.get(contactId) ?? [contactId]), episode])
  }
  return owners
}

/** ClickHouse SQL: the visitor of event `n`. */
export function visitorNumberSql({ visitorsOfBusy, visitorsOfOrdinary, anonymousVisitors }: Population): string {
  const block = `intDiv(n, ${EVENTS_A_SESSION * BLOCK.sessions})`
  const place = `intDiv(n, ${EVENTS_A_SESSION}) % ${BLOCK.sessions}`
  const known = visitorsOfBusy + visitorsOfOrdinary
  return `toUInt32(multiIf(${place} < ${BLOCK.busy}, ${block} % ${visitorsOfBusy},
    ${place} < ${BLOCK.busy + BLOCK.ordinary},
      ${visitorsOfBusy} + (${block} * ${BLOCK.ordinary} + ${place} - ${BLOCK.busy}) % ${visitorsOfOrdinary},
    ${known} + (${block} * ${BLOCK.anonymous} + ${place} - ${BLOCK.busy + BLOCK.ordinary}) % ${anonymousVisitors}))`
}

/** When event `n` of `count` happened, in milliseconds since 1970. */
export function timeOf(n: number, count: number, end: Date): number {
  return end.getTime() - Math.floor((1 - n / count) * SPAN_MS)
}

/** The same as ClickHouse SQL. */
export function timeSql(count: number, end: Date): string {
  return `fromUnixTimestamp64Milli(toInt64(${end.getTime()} - floor((1 - n / ${count}) * ${SPAN_MS})), 'UTC')`
}

/** The page of event `n`, in JavaScript as in ClickHouse SQL. */
export const PAGE_SQL = 'n * 7919 % 2000'
export function pageUrlOf(n: number): string {
  return `https://bench.example/page-${(n * 7919) % 2000}?utm_source=s${n % 50}`
}

/** As generated by PostgreSQL: see bulk.ts. */
function contactIdOf(n: number): string {
  return hash('md5', `c${n}`).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function visitorIdOf(number: number): string {
  return `visitor-${number}`
}

function firstSessionOf(number: number, { visitorsOfBusy, visitorsOfOrdinary }: Population): number {
  const place = (index: number, ofBlock: number, before: number) =>
    Math.floor(index / ofBlock) * BLOCK.sessions + before + (index % ofBlock)
  if (number < visitorsOfBusy) return place(number, BLOCK.busy, 0)
  const ofOrdinary = number - visitorsOfBusy
  if (ofOrdinary < visitorsOfOrdinary) return place(ofOrdinary, BLOCK.ordinary, BLOCK.busy)
  return place(ofOrdinary - visitorsOfOrdinary, BLOCK.anonymous, BLOCK.busy + BLOCK.ordinary)
}
