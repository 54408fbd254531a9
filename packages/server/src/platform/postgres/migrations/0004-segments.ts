import { type Kysely, sql } from 'kysely'

/** Segments and who is in them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `CREATE TABLE segments (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    segment_id uuid NOT NULL,
    name text NOT NULL,
    description text,
    filter jsonb NOT NULL,
    uses_events boolean NOT NULL,
    uses_time boolean NOT NULL,
    evaluated_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, segment_id)
  )`,
  'CREATE INDEX segments_newest ON segments (tenant_id, created_at, segment_id)',
  // Every process caches the definitions.
  `CREATE TRIGGER segments_changed AFTER INSERT OR DELETE OR UPDATE OF filter ON segments
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,

  `CREATE TABLE segment_members (
    tenant_id uuid NOT NULL,
    segment_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    entered_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, contact_id),
    FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
  )`,
  'CREATE INDEX segment_members_contact ON segment_members (tenant_id, contact_id)',

  // Sixteen counters a segment, kept by the database itself, for the reason that contact_counts has as many.
  `CREATE TABLE segment_counts (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    segment_id uuid NOT NULL,
    counter smallint NOT NULL,
    contacts bigint NOT NULL,
    PRIMARY KEY (tenant_id, segment_id, counter)
  ) WITH (fillfactor = 50)`,
  `CREATE FUNCTION count_members() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO segment_counts (tenant_id, segment_id, counter, contacts)
        SELECT tenant_id, segment_id, pg_backend_pid() % 16, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
        FROM changed
        -- A cascade from a deleted segment must not give it a counter again.
        WHERE EXISTS (SELECT FROM segments
          WHERE segments.tenant_id = changed.tenant_id AND segments.segment_id = changed.segment_id)
        GROUP BY tenant_id, segment_id
        ORDER BY tenant_id, segment_id
      ON CONFLICT (tenant_id, segment_id, counter) DO UPDATE SET contacts = segment_counts.contacts + excluded.contacts;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER members_entered AFTER INSERT ON segment_members REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_members()`,
  `CREATE TRIGGER members_exited AFTER DELETE ON segment_members REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_members()`,
  `CREATE FUNCTION forget_segment() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM segment_counts WHERE tenant_id = OLD.tenant_id AND segment_id = OLD.segment_id;
      RETURN OLD;
    END $$`,
  `CREATE TRIGGER segments_deleted AFTER DELETE ON segments FOR EACH ROW EXECUTE FUNCTION forget_segment()`,

  // Contacts that something happened to: their segments are to be looked at again.
  `CREATE TABLE segment_checks (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    contact_id uuid NOT NULL,
    not_before timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, contact_id)
  )`,
  'CREATE INDEX segment_checks_due ON segment_checks (not_before)',
]
