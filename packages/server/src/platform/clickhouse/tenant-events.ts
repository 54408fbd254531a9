import { ServiceError } from '../errors.ts'
import { newId } from '../ids.ts'
import { callerLeft, type Lane, type PostgresLane, type ReadLanes, type ReadOptions } from '../read-lanes.ts'
import { LOADED_BYTES_MAX } from '../response-size.ts'
import type { ClickHouse } from './connect.ts'
import { joinValues, requireSets, rowsOfSet, withOwnersOfSets } from './contact-sets.ts'
import { WITH_DATA_VALUES } from './data-values.ts'
import {
  CONTACT_OF_EVENT,
  CONTACT_OF_OWNER,
  IS_IDENTIFIED,
  linksWhere,
  OF_TENANT,
  PERSON_OF_OWNER,
} from './owner-links.ts'
import type { QueryParameters } from './parameters.ts'
import { withSamples } from './people-sample.ts'
import { refusalCode } from './refusal.ts'
import {
  FILE_BYTES_MAX,
  FILE_SECONDS_MAX,
  renderFile,
  renderSizes,
  type SequenceSize,
  type SizeRange,
  type TenantFile,
} from './tenant-files.ts'

/** A query of one tenant's events, as the parts of a SELECT; the table and the tenant are added. */
export interface EventSelect {
  /** Appears in logs. */
  name: string
  /** `light` is for queries that an index serves: by id, by contact or visitor, or the newest. */
  lane: Exclude<Lane, PostgresLane>
  columns: string
  /** Conditions with `{name: Type}` placeholders, joined with AND. */
  where: readonly string[]
  parameters: QueryParameters
  groupBy?: string
  orderBy?: string
  /** The most rows for each value of some columns (LIMIT BY). */
  limitBy?: { rows: number; columns: string }
  limit?: number
  offset?: number
  /** The engine cancels the query after this time, with an error; default: the usual limit. */
  secondsMax?: number
  /** A larger result fails with `response_too_large`. Results for a caller are always limited. */
  bytesMax?: number
  /**
   * Groups by owner, then joins each owner's contact: joining so few rows costs a fraction of joining the events.
   * `outer` may use `contact_id`, which is the zero UUID for anonymous owners.
   */
  isPerContact?: boolean
  /**
   * Groups by owner as `isPerContact` does, for questions about people. `outer` may use `person`, which is the contact or the
   * anonymous visitor, and `is_contact`.
   */
  isPerPerson?: boolean
  /** Joins the link of each event's owner, for `CONTACT_OF_EVENT` and `PERSON_OF_EVENT`. */
  withContacts?: boolean
  /** Joins the values that sets have of each event's contact, as `valuesOfContact`: the parameters with the sets' ids. */
  valuesOf?: readonly string[]
  /** Uses only a projection's sums: see the rollups of the table. */
  isRollup?: boolean
  /** A second selection of rows with the same columns and grouping. `outer` combines both. */
  also?: Pick<EventSelect, 'columns' | 'where'>
  /**
   * Columns that are added to the rows of this query before `outer` sees them. Each entry may use those before it, so that
   * what is used more than once is not repeated in the query: it would grow exponentially.
   */
  derived?: readonly string[]
  /** A query over the rows of this one, named `found`; only its rows are returned. */
  outer?: OuterSelect
}

/** A query over the rows of another, which are named `found`. It may have an outer one itself. */
type OuterSelect = Pick<EventSelect, 'columns' | 'groupBy' | 'orderBy' | 'limitBy' | 'limit' | 'offset' | 'outer'> & {
  where?: string
}

/** The condition that an event belongs to one of the owners in a parameter; a projection is sorted by owner. */
export function isOwnedBy(parameter: string): string {
  return `${BY_OWNER}{${parameter}: Array(UUID)}`
}

const BY_OWNER = 'owner_id IN '
const isByOwner = (condition: string) => condition.startsWith(BY_OWNER)

/** Reads the events of one tenant. Every query gets the tenant's predicate. */
export interface TenantEvents {
  select<Row>(selection: EventSelect): Promise<Row[]>
  /** The same, some rows at a time, for results too long for memory. */
  stream<Row>(selection: EventSelect): AsyncIterable<Row[]>
  /** Resolves once ClickHouse has every event acknowledged before the call. Reads wait for it themselves. */
  barrier(): Promise<void>
  /** A text that differs once an event is recorded or deleted, or a visitor is linked. Cheap: it is read from sums. */
  version(): Promise<string>
  /** The number of rows per journal number, in order, which limits the size of files. */
  sizes(range: SizeRange): Promise<SequenceSize[]>
  /** A file of the tenant's data. */
  parquet(file: TenantFile): Promise<Buffer>
  /**
   * Adds contacts to a set, which later queries can name: `isInSet` and `valuesOf`. Only contact-sets/ calls it.
   * @param lines each has the id of a contact and, if the set has values, a tab and a value in ClickHouse's TSV format.
   */
  addToSet(setId: string, lines: string): Promise<void>
}

