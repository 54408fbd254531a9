import type { Sql } from '../conditions/event-property.ts'
import { EVENT_ID_ORDER } from '../events/table.ts'
import { CONTACT_OF_EVENT, NOBODY } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import type { EventSelect } from '../platform/clickhouse/tenant-events.ts'
import { type Asked, IS_OF_SOMEBODY, inRange, PERSON } from './question.ts'
import type { Range } from './range.ts'
import { countOfAll } from './sample.ts'

export const PATH_KINDS = ['pages', 'events'] as const
export type PathKind = (typeof PATH_KINDS)[number]

/** The most nodes of an answer, besides those of its links. */
const NODES_MAX = 1_000

/** A question about paths in one range. */
export interface PathsQuery {
  asked: Asked
  range: Range
  kind: PathKind
  /** Which events are of that kind. */
  meant: Sql
  /** The node with which paths begin or end, if there is one. */
  fixed: { end: 'first' | 'last'; name: string } | null
  depth: number
  limit: number
}

/** How many sessions have a name at a step of their path. */
export interface PathNode {
  step: number
  name: string
  count: number
}

/** How many sessions go from one name to another at a step of their path. */
export interface PathLink {
  from: string
  to: string
  step: number
  count: number
}

export interface PathsFound {
  nodes: PathNode[]
  links: PathLink[]
  /** How often the links that are left out were taken. */
  others: number
}

interface Row {
  is_node: number
  step: number
  source: string
  target: string
  sessions: number | string
  total: number | string
}

/** The path in the `names` of a session, and its condition. */
function pathIn({ fixed, depth }: PathsQuery): { sql: string; where: string } {
  if (fixed === null) return { sql: `arraySlice(names, 1, ${depth})`, where: '1' }
  const where = 'has(names, {fixed_name: String})'
  if (fixed.end === 'first') return { sql: `arraySlice(names, indexOf(names, {fixed_name: String}), ${depth})`, where }
  const last = 'arrayLastIndex(name -> name = {fixed_name: String}, names)'
  return { sql: `arraySlice(names, greatest(1, ${last} - ${depth - 1}), least(${last}, ${depth}))`, where }
}

/**
 * A query over the sessions, each of which has its `path`. Events of the same time are in the order of their ids as text.
 * @param ofSession further columns of a session
 */
function overPaths(
  query: PathsQuery,
  selection: NonNullable<EventSelect['outer']>,
  ofSession: { columns: string; names: string } = { columns: '', names: '' },
): EventSelect {
  const { asked, range, kind, meant, fixed } = query
  const name = kind === 'pages' ? 'url_path' : 'event'
  const path = pathIn(query)
  const inTime = inRange(range)
  const parameters: QueryParameters = { ...asked.parameters, ...inTime.parameters, ...meant.parameters }
  if (fixed !== null) parameters.fixed_name = fixed.name
  return {
    name: 'insights.paths',
    lane: 'heavy',
    columns: `arrayCompact(arrayMap(each -> tupleElement(each, 3),
      arraySort(groupArray((timestamp, ${EVENT_ID_ORDER}, toString(${name})))))) AS names ${ofSession.columns}`,
    where: [...inTime.where, ...asked.where, meant.sql, "session_id != ''", `${name} != ''`],
    parameters,
    groupBy: 'session_id',
    outer: { columns: `${path.sql} AS path ${ofSession.names}`, where: path.where, outer: selection },
  }
}

/** Every node with the one after it, which is '' at the end of a path, and how many sessions have them. */
function linksOf({ fixed }: PathsQuery, rest: NonNullable<EventSelect['outer']>): NonNullable<EventSelect['outer']> {
  const step = fixed?.end === 'last' ? 'toInt32(at) - toInt32(length(path))' : 'toInt32(at)'
  const pairs = `arrayMap((node, next, at) -> (${step}, node, next), path, arrayPushBack(arrayPopFront(path), ''), arrayEnumerate(path))`
  return {
    columns: `arrayJoin(${pairs}) AS link, count() AS taken`,
    groupBy: 'link',
    outer: {
      columns: `tupleElement(link, 1) AS step, tupleElement(link, 2) AS source, tupleElement(link, 3) AS target,
        grouping(target) AS is_node, sum(taken) AS sessions`,
      groupBy: 'GROUPING SETS ((step, source, target), (step, source))',
      outer: rest,
    },
  }
}

