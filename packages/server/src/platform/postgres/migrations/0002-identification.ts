import { type Kysely, sql } from 'kysely'

/** Who is who: what visitors claim to be, the log of links, events still to be moved, and fingerprints. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // What the page last said of its visitor. While the visitor is anonymous, nobody has that id yet.
  'ALTER TABLE visitors ADD COLUMN external_contact_id text',
  `CREATE INDEX visitors_unresolved ON visitors (tenant_id, external_contact_id)
    WHERE external_contact_id IS NOT NULL AND contact_id IS NULL`,

  // Append-only: who was linked to whom, when, by which source. It outlives both visitor and contact, so it refers to
  // neither; contact_id is null where a deletion unlinked.
  `CREATE TABLE identity_links (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    link_id uuid NOT NULL,
    visitor_id text NOT NULL,
    contact_id uuid,
    previous_contact_id uuid,
    source text NOT NULL,
    linked_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, link_id)
  )`,
  'CREATE INDEX identity_links_visitor ON identity_links (tenant_id, visitor_id, link_id)',
  'CREATE INDEX identity_links_contact ON identity_links (tenant_id, contact_id, link_id)',
  `CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME;
    END $$`,
  `CREATE TRIGGER identity_links_append_only BEFORE UPDATE ON identity_links
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()`,

  // A visitor's anonymous events that ClickHouse may still hold: those received after received_after and, where the
  // visitor has been unlinked since, not after received_until.
  `CREATE TABLE visitor_moves (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    move_id uuid NOT NULL,
    visitor_id text NOT NULL,
    contact_id uuid NOT NULL,
    received_after timestamptz,
    received_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    next_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, move_id)
  )`,
  'CREATE INDEX visitor_moves_due ON visitor_moves (next_at)',
  'CREATE INDEX visitor_moves_visitor ON visitor_moves (tenant_id, visitor_id)',

  // Events that ClickHouse does not take whatever is tried: set aside so that they hold up no others, for a person to see.
  `CREATE TABLE refused_events (
    journal_id uuid NOT NULL,
    line integer NOT NULL,
    row text NOT NULL,
    error text NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (journal_id, line)
  )`,

  // Whose embedded ClickHouse holds the events, where there is one: a single row.
  `CREATE TABLE installation (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    clickhouse_id uuid NOT NULL
  )`,

  `CREATE TABLE fingerprints (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    fingerprint bytea NOT NULL,
    visitor_id text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, fingerprint)
  )`,
]
