import { type Kysely, sql } from 'kysely'

/** The contacts that meet segments' event conditions, so that a write to a contact need not query ClickHouse. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A contact that meets an event condition. No foreign key to contacts, because it would lock a contact's row for each
  // of its conditions; code that deletes a contact deletes these rows.
  `CREATE TABLE segment_event_holders (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    contact_id uuid NOT NULL,
    match_key uuid NOT NULL,
    PRIMARY KEY (tenant_id, contact_id, match_key)
  )`,
  // Conditions that no segment uses any more, whose rows must be deleted.
  `CREATE TABLE segment_unused_matches (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    match_key uuid NOT NULL,
    unused_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, match_key)
  )`,
  // The last time of a check that will be repeated: an evaluation with an older answer must skip the contact.
  'ALTER TABLE segment_checks ADD COLUMN checked_at timestamptz',

  // A definition also changes once its first evaluation has found all contacts that meet its conditions.
  `CREATE OR REPLACE FUNCTION hold_segments(tenant uuid) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(hashtextextended('segments/' || tenant, 0));
      RETURN (SELECT count(*) || '/' || coalesce(max(revision), 0) || '/' || count(evaluated_at)
        FROM segments WHERE tenant_id = tenant);
    END $$`,
]
