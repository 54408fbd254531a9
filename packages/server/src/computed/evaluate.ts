import { dataText, eventPropertyNamed } from '../conditions/event-property.ts'
import { itemsOf } from '../conditions/to-clickhouse.ts'
import type { PropertyValue } from '../contacts/properties.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { queryableGroups } from '../owners/owners.ts'
import { firstCharacters } from '../platform/characters.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { Tenant } from '../platform/tenant.ts'
import { DAY_MS } from '../platform/time.ts'
import { asCompanies, COMPANIES_AT_ONCE, queryableParts } from '../segments/company-events.ts'
import { compileMatch, distinctOf, numbersOf } from '../segments/event-questions.ts'
import { type Asking, eventsOfContacts, ownersAmong } from '../segments/events.ts'
import type { OfEvents } from './definition.ts'

/** A property that is computed of events. */
export interface OfEventsNamed {
  name: string
  definition: OfEvents
}

/** The values of a record. */
export interface Evaluated {
  /** null for a property that it must not have. */
  values: Record<string, PropertyValue | null>
  /** When time alone changes a value: an event leaves the days that count. null: never. */
  changesAt: Date | null
}

/** Placeholders are sent in the URL of a request to ClickHouse, whose length is limited. */
const CHARACTERS_PER_QUERY = 20_000
/** A value is for lists, conditions and templates: longer texts stay in the events. */
const TEXT_LENGTH_MAX = 1_000
const ITEMS_MAX = 100

/** Computes properties of some contacts, of their own events and those of their visitors' anonymous past. */
export async function evaluateContacts(
  tenant: Tenant,
  properties: readonly OfEventsNamed[],
  contactIds: readonly string[],
  now: Date,
): Promise<Map<string, Evaluated>> {
  const evaluated = withNothing(properties, contactIds)
  for (const some of await queryableGroups(tenant, contactIds)) {
    const asking = {
      owners: await ownersAmong(tenant, { contactIds: some }),
      id: { sql: 'contact_id', name: 'contact_id' },
      where: eventsOfContacts({ contactIds: some }),
    }
    await evaluate(tenant, properties, asking, now, evaluated)
  }
  return evaluated
}

/** Computes properties of some companies, of the events of their contacts together. */
export async function evaluateCompanies(
  tenant: Tenant,
  properties: readonly OfEventsNamed[],
  companyIds: readonly string[],
  now: Date,
): Promise<Map<string, Evaluated>> {
  const evaluated = withNothing(properties, companyIds)
  for (let from = 0; from < companyIds.length; from += COMPANIES_AT_ONCE) {
    for (const members of await queryableParts(tenant, companyIds.slice(from, from + COMPANIES_AT_ONCE))) {
      await evaluate(tenant, properties, await asCompanies(tenant, members), now, evaluated)
    }
  }
  return evaluated
}

/** What is computed of no events. */
function withNothing(properties: readonly OfEventsNamed[], ids: readonly string[]): Map<string, Evaluated> {
  const isCount = ({ definition }: OfEventsNamed) => ['count', 'distinct'].includes(definition.function)
  return new Map(
    ids.map((id) => [
      id,
      { values: Object.fromEntries(properties.map((each) => [each.name, isCount(each) ? 0 : null])), changesAt: null },
    ]),
  )
}

/** A record's id, the value of each property (`v0`, `v1` …), and since when the first of its events counts (`w0` …). */
type Row = Record<string, string | number | null>

async function evaluate(
  tenant: Tenant,
  properties: readonly OfEventsNamed[],
  asking: Asking,
  now: Date,
  evaluated: ReadonlyMap<string, Evaluated>,
): Promise<void> {
  for (const group of inGroups(properties)) {
    for (const row of await tenant.events.select<Row>(queryOf(group, asking, now))) {
      const record = evaluated.get(String(row[asking.id.name]))
      if (!record) continue
      for (const [index, { name, definition }] of group.entries()) {
        record.values[name] = valueIn(definition, row[`v${index}`] ?? null)
        const since = Number(row[`w${index}`] ?? 0)
        if (definition.within_days === undefined || since === 0) continue
        // The event still counts when it is exactly so old.
        const changesAt = new Date(since + definition.within_days * DAY_MS + 1)
        if (record.changesAt === null || changesAt < record.changesAt) record.changesAt = changesAt
      }
    }
  }
}

/** The properties in groups that fit into one query. */
function inGroups(properties: readonly OfEventsNamed[]): OfEventsNamed[][] {
  const groups: OfEventsNamed[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const property of properties) {
    const { length } = JSON.stringify(property.definition)
    if (characters + length > CHARACTERS_PER_QUERY) {
      groups.push([])
      characters = 0
    }
    groups.at(-1)?.push(property)
    characters += length
  }
  return groups
}

/** One query for all properties of a group: it groups events by owner, and then by contact or company. */
function queryOf(group: readonly OfEventsNamed[], { owners, id, where }: Asking, now: Date) {
  const figures = group.map(({ definition }, index) => compile(definition, `p${index}_`, now))
  const values = figures.flatMap(({ value, since }, index) => [
    `${value} AS v${index}`,
    ...(since === null ? [] : [`${since} AS w${index}`]),
  ])
  const parameters: QueryParameters = Object.assign({}, ...figures.map((each) => each.parameters), owners.parameters)
  return {
    name: 'computed.values',
    // A query of listed records is part of a check, which occupies a connection to PostgreSQL at the same time.
    lane: 'light' as const,
    columns: figures.flatMap(({ ofOwner }) => ofOwner).join(', '),
    where: [...owners.where, [...new Set(figures.map(({ isMatched }) => isMatched))].join(' OR ')],
    parameters,
    isPerContact: true,
    outer: { columns: `${id.sql} AS ${id.name}, ${values.join(', ')}`, where, groupBy: id.name },
  }
}

