import { type Kysely, sql } from 'kysely'

/** The maximum cost of a run's open model calls, which counts towards the caps until the actual cost is known. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`ALTER TABLE agent_runs ADD COLUMN held_usd numeric NOT NULL DEFAULT 0`.execute(db)
}