const ROW = 'is_node, step, source, target, sessions, sum(sessions) OVER (PARTITION BY is_node) AS total'

/** The largest links, and the nodes: the largest ones and those of the links. Of equals, the first by step and name. */
export async function readPaths(query: PathsQuery): Promise<PathsFound> {
  const { asked, limit } = query
  const rows = await asked.tenant.events.select<Row>(
    overPaths(
      query,
      linksOf(query, {
        columns: ROW,
        where: "is_node = 1 OR target != ''",
        orderBy: 'is_node, sessions DESC, step, source, target',
        limitBy: { rows: Math.max(limit, NODES_MAX), columns: 'is_node' },
      }),
    ),
  )
  const ofLinks = rows.filter(({ is_node }) => Number(is_node) === 0)
  const links = ofLinks.slice(0, limit).map(({ step, source, target, sessions }) => ({
    ...{ step: Number(step), from: source, to: target, count: Number(sessions) },
  }))
  const largest = rows.filter(({ is_node }) => Number(is_node) === 1).map(nodeOf)
  const nodes = [...largest, ...(await missingNodes(query, links, largest))]
  const taken = links.reduce((sum, { count }) => sum + count, 0)
  const others = Number(ofLinks[0]?.total ?? 0) - taken
  const ofAll = <Counted extends { count: number }>(each: Counted) => ({
    ...each,
    count: countOfAll(each.count, asked.sample),
  })
  return { nodes: nodes.map(ofAll), links: links.map(ofAll), others: countOfAll(others, asked.sample) }
}

/** The nodes of some links that are not among the largest ones. */
async function missingNodes(
  query: PathsQuery,
  links: readonly PathLink[],
  largest: readonly PathNode[],
): Promise<PathNode[]> {
  if (largest.length < NODES_MAX) return []
  const keyOf = (step: number, name: string) => `${step} ${name}`
  const known = new Set(largest.map(({ step, name }) => keyOf(step, name)))
  const ends = links.flatMap(({ step, from, to }) => [keyOf(step, from), keyOf(step + 1, to)])
  const missing = [...new Set(ends)].filter((key) => !known.has(key))
  if (missing.length === 0) return []
  const { parameters, ...selection } = overPaths(
    query,
    linksOf(query, {
      columns: ROW,
      where: "is_node = 1 AND has({missing: Array(String)}, concat(toString(step), ' ', source))",
      orderBy: 'sessions DESC, step, source',
    }),
  )
  const rows = await query.asked.tenant.events.select<Row>({ ...selection, parameters: { ...parameters, missing } })
  return rows.map(nodeOf)
}

function nodeOf({ step, source, sessions }: Row): PathNode {
  return { step: Number(step), name: source, count: Number(sessions) }
}

/** The rows of the different people of the sessions whose path has a name at a step and, if given, another after it. */
export function peopleOfPaths(query: PathsQuery, step: number, name: string, next: string | null): EventSelect {
  const at = query.fixed?.end === 'last' ? `toInt32(length(path)) + ${Math.trunc(step)}` : `${Math.trunc(step)}`
  const followed = next === null ? '' : ` AND path[${at} + 1] = {next_name: String}`
  const { parameters, ...selection } = overPaths(
    query,
    {
      columns: 'arrayJoin(people) AS each',
      // A negative index would count from the end.
      where: `${at} >= 1 AND path[${at}] = {node_name: String}${followed}`,
      groupBy: 'each',
      outer: { columns: 'toString(tupleElement(each, 1)) AS person, tupleElement(each, 2) AS is_contact' },
    },
    {
      columns: `, groupUniqArrayIf((${PERSON}, ${CONTACT_OF_EVENT} != ${NOBODY}), ${IS_OF_SOMEBODY}) AS people`,
      names: ', people',
    },
  )
  return {
    ...selection,
    withContacts: true,
    parameters: { ...parameters, node_name: name, ...(next === null ? {} : { next_name: next }) },
  }
}
