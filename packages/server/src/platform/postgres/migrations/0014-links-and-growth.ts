import { type Kysely, sql } from 'kysely'

/** Invitation links that cannot be shown again, and data to compute a segment's growth. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A link is shown once, to its creator: its digest is enough to find the invitation.
  'ALTER TABLE invitations DROP COLUMN token_sealed',

  // Members added or removed by a segment's definition, by day (UTC). They have no events, so earlier numbers could not
  // be computed backwards without this table.
  `CREATE TABLE segment_silent_changes (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    day date NOT NULL,
    members bigint NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, day),
    FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE
  )`,
]