/** The counts of each event from a projection; a link that changes is a new row with a higher number. */
const VERSION = `/* events.version */ SELECT toString(groupBitXor(cityHash64(is_system, event, records))) AS version FROM (
    SELECT is_system, event, count() AS records FROM events WHERE ${OF_TENANT} GROUP BY is_system, event)
  UNION ALL SELECT toString((count(), max(sequence))) AS version FROM owner_links WHERE ${OF_TENANT}`

interface Engine {
  clickhouse: ClickHouse
  reads: ReadLanes
  barrier(tenantId: string): Promise<void>
}

/**
 * Restricts event queries to one tenant, ensures that they see every event acknowledged before them, and queues them
 * fairly with other tenants' queries.
 */
export function tenantEvents(
  { clickhouse, reads, barrier }: Engine,
  tenantId: string,
  options: ReadOptions,
): TenantEvents {
  const { caller } = options

  async function inTurn(selection: EventSelect) {
    const rendered = renderSelect(selection)
    requireSets(rendered, selection.parameters, selection.valuesOf ?? [])
    const sql = withSamples(withOwnersOfSets(rendered))
    if (options.isUrgent && selection.lane !== 'light') {
      throw new Error('Inside a transaction, which occupies a PostgreSQL connection, only light reads may wait.')
    }
    await barrier(tenantId)
    const { share, end } = await reads.enter(selection.lane, tenantId, options)
    const usesProjections = selection.isRollup === true || selection.where.some(isByOwner)
    const bounds = { ...share, secondsMax: selection.secondsMax, signal: caller, usesProjections }
    return { sql, parameters: { ...selection.parameters, tenant_id: tenantId }, bounds, end }
  }

  function boundOf({ bytesMax }: EventSelect): { resultBytesMax?: number } {
    if (bytesMax !== undefined) return { resultBytesMax: bytesMax }
    return caller ? { resultBytesMax: LOADED_BYTES_MAX } : {}
  }

  async function parquet(file: TenantFile): Promise<Buffer> {
    const { sql, parameters } = renderFile(file)
    await barrier(tenantId)
    const { share, end } = await reads.enter('export', tenantId, options)
    const bounds = { ...share, secondsMax: FILE_SECONDS_MAX, signal: caller, bytesMax: FILE_BYTES_MAX }
    try {
      return await clickhouse.parquet(sql, { ...parameters, tenant_id: tenantId }, bounds)
    } finally {
      end()
    }
  }

  async function sizes(range: SizeRange): Promise<SequenceSize[]> {
    const { sql, parameters } = renderSizes(range)
    await barrier(tenantId)
    const { share, end } = await reads.enter('export', tenantId, options)
    try {
      const bounds = { ...share, secondsMax: FILE_SECONDS_MAX, signal: caller }
      const rows = await clickhouse.query<SequenceSize>(sql, { ...parameters, tenant_id: tenantId }, bounds)
      return rows.map(({ sequence, rows, bytes }) => ({
        sequence: Number(sequence),
        rows: Number(rows),
        bytes: Number(bytes),
      }))
    } finally {
      end()
    }
  }

  async function version(): Promise<string> {
    await barrier(tenantId)
    const { share, end } = await reads.enter('light', tenantId, options)
    try {
      const bounds = { ...share, signal: caller, usesProjections: true }
      const rows = await clickhouse.query<{ version: string }>(VERSION, { tenant_id: tenantId }, bounds)
      return rows
        .map((row) => row.version)
        .sort()
        .join()
    } finally {
      end()
    }
  }

  async function addToSet(setId: string, lines: string): Promise<void> {
    if (options.isUrgent) throw new Error('A set is not copied inside a transaction, which would wait for ClickHouse.')
    const columns = lines.slice(0, lines.indexOf('\n')).includes('\t') ? 'contact_id, value' : 'contact_id'
    const table = `contact_sets (tenant_id, set_id, ${columns})`
    await clickhouse.insert(table, 'TabSeparated', rowsOfSet(tenantId, setId, lines), newId())
  }

  return {
    barrier: () => barrier(tenantId),
    version,
    sizes,
    parquet,
    addToSet,
    select: async <Row>(selection: EventSelect) => {
      const { sql, parameters, bounds, end } = await inTurn(selection)
      try {
        return await clickhouse.query<Row>(sql, parameters, { ...bounds, ...boundOf(selection) })
      } catch (error) {
        throw failureFor(caller, error)
      } finally {
        end()
      }
    },
    stream: async function* <Row>(selection: EventSelect) {
      const { sql, parameters, bounds, end } = await inTurn(selection)
      try {
        yield* clickhouse.stream<Row>(sql, parameters, bounds)
      } catch (error) {
        throw failureFor(caller, error)
      } finally {
        end()
      }
    },
  }
}

/** ClickHouse's codes for a query that took too long, was estimated to, or used too much memory. */
const TOO_EXPENSIVE = [159, 160, 241, 307]

