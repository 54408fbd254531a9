import {
  type EventMatch,
  eventMatchesOf,
  eventsOf,
  isInsight,
  propertiesOf,
  type SegmentFilter,
  usesCompany,
  usesContactCount,
  usesTime,
} from '../../conditions/language.ts'
import { type ErrorDetail, validationError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { parseCompanyFilter } from '../../segments/company-filters.ts'
import { parseContactFilter, zoneOf } from '../../segments/contact-filters.ts'
import { type Filters, readFilters, requireNamed, withSegments } from '../../segments/named-segments.ts'
import { type Defined, type Entity, isScore, type ScoreRule } from '../definition.ts'

/** A rule of a score, as it is evaluated. */
export interface Rule {
  /** As it is stored, for people to read. */
  stored: SegmentFilter
  /** With the filters of the segments that it names, so that a score never waits for a membership. */
  filter: SegmentFilter
  points: number
}

export interface Score {
  name: string
  rules: readonly Rule[]
}

/** The scores of one kind of record, and what their values depend on. */
export interface Scoring {
  entity: Entity
  scores: readonly Score[]
  /** The time zone in which days are. */
  zone: string
  /** The events that the rules are about. */
  events: readonly EventMatch[]
  /** The properties and columns that the rules use. */
  reads: ReadonlySet<string>
  usesCompany: boolean
  usesContactCount: boolean
  usesTime: boolean
}

export type Scorings = Record<Entity, Scoring>

const NEVER: SegmentFilter = { match: 'any', conditions: [] }

/** The scores among a tenant's computed properties. */
export async function scoringsOf(tenant: Tenant, properties: readonly Defined[]): Promise<Scorings> {
  const stored = (entity: Entity) =>
    properties.flatMap(({ entity: of, name, definition }) =>
      of === entity && isScore(definition) ? [{ name, rules: definition.score }] : [],
    )
  const [contacts, companies] = [stored('contacts'), stored('companies')]
  const hasScores = contacts.length + companies.length > 0
  const filters: Filters = hasScores ? await readFilters(tenant) : new Map()
  return {
    contacts: await scoringOf(tenant, 'contacts', contacts, filters),
    companies: await scoringOf(tenant, 'companies', companies, filters),
  }
}

interface StoredScore {
  name: string
  rules: readonly ScoreRule[]
}

async function scoringOf(
  tenant: Tenant,
  entity: Entity,
  stored: readonly StoredScore[],
  filters: Filters,
): Promise<Scoring> {
  const scores = withoutCircles(stored.map((score) => whole(score, filters)))
  const all = scores.flatMap(({ rules }) => rules.map(({ filter }) => filter))
  return {
    entity,
    scores,
    zone: await zoneOf(tenant, all),
    events: all.flatMap(eventMatchesOf),
    reads: new Set(all.flatMap(propertiesOf)),
    usesCompany: all.some(usesCompany),
    usesContactCount: all.some(usesContactCount),
    usesTime: all.some(usesTime),
  }
}

function whole({ name, rules }: StoredScore, filters: Filters): Score {
  return {
    name,
    rules: rules.map(({ filter, points }) => ({ stored: filter, filter: withSegments(filter, filters), points })),
  }
}

/**
 * A segment may have been changed so that it uses a score that uses the segment, or asks for what depends on everybody's
 * events. Such a rule matches nobody: its value could change for ever.
 */
function withoutCircles(scores: readonly Score[]): Score[] {
  return scores.map((score) => ({
    ...score,
    rules: score.rules.map((rule) =>
      leadsTo(score.name, rule, scores) || asksOfOthers(rule.filter) ? { ...rule, filter: NEVER } : rule,
    ),
  }))
}

/** Whether a rule uses a score, also through other scores. */
function leadsTo(name: string, rule: Rule, scores: readonly Score[]): boolean {
  const reached = new Set<string>()
  for (const open = propertiesOf(rule.filter); open.length > 0; ) {
    const property = open.pop() ?? ''
    if (property === name) return true
    if (reached.has(property)) continue
    reached.add(property)
    const used = scores.find((score) => score.name === property)
    open.push(...(used?.rules.flatMap(({ filter }) => propertiesOf(filter)) ?? []))
  }
  return false
}

/** What the number of an insight counts depends on the events of others. */
function asksOfOthers(filter: SegmentFilter): boolean {
  return eventsOf(filter).some(isInsight)
}

const PARSE = { contacts: parseContactFilter, companies: parseCompanyFilter } as const

/**
 * Checks what the schema of rules cannot express.
 * @param others the tenant's computed properties
 * @returns the rules in their stored form. @throws ServiceError 400 naming every invalid field, `unknown_segment`.
 */
export async function checkRules(
  tenant: Tenant,
  { name, entity }: { name: string; entity: Entity },
  sent: readonly { filter: unknown; points: number }[],
  others: readonly Defined[],
): Promise<ScoreRule[]> {
  const details: ErrorDetail[] = []
  const rules = sent.flatMap(({ filter, points }, index): ScoreRule[] => {
    try {
      return [{ filter: PARSE[entity](filter, { path: `score[${index}].filter` }), points }]
    } catch (error) {
      // Problems of other rules are reported in the same response.
      details.push(...((error as { details?: ErrorDetail[] }).details ?? []))
      return []
    }
  })
  if (details.length > 0) throw validationError(details)
  const filters = await readFilters(tenant)
  for (const { filter } of rules) requireNamed(filter, filters, { entity })
  const scores = others.flatMap((other) =>
    other.entity === entity && other.name !== name && isScore(other.definition)
      ? [whole({ name: other.name, rules: other.definition.score }, filters)]
      : [],
  )
  const own = whole({ name, rules }, filters)
  for (const [index, rule] of own.rules.entries()) {
    const path = `score[${index}].filter`
    if (asksOfOthers(rule.filter)) {
      details.push({ path, message: 'cannot use the people of an insight, which depend on the events of others' })
    }
    if (leadsTo(name, rule, [...scores, own])) {
      details.push({ path, message: `leads back to ${name}: a score cannot depend on itself` })
    }
  }
  if (details.length > 0) throw validationError(details)
  return rules
}
