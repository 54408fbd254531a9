import { createHash } from 'node:crypto'
import { DAY_SECONDS } from '../time.ts'
import type { ClickHouse } from './connect.ts'

/** A MergeTree table, rendered as one table for a single server or as two for a cluster. */
export interface TableDefinition {
  name: string
  /** Column definitions, indexes and projections: the content of the parentheses. */
  elements: readonly string[]
  /**
   * The columns that the table of an earlier version lacks: `addColumns` adds them. Its rows have their default values, which
   * ClickHouse computes when it reads them, and writes down when it merges their part.
   */
  added?: readonly string[]
  /** The settings that it lacks. They apply to what is written from then on. */
  addedSettings?: Readonly<Record<string, string | number>>
  orderBy: string
  /** Of rows with the same `orderBy`, the one with the highest value in this column counts. */
  latestBy?: string
  /** Rows with the same value are on the same shard. */
  shardingKey: string
  /** When rows are deleted: a time of each. All of them can be computed again, so a start creates the table if it is missing. */
  expiresAt?: string
  settings: Record<string, string | number>
}

/** The table with the rows on this server, which deletions must name. */
export function storageTable(table: TableDefinition, cluster: string | null): string {
  return cluster === null ? table.name : `${table.name}_local`
}

/** ` ON CLUSTER …` for statements that every server must run, or nothing. */
export function onCluster(cluster: string | null): string {
  return cluster === null ? '' : ` ON CLUSTER '${cluster}'`
}

/** Begins the comment of every table of ours; the hash of the statements that created it follows. */
const COMMENT = 'Customer Data Service '

function commentOf(table: TableDefinition, cluster: string | null): string {
  const hash = createHash('sha256').update(definitionOf(table, cluster).join('\n')).digest('hex')
  return COMMENT + hash.slice(0, 32)
}

/** The tables with our names that other statements have created: of another version, or for another cluster. */
export async function unknownTables(
  clickhouse: ClickHouse,
  tables: readonly TableDefinition[],
  cluster: string | null,
): Promise<string[]> {
  const comments = await commentsOf(clickhouse)
  return tables.flatMap((table) => {
    const known = [commentOf(table, cluster), commentOf(earlierVersion(table), cluster)]
    return namesOf(table, cluster).filter((name) => comments.has(name) && !known.includes(comments.get(name) ?? ''))
  })
}

/** A table's own name, and in a cluster that of its storage. */
function namesOf(table: TableDefinition, cluster: string | null): string[] {
  return [...new Set([table.name, storageTable(table, cluster)])]
}

/** A table as an earlier version created it. */
export function earlierVersion(table: TableDefinition): TableDefinition {
  const { added = [], addedSettings: _, ...earlier } = table
  return { ...earlier, elements: table.elements.filter((element) => !added.includes(titleOf(element))) }
}

/**
 * Adds the columns that the tables of an earlier version lack. It takes no time, because no row is rewritten. The comment
 * changes last, so that a start after an interruption completes it.
 */
export async function addColumns(
  clickhouse: ClickHouse,
  tables: readonly TableDefinition[],
  cluster: string | null,
): Promise<void> {
  const comments = await commentsOf(clickhouse)
  for (const table of tables) {
    const columns = table.elements.filter((element) => table.added?.includes(titleOf(element)))
    const [earlier, current] = [commentOf(earlierVersion(table), cluster), commentOf(table, cluster)]
    // The storage first: the table over it reads its columns.
    for (const name of namesOf(table, cluster).reverse()) {
      if (columns.length === 0 || comments.get(name) !== earlier) continue
      const additions = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(', ')
      await clickhouse.command(`ALTER TABLE ${name}${onCluster(cluster)} ${additions}`)
      if (table.addedSettings && name === storageTable(table, cluster)) {
        const settings = assignmentsOf(table.addedSettings)
        await clickhouse.command(`ALTER TABLE ${name}${onCluster(cluster)} MODIFY SETTING ${settings}`)
      }
      await clickhouse.command(`ALTER TABLE ${name}${onCluster(cluster)} MODIFY COMMENT '${current}'`)
    }
  }
}

/** A table of ours, or a part of one. */
interface TablePart {
  kind: 'table' | 'column' | 'index' | 'projection'
  /** Such as `events`, or `events.url` for a part. */
  name: string
}

/** A part for a message, such as `the column events.url`. */
export function describePart({ kind, name }: TablePart): string {
  return `the ${kind} ${name}`
}

