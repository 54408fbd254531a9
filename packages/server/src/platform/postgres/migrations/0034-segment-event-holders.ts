import { type Kysely, sql } from 'kysely'

/** Which contacts have the events that segments ask for, so that a contact's write need not ask ClickHouse. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A contact that has the events of a condition, as often as it asks. Without a foreign key to contacts, because one
  // would lock a contact's row for each of its conditions: whoever deletes a contact deletes these rows.
  `CREATE TABLE segment_event_holders (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    contact_id uuid NOT NULL,
    match_key uuid NOT NULL,
    PRIMARY KEY (tenant_id, contact_id, match_key)
  )`,
  // Conditions that no segment asks any more, and whose holders are to be deleted.
  `CREATE TABLE segment_unused_matches (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    match_key uuid NOT NULL,
    unused_since timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, match_key)
  )`,
  // When a check that is to be repeated was made last: an older answer to an evaluation says less of the contact.
  'ALTER TABLE segment_checks ADD COLUMN checked_at timestamptz',

  // A definition is another one, too, once its first evaluation has found all holders of its conditions.
  `CREATE OR REPLACE FUNCTION hold_segments(tenant uuid) RETURNS text LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_advisory_xact_lock_shared(hashtextextended('segments/' || tenant, 0));
      RETURN (SELECT count(*) || '/' || coalesce(max(revision), 0) || '/' || count(evaluated_at)
        FROM segments WHERE tenant_id = tenant);
    END $$`,
]
