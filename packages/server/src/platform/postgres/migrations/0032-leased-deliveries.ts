import { type Kysely, sql } from 'kysely'

/** Distinguishes claimed deliveries from those that wait for their next attempt. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('ALTER TABLE webhook_queue ADD COLUMN is_leased boolean NOT NULL DEFAULT false').execute(db)
}
