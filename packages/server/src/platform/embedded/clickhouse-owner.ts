import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { newId } from '../ids.ts'
import { EmbeddedError } from './embedded-error.ts'

/** File in the data directory that names the embedded ClickHouse that lives there. */
const ID_FILE = 'clickhouse-id'

/**
 * Makes sure that a PostgreSQL server's events are all in this directory's embedded ClickHouse: two services on one
 * PostgreSQL, each with an embedded ClickHouse of its own, would split the events between them for good.
 * @throws EmbeddedError saying what to do.
 */
export async function requireOwnClickHouse<Tables>(db: Kysely<Tables>, dataDirectory: string): Promise<void> {
  const file = join(dataDirectory, ID_FILE)
  let id = (await readFile(file, 'utf8').catch(() => '')).trim()
  if (id === '') {
    id = newId()
    await writeFile(file, id, { mode: 0o600 })
  }
  const { rows } = await sql<{ clickhouse_id: string }>`
    WITH added AS (INSERT INTO installation (clickhouse_id) VALUES (${id}) ON CONFLICT DO NOTHING RETURNING clickhouse_id)
    SELECT clickhouse_id FROM added UNION ALL SELECT clickhouse_id FROM installation LIMIT 1`.execute(db)
  if (rows[0]?.clickhouse_id === id) return
  const message = `The events of this database are in another embedded ClickHouse than the one in ${dataDirectory}. Several processes on one DATABASE_URL need one ClickHouse server: set CLICKHOUSE_URL. If the other one is gone for good, empty the table installation.`
  throw new EmbeddedError('clickhouse_of_another', message)
}