/** The tables that ClickHouse lacks, and the parts that tables lack. */
export async function missingTables(
  clickhouse: ClickHouse,
  tables: readonly TableDefinition[],
  cluster: string | null,
): Promise<TablePart[]> {
  const rows = await clickhouse.query<{ name: string; definition: string }>(
    'SELECT name, create_table_query AS definition FROM system.tables WHERE database = currentDatabase()',
  )
  const found = new Map(rows.map(({ name, definition }) => [name, definition]))
  return tables.flatMap((table) =>
    namesOf(table, cluster).flatMap((name): TablePart[] => {
      const definition = found.get(name)
      if (definition === undefined) return [{ kind: 'table', name }]
      return table.elements.flatMap((element) => {
        const { kind, beginning } = beginningOf(element)
        // Only the table with the rows has indexes and projections.
        const isElsewhere = kind !== 'column' && name !== storageTable(table, cluster)
        return isElsewhere || definition.includes(beginning) ? [] : [{ kind, name: `${name}.${titleOf(element)}` }]
      })
    }),
  )
}

/** What an element of a table is, and how ClickHouse's own definition of the table writes its beginning. */
function beginningOf(element: string): { kind: TablePart['kind']; beginning: string } {
  const title = titleOf(element)
  if (element.startsWith('INDEX ')) return { kind: 'index', beginning: `INDEX ${title} ` }
  if (element.startsWith('PROJECTION ')) return { kind: 'projection', beginning: `PROJECTION ${title} ` }
  return { kind: 'column', beginning: `\`${title}\` ` }
}

/** The name of a column, an index or a projection. */
function titleOf(element: string): string {
  const [first = '', second = ''] = element.split(' ')
  return first === 'INDEX' || first === 'PROJECTION' ? second : first
}

/** The comment of each table. */
async function commentsOf(clickhouse: ClickHouse): Promise<Map<string, string>> {
  const found = 'SELECT name, comment FROM system.tables WHERE database = currentDatabase()'
  const rows = await clickhouse.query<{ name: string; comment: string }>(found)
  return new Map(rows.map(({ name, comment }) => [name, comment]))
}

/**
 * Creates missing tables. In a cluster, an ON CLUSTER statement waits for a server that is down, so none is sent if
 * nothing is missing: the service must start even then.
 */
export async function createMissingTables(
  clickhouse: ClickHouse,
  tables: readonly TableDefinition[],
  cluster: string | null,
): Promise<void> {
  const names = await commentsOf(clickhouse)
  for (const table of tables) {
    if (names.has(table.name) && names.has(storageTable(table, cluster))) continue
    for (const statement of createTableStatements(table, cluster)) await clickhouse.command(statement)
  }
}

/** The idempotent statements that create a table: MergeTree, or Replicated and Distributed with a cluster. */
export function createTableStatements(table: TableDefinition, cluster: string | null): string[] {
  return definitionOf(table, cluster).map((statement) => `${statement}\nCOMMENT '${commentOf(table, cluster)}'`)
}

function definitionOf(table: TableDefinition, cluster: string | null): string[] {
  const name = storageTable(table, cluster)
  const kind = table.latestBy === undefined ? 'MergeTree' : 'ReplacingMergeTree'
  const place = cluster === null ? [] : [`'/clickhouse/tables/{shard}/{database}/${name}'`, `'{replica}'`]
  const version = table.latestBy === undefined ? [] : [table.latestBy]
  const engine = `${cluster === null ? '' : 'Replicated'}${kind}(${[...place, ...version].join(', ')})`
  const storage = [
    `CREATE TABLE IF NOT EXISTS ${name}${onCluster(cluster)} (\n  ${table.elements.join(',\n  ')}\n)`,
    `ENGINE = ${engine}`,
    `ORDER BY ${table.orderBy}`,
    ...(table.expiresAt === undefined ? [] : [`TTL ${table.expiresAt}`]),
    `SETTINGS ${assignmentsOf({ ...settingsFor(table, cluster), ...table.addedSettings })}`,
  ].join('\n')
  if (cluster === null) return [storage]
  const distributed = `CREATE TABLE IF NOT EXISTS ${table.name}${onCluster(cluster)} AS ${name}
ENGINE = Distributed('${cluster}', currentDatabase(), '${name}', ${table.shardingKey})`
  return [storage, distributed]
}

function assignmentsOf(settings: Readonly<Record<string, string | number>>): string {
  return Object.entries(settings)
    .map(([key, value]) => `${key} = ${value}`)
    .join(', ')
}

/**
 * By default, a replicated table drops an insertion's token after an hour, and a batch whose response was lost would be
 * recorded twice if ClickHouse was down for longer.
 */
const TOKENS_KEPT_SECONDS = 30 * DAY_SECONDS

/** Replicated tables have different settings for insertion tokens. */
function settingsFor({ settings }: TableDefinition, cluster: string | null): Record<string, string | number> {
  const { non_replicated_deduplication_window: tokens, ...others } = settings
  if (cluster === null || tokens === undefined) return settings
  return {
    ...others,
    replicated_deduplication_window: tokens,
    replicated_deduplication_window_seconds: TOKENS_KEPT_SECONDS,
  }
}