/** What is computed of the events of each owner, and the value of what was computed of a record's owners, named `found`. */
interface Figure {
  isMatched: string
  ofOwner: string[]
  value: string
  /** null if time alone changes nothing. */
  since: string | null
  parameters: QueryParameters
}

/** @param prefix of the names of columns and placeholders, which are distinct within a query. */
function compile({ event, where, within_days, property, function: name }: OfEvents, prefix: string, now: Date): Figure {
  // Without dates alone, the conditions are the same in every time zone.
  const context = { now, zone: 'UTC' }
  const match = {
    type: event,
    ...(where === undefined ? {} : { where }),
    ...(within_days === undefined ? {} : { within_days }),
  }
  const matched = compileMatch(match, prefix, context)
  const items = itemsOf(property === undefined ? null : eventPropertyNamed(property), `${prefix}i`)
  const figure = figureOf(name, property, items.sql, matched.sql, prefix)
  return {
    isMatched: matched.sql,
    ofOwner: [
      ...figure.ofOwner,
      ...(within_days === undefined ? [] : [`minIf(toUnixTimestamp64Milli(timestamp), ${matched.sql}) AS ${prefix}w`]),
    ],
    value: figure.value,
    since: within_days === undefined ? null : `minIf(found.${prefix}w, found.${prefix}w != 0)`,
    parameters: { ...matched.parameters, ...(property === undefined ? {} : items.parameters) },
  }
}

function figureOf(
  name: OfEvents['function'],
  property: string | undefined,
  items: string,
  isMatched: string,
  prefix: string,
): Pick<Figure, 'ofOwner' | 'value'> {
  switch (name) {
    case 'count':
      return { ofOwner: [`countIf(${isMatched}) AS ${prefix}n`], value: `sum(found.${prefix}n)` }
    case 'distinct':
      return distinctOf(items, isMatched, prefix)
    case 'first':
    case 'last':
      return oneOf(name, property, items, isMatched, prefix)
    case 'most_frequent':
      return mostFrequentOf(items, isMatched, prefix)
    default:
      return numbersOf(name, items, isMatched, prefix)
  }
}

/** An object, or a list in a list, is no value of a property. */
const IS_SCALAR = "y -> NOT match(y, '^[{\\\\[]')"
const TIME = `(timestamp, ${EVENT_ID_ORDER})`

/** The value of the first or last event that has one, as JSON. */
function oneOf(
  name: 'first' | 'last',
  property: string | undefined,
  items: string,
  isMatched: string,
  prefix: string,
): Pick<Figure, 'ofOwner' | 'value'> {
  const [at, when] = name === 'first' ? ['argMinIf', 'minIf'] : ['argMaxIf', 'maxIf']
  const named = property === undefined ? null : eventPropertyNamed(property)
  // With its brackets, if it is a list.
  const text = named?.kind === 'data' ? `ifNull(${dataText(named.path, `${prefix}i`).sql}, '')` : `${items}[1]`
  const has = `${isMatched} AND arrayExists(${IS_SCALAR}, ${items})`
  return {
    ofOwner: [`${at}(${text}, ${TIME}, ${has}) AS ${prefix}v`, `${when}(${TIME}, ${has}) AS ${prefix}t`],
    value: `${at}(found.${prefix}v, found.${prefix}t, notEmpty(found.${prefix}v))`,
  }
}

/** The value in most events, as JSON; of those in equally many, the one of the latest event. An event counts once for a value. */
function mostFrequentOf(items: string, isMatched: string, prefix: string): Pick<Figure, 'ofOwner' | 'value'> {
  const keys = `arrayDistinct(arrayFilter(${IS_SCALAR}, ${items}))`
  const [counts, times] = [`found.${prefix}c`, `found.${prefix}t`]
  // Both have the same keys, sorted.
  const summed = `sumMap(tupleElement(${counts}, 1), tupleElement(${counts}, 2))`
  const latest = `maxMap(tupleElement(${times}, 1), tupleElement(${times}, 2))`
  const ranked = `arrayReverseSort(x -> (x.2, x.3), arrayZip(tupleElement(${summed}, 1), tupleElement(${summed}, 2), tupleElement(${latest}, 2)))`
  return {
    ofOwner: [
      `sumMapIf(${keys}, arrayMap(k -> toUInt64(1), ${keys}), ${isMatched}) AS ${prefix}c`,
      `maxMapIf(${keys}, arrayMap(k -> ${TIME}, ${keys}), ${isMatched}) AS ${prefix}t`,
    ],
    value: `tupleElement(${ranked}[1], 1)`,
  }
}

/** A value of ClickHouse as a property has it; null for none. */
function valueIn({ function: name }: OfEvents, value: string | number | null): PropertyValue | null {
  if (name === 'first' || name === 'last' || name === 'most_frequent') return valueOfJson(String(value ?? ''))
  if (value === null) return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

function valueOfJson(json: string): PropertyValue | null {
  if (json === '') return null
  const value: unknown = JSON.parse(json)
  if (!Array.isArray(value)) return scalarOf(value)
  const items = value.flatMap((item) => scalarOf(item) ?? []).slice(0, ITEMS_MAX)
  return items.length === 0 ? null : items
}

function scalarOf(value: unknown): string | number | boolean | null {
  if (typeof value === 'string') return firstCharacters(value, TEXT_LENGTH_MAX)
  return typeof value === 'number' || typeof value === 'boolean' ? value : null
}
