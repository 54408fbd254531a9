import { type Kysely, sql } from 'kysely'

/** Identification: visitors' claims, owners of events, the log of links, and fingerprints. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The page's last claim for its visitor. While the visitor is anonymous, no contact has that id yet.
  'ALTER TABLE visitors ADD COLUMN external_contact_id text',
  `CREATE INDEX visitors_unresolved ON visitors (tenant_id, external_contact_id)
    WHERE external_contact_id IS NOT NULL AND contact_id IS NULL`,

  // Append-only log of links: visitor, contact, time, source. It outlives both visitor and contact, so it has no
  // foreign keys; contact_id is null if a deletion unlinked the visitor.
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

  // The contact of an owner's events: the owner is an anonymous episode that was identified, or a contact that was
  // merged into another. ClickHouse has a copy, in which the highest version of a row counts. The contact may have been
  // deleted; its events remain.
  `CREATE TABLE owner_links (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    owner_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, owner_id)
  )`,
  'CREATE INDEX owner_links_contact ON owner_links (tenant_id, contact_id)',

  // Events that ClickHouse never accepts, set aside so that they do not block others.
  `CREATE TABLE refused_events (
    journal_id uuid NOT NULL,
    line integer NOT NULL,
    table_name text NOT NULL,
    row text NOT NULL,
    error text NOT NULL,
    refused_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (journal_id, line)
  )`,

  // The installation whose embedded ClickHouse has the events, if there is one: a single row.
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
