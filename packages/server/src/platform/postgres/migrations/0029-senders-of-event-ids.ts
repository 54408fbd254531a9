import { type Kysely, sql } from 'kysely'

/**
 * Stores the sender of each event id. `key` is the event's id, or a hash of sender and id: see journal/sent-ids.ts.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const turn of [0, 1, 2]) {
    const table = sql.table(`event_ids_${turn}`)
    await sql`TRUNCATE ${table}`.execute(db)
    await sql`ALTER TABLE ${table} RENAME COLUMN event_id TO key`.execute(db)
    await sql`ALTER TABLE ${table} ADD COLUMN sender uuid NOT NULL`.execute(db)
  }
}
