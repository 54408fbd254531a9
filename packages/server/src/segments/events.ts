import { conditionsOf, type EventConditions, eventConditions } from '../events/filters.ts'
import { NOBODY } from '../journal/event-record.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { EventMatch } from './filter.ts'

const DAY_MS = 86_400_000
/** Placeholders travel in the address of a request to ClickHouse, which has a limit. */
const CHARACTERS_A_QUERY = 20_000

/** More contacts have such events than the caller wants to hold in memory. */
export class TooManyHolders extends Error {}

/** Which contacts are asked about: some, or all from one id to another. */
export type Whom = { contactIds: readonly string[] } | { after: string; upTo: string }

/** For each question the contacts that have such events, as often as it asks. */
export class EventAnswers {
  readonly #holders = new Map<string, string[]>()

  /** Contacts that are known to have such events; undefined for a question that was not asked. */
  holdersOf(match: EventMatch): readonly string[] | undefined {
    return this.#holders.get(keyOf(match))
  }

  /** The same of some contacts alone. */
  among(contactIds: readonly string[]): EventAnswers {
    const some = new Set(contactIds)
    const answers = new EventAnswers()
    for (const [key, holders] of this.#holders) {
      answers.#holders.set(
        key,
        holders.filter((contactId) => some.has(contactId)),
      )
    }
    return answers
  }

  add(match: EventMatch, contactIds: string[]): void {
    this.#holders.set(keyOf(match), contactIds)
  }
}

/** The same question, however often it is asked, has one key. */
export function keyOf(match: EventMatch): string {
  return JSON.stringify(Object.entries(match).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Asks ClickHouse all questions at once. A contact has the events that were recorded for it and those of the visitors
 * that became it; the service's own count only where a question names one.
 * @throws TooManyHolders where a limit is given and reached.
 */
export async function askEvents(
  tenant: Tenant,
  matches: readonly EventMatch[],
  whom: Whom,
  now: Date,
  bounds: Pick<EventSelect, 'limit' | 'secondsMax'> = {},
): Promise<EventAnswers> {
  const distinct = [...new Map(matches.map((match) => [keyOf(match), match])).values()]
  const answers = new EventAnswers()
  for (const group of inGroups(distinct)) {
    const { limit, ...others } = bounds
    const question = { ...(await questionOf(tenant, group, whom, now, limit)), ...others }
    const rows = await tenant.events.select<{ contact_id: string; hits: number[] }>(question)
    if (rows.length === limit) throw new TooManyHolders()
    for (const [index, match] of group.entries()) {
      answers.add(
        match,
        rows.filter(({ hits }) => hits[index]).map((row) => row.contact_id),
      )
    }
  }
  return answers
}

/** Nobody has any events: true of contacts that are just being made. */
export function noEvents(matches: readonly EventMatch[]): EventAnswers {
  const answers = new EventAnswers()
  for (const match of matches) answers.add(match, [])
  return answers
}

async function questionOf(tenant: Tenant, group: readonly EventMatch[], whom: Whom, now: Date, limit?: number) {
  const parameters: QueryParameters = {}
  const conditions = group.map((match, index) => {
    const { within_days, min_count: _, type, ...rest } = match
    const { where, parameters: own } = eventConditions({
      ...rest,
      ...(type === undefined ? {} : { event_type: type }),
      ...(within_days === undefined ? {} : { date_after: new Date(now.getTime() - within_days * DAY_MS) }),
    })
    // Each question's placeholders get names of their own.
    const rename = (name: string) => `q${index}_${name}`
    for (const [name, value] of Object.entries(own)) parameters[rename(name)] = value
    const named = where.map((condition) => condition.replace(/\{(\w+):/g, (_match, name) => `{${rename(name)}:`))
    return `(${named.map((condition) => `(${condition})`).join(' AND ')})`
  })
  const counts = conditions.map((condition) => `countIf(${condition})`)
  const hits = group.map(({ min_count = 1 }, index) => `sum(counts[${index + 1}]) >= ${min_count}`)
  const owners = await ownersAmong(tenant, whom)
  return {
    name: 'segments.events',
    // A contact's write waits for the former, with a connection of PostgreSQL in its hand.
    lane: 'contactIds' in whom ? ('light' as const) : ('heavy' as const),
    columns: `[${counts.join(', ')}] AS counts`,
    where: [...owners.where, conditions.join(' OR ')],
    parameters: { ...parameters, ...owners.parameters },
    isPerContact: true,
    outer: {
      columns: `contact_id, [${hits.join(', ')}] AS hits`,
      where: contactsAmong(whom),
      groupBy: 'contact_id',
      ...(limit === undefined ? {} : { limit }),
    },
  }
}

/** The events that may be those of the contacts that are asked about. */
async function ownersAmong(tenant: Tenant, whom: Whom): Promise<EventConditions> {
  if ('contactIds' in whom) return conditionsOf(tenant, { contact_ids: [...whom.contactIds], includeSystem: true })
  return { where: [], parameters: { after: whom.after, up_to: whom.upTo } }
}

function contactsAmong(whom: Whom): string {
  const isKnown = `contact_id != toUUID('${NOBODY}')`
  if ('contactIds' in whom) return isKnown
  // As texts, because ClickHouse sorts UUIDs by their second half first.
  return `${isKnown} AND toString(contact_id) > {after: String} AND toString(contact_id) <= {up_to: String}`
}

function inGroups(matches: readonly EventMatch[]): EventMatch[][] {
  const groups: EventMatch[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const match of matches) {
    const length = keyOf(match).length
    if (characters + length > CHARACTERS_A_QUERY) {
      groups.push([])
      characters = 0
    }
    groups.at(-1)?.push(match)
    characters += length
  }
  return groups
}
