import { setTimeout as sleep } from 'node:timers/promises'
import type { ClickHouse } from './connect.ts'
import type { QueryParameters } from './parameters.ts'
import { onCluster, storageTable, type TableDefinition } from './tables.ts'

/** First delay before checking whether a deletion is done; it doubles up to the maximum below. */
const CHECK_AFTER_MS = 20
const CHECK_INTERVAL_MS_MAX = 5_000
/** First delay before the deletion is issued again; it doubles each time. */
const RETRY_AFTER_MS = 2_000

/** Where an erasure deletes. */
export interface Deletion {
  clickhouse: ClickHouse
  /** If set, deletions name its storage tables. */
  cluster: string | null
}

/**
 * Deletes rows with a mutation, which rewrites their parts: a lightweight deletion would leave them in the projections.
 * It takes minutes for many millions of events, so no connection waits for it. It is issued repeatedly, because an
 * operator may kill it and it does not include rows that arrive later.
 * @returns the number of rows deleted.
 */
export async function deleteRows(
  { clickhouse, cluster }: Deletion,
  table: TableDefinition,
  conditions: string,
  parameters: QueryParameters,
): Promise<number> {
  const count = async () => {
    const sql = `SELECT count() AS count FROM ${table.name} WHERE ${conditions}`
    const [row] = await clickhouse.query<{ count: number }>(sql, parameters)
    return Number(row?.count ?? 0)
  }
  const found = await count()
  if (found === 0) return 0
  const storage = `${storageTable(table, cluster)}${onCluster(cluster)}`
  const deletion = `ALTER TABLE ${storage} DELETE WHERE ${conditions} SETTINGS mutations_sync = 0`
  let [waited, issueAt, retryAfter] = [0, 0, RETRY_AFTER_MS]
  for (
    let pause = CHECK_AFTER_MS;
    waited === 0 || (await count()) > 0;
    pause = Math.min(2 * pause, CHECK_INTERVAL_MS_MAX)
  ) {
    if (waited >= issueAt) {
      await clickhouse.command(deletion, parameters)
      issueAt = waited + retryAfter
      retryAfter *= 2
    }
    await sleep(pause)
    waited += pause
  }
  return found
}
