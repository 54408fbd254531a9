/** A MergeTree table, once; rendered as one table for a single server or as two for a cluster. */
export interface TableDefinition {
  name: string
  /** Column definitions, indexes and projections: what stands between the parentheses. */
  elements: readonly string[]
  orderBy: string
  /** Of rows with the same `orderBy` the one with the highest value in this column counts. */
  latestBy?: string
  /** Rows with the same value live on the same shard. */
  shardingKey?: string
  /** Every server of a cluster has all rows, so that each can join them to its own. */
  isEverywhere?: boolean
  settings: Record<string, string | number>
}

/** The table that holds the rows on this server: what updates and deletes must name. */
export function storageTable(table: TableDefinition, cluster: string | null): string {
  return cluster === null || table.isEverywhere ? table.name : `${table.name}_local`
}

/** ` ON CLUSTER …` for statements that every server must run, or nothing. */
export function onCluster(cluster: string | null): string {
  return cluster === null ? '' : ` ON CLUSTER '${cluster}'`
}

/** The idempotent statements that create a table: MergeTree, or Replicated and Distributed with a cluster. */
export function createTableStatements(table: TableDefinition, cluster: string | null): string[] {
  const name = storageTable(table, cluster)
  const kind = table.latestBy === undefined ? 'MergeTree' : 'ReplacingMergeTree'
  const [path, replica] = table.isEverywhere ? ['all', '{shard}-{replica}'] : ['{shard}', '{replica}']
  const place = cluster === null ? [] : [`'/clickhouse/tables/${path}/{database}/${name}'`, `'${replica}'`]
  const version = table.latestBy === undefined ? [] : [table.latestBy]
  const engine = `${cluster === null ? '' : 'Replicated'}${kind}(${[...place, ...version].join(', ')})`
  const settings = Object.entries(settingsFor(table, cluster)).map(([key, value]) => `${key} = ${value}`)
  const storage = [
    `CREATE TABLE IF NOT EXISTS ${name}${onCluster(cluster)} (\n  ${table.elements.join(',\n  ')}\n)`,
    `ENGINE = ${engine}`,
    `ORDER BY ${table.orderBy}`,
    `SETTINGS ${settings.join(', ')}`,
  ].join('\n')
  if (cluster === null || table.isEverywhere) return [storage]
  const distributed = `CREATE TABLE IF NOT EXISTS ${table.name}${onCluster(cluster)} AS ${name}
ENGINE = Distributed('${cluster}', currentDatabase(), '${name}', ${table.shardingKey})`
  return [storage, distributed]
}

/** Replicated tables remember insertion tokens by a setting of another name. */
function settingsFor({ settings }: TableDefinition, cluster: string | null): Record<string, string | number> {
  if (cluster === null) return settings
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [key.replace(/^non_replicated_dedup/, 'replicated_dedup'), value]),
  )
}
