import { type RawBuilder, type SqlBool, sql } from 'kysely'
import {
  type EventQuestion,
  eventsOf,
  type InsightMatch,
  isInsight,
  keyOf,
  type OwnQuestion,
} from '../conditions/language.ts'
import { compileFilter } from '../conditions/to-postgres.ts'
import { copyContacts } from '../contact-sets/copy.ts'
import { isContact } from '../contacts/columns.ts'
import { idLines } from '../contacts/matching.ts'
import { ALL_CONTACTS, type ContactRange, type ContactSet, isLast, rangesOfContacts } from '../contacts/ranges.ts'
import { conditionsOf, type EventConditions } from '../events/conditions.ts'
import type { InsightServices, QuestionContext } from '../insights/question.ts'
import { NOBODY } from '../journal/event-record.ts'
import { queryableGroups } from '../owners/owners.ts'
import { IS_IDENTIFIED } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { refusalCode } from '../platform/clickhouse/refusal.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import type { Tenant } from '../platform/tenant.ts'
import { contextFor, parseContactFilter, zoneOf } from './contact-filters.ts'
import { contactSetMeeting } from './contact-set.ts'
import { compileEventFilter } from './event-filter.ts'
import { compileQuestion } from './event-questions.ts'
import { contactsBehind } from './insight-people.ts'
import { requireKnownSegments } from './named-segments.ts'

/** Placeholders are sent in the URL of a request to ClickHouse, whose length is limited. */
const CHARACTERS_PER_QUERY = 20_000

/** How many contacts a number of an insight may count where they are listed. */
const INSIGHT_CONTACTS_MAX = 250_000

/** Contacts whose conditions on events are asked at once: who meets them is in memory, about 20 MB. */
const CONTACTS_PER_RANGE = 200_000

/** A caller's bound on time or on the number of results was exceeded. */
export class BeyondBounds extends Error {}

/** ClickHouse's error codes for a query that exceeded its time or memory limit. */
const EXCEEDED = [159, 160, 241, 307]

/** Whether event conditions exceeded the caller's bounds. */
export function isBeyondBounds(error: unknown): boolean {
  return error instanceof BeyondBounds || EXCEEDED.includes(refusalCode(error) ?? 0)
}

/** For each event condition, the contacts or companies that meet it. */
export class EventResults {
  readonly #ids = new Map<string, string[]>()
  readonly #isOneOf: (ids: readonly string[]) => RawBuilder<SqlBool>

  /** @param isOneOf the condition that a record has one of some ids */
  constructor(isOneOf: (ids: readonly string[]) => RawBuilder<SqlBool> = isContact) {
    this.#isOneOf = isOneOf
  }

  add(match: EventQuestion, ids: readonly string[]): void {
    const key = keyOf(match)
    this.#ids.set(key, [...(this.#ids.get(key) ?? []), ...ids])
  }

  /** Each of some contacts with the keys of the event conditions that it meets. */
  pairs(of: readonly string[]): { contactIds: string[]; keys: string[] } {
    const wanted = new Set(of)
    const pairs = [...this.#ids].flatMap(([key, contactIds]) =>
      contactIds.filter((contactId) => wanted.has(contactId)).map((contactId) => ({ key, contactId })),
    )
    return { contactIds: pairs.map(({ contactId }) => contactId), keys: pairs.map(({ key }) => key) }
  }

  /** The condition that a record is among those that meet an event condition. */
  hasEvents(match: EventQuestion): RawBuilder<SqlBool> {
    const ids = this.#ids.get(keyOf(match))
    if (ids === undefined) throw new Error('A filter has an event condition that was not queried.')
    return ids.length === 0 ? sql`false` : this.#isOneOf(ids)
  }
}

/**
 * Queries ClickHouse for all event conditions of some contacts. A contact has its own events and those of its visitors'
 * anonymous episodes; system events count only if a condition names one.
 * @throws BeyondBounds if a limit is given and reached.
 */
