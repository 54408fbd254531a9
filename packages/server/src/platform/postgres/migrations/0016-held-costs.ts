import { type Kysely, sql } from 'kysely'

/** What a run's answers that are under way may cost at most: it counts towards the caps until it is known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE agent_runs ADD COLUMN held_usd numeric NOT NULL DEFAULT 0`.execute(db)
}