/** Queries of clients are limited, so reaching a limit is a client error, not a failure. */
function failureFor(caller: AbortSignal | undefined, error: unknown): unknown {
  if (caller?.aborted) return callerLeft()
  if (!caller || !TOO_EXPENSIVE.includes(refusalCode(error) ?? 0)) return error
  const message = 'The query takes too much time or memory. Restrict it, for example with date_after and date_before.'
  return new ServiceError(400, 'query_too_expensive', message, { cause: error })
}

/** A subquery, or a comment that hides one, would escape the tenant's predicate. */
const SUBQUERY = /\b(select|from|join|union)\b|\/\*|--/i

function requireParts({ columns, where, also, groupBy, orderBy, limitBy, derived = [], outer }: EventSelect): void {
  const own = [...where, ...(also?.where ?? [])].filter((condition) => condition !== IS_IDENTIFIED)
  const parts = [columns, also?.columns, ...own, groupBy, orderBy, limitBy?.columns]
  parts.push(...derived)
  for (let next = outer; next; next = next.outer) {
    parts.push(next.columns, next.where, next.groupBy, next.orderBy, next.limitBy?.columns)
  }
  if (parts.some((part) => part !== undefined && SUBQUERY.test(part))) {
    throw new Error('A part of an event query must not contain a subquery.')
  }
}

function renderSelect(selection: EventSelect): string {
  requireParts(selection)
  const { name, also, derived = [], outer, isPerContact, isPerPerson } = selection
  if (also && !outer) throw new Error('Two selections need an outer query that combines them.')
  const selections = [selection, ...(also ? [{ ...selection, ...also }] : [])]
  const select = selections.map(renderRows).join(' UNION ALL ')
  if (!outer) return `/* ${name} */ ${select}`
  const where = also ? [] : selection.where
  const rows = isPerContact
    ? withLinks(select, `${CONTACT_OF_OWNER} AS contact_id`, where)
    : isPerPerson
      ? withLinks(select, PERSON_OF_OWNER, where)
      : select
  const found = derived.reduce((known, columns) => `SELECT *, ${columns} FROM (${known})`, rows)
  return `/* ${name} */ ${renderOuter(found, outer)}`
}

function renderOuter(found: string, { columns, where, outer, ...end }: OuterSelect): string {
  const chosen = where ? `WHERE ${where}` : ''
  const sql = `SELECT ${columns} FROM (${found}) AS found ${chosen} ${renderGroup(end)} ${renderEnd(end)}`
  return outer ? renderOuter(sql, outer) : sql
}

/** Rows of owners with what their links say. */
function withLinks(select: string, columns: string, where: readonly string[]): string {
  return `SELECT found.*, ${columns} FROM (${select}) AS found
    LEFT JOIN (${linksOf(where)}) AS links ON links.owner_id = found.owner_id`
}

/** The links that events under some conditions may have. */
function linksOf(where: readonly string[]): string {
  return linksWhere([OF_TENANT, ...where.filter(isByOwner)].join(' AND '))
}

/** Every selection has the tenant's predicate. */
function renderRows({
  where,
  isPerContact,
  isPerPerson,
  withContacts,
  valuesOf = [],
  ...selection
}: EventSelect): string {
  const keys = isPerContact ? 'owner_id, is_anonymous' : isPerPerson ? 'owner_id' : ''
  // An owner is either a contact or an episode; grouping by both columns would cost twice as much.
  const ofOwner = isPerPerson ? 'owner_id, any(is_anonymous) AS is_episode' : keys
  const columns = [ofOwner, selection.columns].filter(Boolean).join(', ')
  const groupBy = [keys, selection.groupBy].filter(Boolean).join(', ')
  // In a cluster, the links of all shards are sent to each: counting distinct contacts needs them.
  const links =
    withContacts || valuesOf.length > 0 ? `GLOBAL ANY LEFT JOIN (${linksOf(where)}) AS links USING (owner_id)` : ''
  const values = valuesOf.map((parameter) => joinValues(parameter, CONTACT_OF_EVENT)).join(' ')
  const conditions = [OF_TENANT, ...where.map((condition) => `(${condition})`)]
  const sql = [
    `SELECT ${columns} FROM events ${links} ${values} WHERE ${conditions.join(' AND ')}`,
    renderGroup({ groupBy }),
    renderEnd(selection),
  ].join(' ')
  return where.some(isByOwner) && sql.includes('data_values') ? WITH_DATA_VALUES + sql : sql
}

function renderGroup({ groupBy }: { groupBy?: string | undefined }): string {
  return groupBy ? `GROUP BY ${groupBy}` : ''
}

function renderEnd(end: Pick<EventSelect, 'orderBy' | 'limitBy' | 'limit' | 'offset'>): string {
  const { orderBy, limitBy, limit, offset } = end
  return [
    orderBy ? `ORDER BY ${orderBy}` : '',
    limitBy ? `LIMIT ${Math.trunc(limitBy.rows)} BY ${limitBy.columns}` : '',
    limit === undefined ? '' : `LIMIT ${Math.trunc(limit)}`,
    offset ? `OFFSET ${Math.trunc(offset)}` : '',
  ].join(' ')
}
