import { type Kysely, sql } from 'kysely'

/** Tells a delivery that a worker has from one that waits for its next attempt. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE webhook_queue ADD COLUMN is_leased boolean NOT NULL DEFAULT false').execute(db)
}
