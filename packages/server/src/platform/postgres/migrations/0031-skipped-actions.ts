import { type Kysely, sql } from 'kysely'

/** Actions that a run did not propose, because the same one already awaits approval. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'ALTER TABLE agent_runs ADD COLUMN actions_skipped integer NOT NULL DEFAULT 0',
  // A list of {type, reason, run_id, action_index}.
  `ALTER TABLE agent_run_contacts ADD COLUMN skipped_actions jsonb NOT NULL DEFAULT '[]'`,
]