export async function queryEvents(
  tenant: Tenant,
  matches: readonly EventQuestion[],
  contactSet: ContactSet,
  now: Date,
  bounds: Pick<EventSelect, 'limit' | 'secondsMax'> = {},
): Promise<EventResults> {
  const results = new EventResults()
  const { limit, ...others } = bounds
  for (const some of await queryableSets(tenant, contactSet)) {
    for (const group of inGroups(matches.filter(isOwn))) {
      const query = { ...(await buildQuery(tenant, group, some, now, limit)), ...others }
      const rows = await tenant.events.select<ConditionResult>(query)
      if (rows.length === limit) throw new BeyondBounds()
      for (const [index, match] of group.entries()) {
        results.add(
          match,
          rows.filter(({ hits }) => hits[index] === '1').map((row) => row.contact_id),
        )
      }
    }
  }
  for (const match of matches.filter(isInsight)) {
    results.add(match, await idsBehind(tenant, match, contactSet, now, others.secondsMax))
  }
  return results
}

/** What a number counts depends on the events of all contacts, so it is asked once for all. */
async function idsBehind(
  tenant: Tenant,
  match: InsightMatch,
  contactSet: ContactSet,
  now: Date,
  secondsMax: number | undefined,
): Promise<string[]> {
  const isList = 'contactIds' in contactSet
  const range = isList ? ALL_CONTACTS : contactSet
  const query = await contactsBehind(backgroundContext(tenant, now, match), match, range, INSIGHT_CONTACTS_MAX + 1)
  const bounds = secondsMax === undefined ? {} : { secondsMax }
  const rows = await tenant.events.select<{ contact_id: string }>({ ...query, ...bounds })
  if (rows.length > INSIGHT_CONTACTS_MAX) throw new BeyondBounds()
  const wanted = isList ? new Set(contactSet.contactIds) : null
  return rows.flatMap(({ contact_id }) => (wanted === null || wanted.has(contact_id) ? [contact_id] : []))
}

/** What insights need of segments. */
export const INSIGHT_SERVICES: InsightServices = { compileEventFilter, copyPeople }

/** Asks a question where who asks has already been checked: a filter needs the scopes of contacts and of events. */
export function backgroundContext(tenant: Tenant, now: Date, match?: InsightMatch): QuestionContext {
  const visibleOnly = match?.visible_only === true
  return { tenant, now, ...INSIGHT_SERVICES, visibleOnly, requireScope: () => {}, warn: () => {} }
}

/** The `people` of a question: see `InsightServices`. */
export async function copyPeople(
  tenant: Tenant,
  sent: unknown,
  { now, visibleOnly, requireScope }: Pick<QuestionContext, 'now' | 'visibleOnly' | 'requireScope'>,
): Promise<string> {
  requireScope('contacts:read')
  const filter = parseContactFilter(sent, { path: 'people', visibleOnly })
  await requireKnownSegments(tenant, filter)
  const context = await contextFor(tenant, filter, now)
  const questions = eventsOf(filter)
  if (questions.length === 0) {
    return contactSetMeeting(tenant, compileFilter(filter, { ...context, hasEvents: () => sql`false` }))
  }
  return copyContacts(tenant, rangesOfContacts(tenant, CONTACTS_PER_RANGE), async (range) => {
    const results = await queryEvents(tenant, questions, range, now)
    const isMet = compileFilter(filter, { ...context, hasEvents: (question) => results.hasEvents(question) })
    return idLines(tenant, range, isMet)
  })
}

async function queryableSets(tenant: Tenant, contactSet: ContactSet): Promise<ContactSet[]> {
  if (!('contactIds' in contactSet)) return [contactSet]
  return (await queryableGroups(tenant, contactSet.contactIds)).map((contactIds) => ({ contactIds }))
}

/** A contact, and for each condition in order, `1` if it is met, else `0`. */
export interface ConditionResult {
  contact_id: string
  hits: string
}

/**
 * Queries event conditions for a range of contacts, in pages sorted by id. Contacts that meet none are omitted.
 * @param group one of `inGroups`.
 */
export async function* streamResults(
  tenant: Tenant,
  group: QuestionGroup,
  range: ContactRange,
  now: Date,
): AsyncGenerator<ConditionResult[]> {
  const [first] = group
  if (first !== undefined && isInsight(first)) {
    yield* tenant.events.stream(await contactsBehind(backgroundContext(tenant, now, first), first, range))
    return
  }
  const query = await buildQuery(tenant, group.filter(isOwn), range, now)
  // As texts, because ClickHouse sorts UUIDs by their second half first.
  const outer = { ...query.outer, orderBy: 'toString(contact_id)' }
  yield* tenant.events.stream<ConditionResult>({ ...query, outer })
}

