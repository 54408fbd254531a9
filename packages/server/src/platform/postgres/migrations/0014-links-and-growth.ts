import { type Kysely, sql } from 'kysely'

/** Invitation links that nobody can look up again, and what it takes to reckon a segment's growth. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A link is shown once, to whoever made it: its digest is enough to find the invitation.
  'ALTER TABLE invitations DROP COLUMN token_sealed',

  // Members that a segment's definition brought or took away, by day (UTC). No event tells of them, so that the number
  // of the days before could not be reckoned back without.
  `CREATE TABLE segment_silent_changes (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    day date NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, day),
    FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE
  )`,
]