/** Questions that one query answers. One that the events of all contacts decide is alone. */
export type QuestionGroup = readonly OwnQuestion[] | readonly [InsightMatch]

export function isOwn(question: EventQuestion): question is OwnQuestion {
  return !isInsight(question)
}

/** The distinct questions, in groups for one query each. */
export function groupsOf(matches: readonly EventQuestion[]): QuestionGroup[] {
  const insights = new Map(matches.filter(isInsight).map((match) => [keyOf(match), match]))
  return [...inGroups(matches.filter(isOwn)), ...[...insights.values()].map((match) => [match] as const)]
}

/** The distinct conditions, in groups that fit into one query. */
export function inGroups(matches: readonly OwnQuestion[]): OwnQuestion[][] {
  const groups: OwnQuestion[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const match of new Map(matches.map((match) => [keyOf(match), match])).values()) {
    const { length } = JSON.stringify(match)
    if (characters + length > CHARACTERS_PER_QUERY) {
      groups.push([])
      characters = 0
    }
    groups.at(-1)?.push(match)
    characters += length
  }
  return groups
}

async function buildQuery(
  tenant: Tenant,
  group: readonly OwnQuestion[],
  contactSet: ContactSet,
  now: Date,
  limit?: number,
) {
  const query = await askEach(tenant, group, now, {
    owners: await ownersAmong(tenant, contactSet),
    id: { sql: 'contact_id', name: 'contact_id' },
    where: eventsOfContacts(contactSet),
    ...(limit === undefined ? {} : { limit }),
  })
  // A query of listed contacts is part of a check, which occupies a connection to PostgreSQL at the same time.
  return { ...query, lane: 'contactIds' in contactSet ? ('light' as const) : ('heavy' as const) }
}

/** Whose events a query is about. */
export interface Asking {
  /** Whose events are asked about. */
  owners: EventConditions
  /** What the answers are about, of the contact of each owner; its column in the result. */
  id: { sql: string; name: string }
  /** Of the contacts. */
  where: string
  limit?: number
}

/**
 * The query that answers each question for each contact, or for whatever else is computed of contacts: their events
 * count together. Its rows have the id, and `hits` as in `ConditionResult`.
 */
export async function askEach(
  tenant: Tenant,
  group: readonly EventQuestion[],
  now: Date,
  { owners, id, where, limit }: Asking,
) {
  const context = { now, zone: await zoneOf(tenant, group) }
  const questions = group.map((question, index) => compileQuestion(question, `q${index}_`, context))
  const parameters = Object.assign({}, ...questions.map((each) => each.parameters), owners.parameters)
  return {
    name: 'segments.events',
    columns: questions.flatMap(({ ofOwner }) => ofOwner).join(', '),
    where: [...owners.where, questions.map(({ isMatched }) => isMatched).join(' OR ')],
    parameters: parameters as QueryParameters,
    isPerContact: true,
    outer: {
      columns: `${id.sql} AS ${id.name}, concat(${questions.map(({ isMet }) => `if(${isMet}, '1', '0')`).join(', ')}, '') AS hits`,
      where,
      groupBy: id.name,
      ...(limit === undefined ? {} : { limit }),
    },
  }
}

/** The events that may belong to the queried contacts. */
export async function ownersAmong(tenant: Tenant, contactSet: ContactSet): Promise<EventConditions> {
  if ('contactIds' in contactSet)
    return conditionsOf(tenant, { contact_ids: [...contactSet.contactIds], includeSystem: true })
  return {
    where: [IS_IDENTIFIED],
    parameters: { after: contactSet.after, ...(isLast(contactSet) ? {} : { up_to: contactSet.upTo }) },
  }
}

export function eventsOfContacts(contactSet: ContactSet): string {
  const isKnown = `contact_id != toUUID('${NOBODY}')`
  if ('contactIds' in contactSet) return isKnown
  // As texts, for the same reason as in streamResults.
  const isAfter = `${isKnown} AND toString(contact_id) > {after: String}`
  return isLast(contactSet) ? isAfter : `${isAfter} AND toString(contact_id) <= {up_to: String}`
}
