import { type Kysely, sql } from 'kysely'

/**
 * Tenants with their keys and domains; contacts with their sources and notes; companies; visitors; the journal. Every
 * tenant table's primary key starts with tenant_id and every foreign key contains it, so the database itself rejects
 * references across tenants.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const PROPERTY = (key: string) => `properties ->> '${key}'`
/** A btree entry must fit into a third of a page, so sort keys are truncated; ties are broken by id anyway. */
const SORTED = (expression: string) => `left(lower(${expression}), 200)`
const FACET = (key: string) => `'${key}=' || left(${PROPERTY(key)}, 200)`
const SOCIAL_PROFILE = `CASE WHEN coalesce(${PROPERTY('linkedin_url')}, '') NOT IN ('', '[]')
  OR coalesce(${PROPERTY('social_profile_url')}, '') NOT IN ('', '[]') THEN 'has_social_profile' END`
const FACETS = ['lifecyclestage', 'lead_status', 'industry', 'country', 'state', 'city']
  .map(FACET)
  .concat(SOCIAL_PROFILE)
  .join(', ')
const SEARCHED = ['firstname', 'lastname', 'company', 'jobtitle'].map((key) => `coalesce(${PROPERTY(key)}, '')`)

const STATEMENTS = [
  'CREATE EXTENSION IF NOT EXISTS pg_trgm',
  'CREATE EXTENSION IF NOT EXISTS btree_gin',

  `CREATE TABLE tenants (
    tenant_id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL
  )`,

  // The key is named id because the sign-in library requires that in every table.
  `CREATE TABLE users (
    id uuid PRIMARY KEY,
    email text NOT NULL UNIQUE,
    name text NOT NULL,
    email_verified boolean NOT NULL,
    image text,
    two_factor_enabled boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  `CREATE TABLE tenant_users (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    created_at timestamptz NOT NULL,
    -- When the person last switched to this tenant: their next session starts there.
    chosen_at timestamptz,
    PRIMARY KEY (tenant_id, user_id)
  )`,

  `CREATE TABLE api_keys (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    key_id uuid NOT NULL,
    name text NOT NULL,
    key_hash bytea NOT NULL UNIQUE,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    last_used_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, key_id)
  )`,

  `CREATE TABLE domains (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    domain_id uuid NOT NULL,
    domain text NOT NULL,
    txt_value text NOT NULL,
    verified_at timestamptz,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, domain_id),
    UNIQUE (tenant_id, domain)
  )`,
  // Anyone may claim a domain; only one tenant can have it verified.
  'CREATE UNIQUE INDEX domains_verified ON domains (domain) WHERE verified_at IS NOT NULL',

  // Every process caches keys and domains; a change sends a notification at commit.
  `CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('cds_changed', TG_TABLE_NAME);
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER api_keys_changed AFTER INSERT OR DELETE OR
    UPDATE OF key_hash, scopes, expires_at, revoked_at ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,
  `CREATE TRIGGER domains_changed AFTER INSERT OR UPDATE OR DELETE ON domains
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,

  `CREATE TABLE companies (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    company_id uuid NOT NULL,
    domain text,
    name text,
    properties jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, company_id),
    UNIQUE (tenant_id, domain)
  )`,

  `CREATE TABLE contacts (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    contact_id uuid NOT NULL,
    email text,
    external_id text,
    properties jsonb NOT NULL DEFAULT '{}',
    properties_provenance jsonb NOT NULL DEFAULT '{}',
    company_id uuid,
    creation_source text NOT NULL,
    first_seen_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    enriched_at timestamptz,
    facets text[] GENERATED ALWAYS AS (array_remove(ARRAY[${FACETS}], NULL)) STORED,
    search_text text GENERATED ALWAYS AS (lower(coalesce(email, '') || E'\\n' || ${SEARCHED.join(` || E'\\n' || `)})) STORED,
    sort_firstname text GENERATED ALWAYS AS (${SORTED(PROPERTY('firstname'))}) STORED,
    sort_lastname text GENERATED ALWAYS AS (${SORTED(PROPERTY('lastname'))}) STORED,
    sort_company text GENERATED ALWAYS AS (${SORTED(PROPERTY('company'))}) STORED,
    PRIMARY KEY (tenant_id, contact_id),
    UNIQUE (tenant_id, email),
    UNIQUE (tenant_id, external_id),
    FOREIGN KEY (tenant_id, company_id) REFERENCES companies ON DELETE SET NULL (company_id)
  )`,
  'CREATE INDEX contacts_newest ON contacts (tenant_id, created_at, contact_id)',
  'CREATE INDEX contacts_company ON contacts (tenant_id, company_id, created_at) WHERE company_id IS NOT NULL',
  'CREATE INDEX contacts_enriched ON contacts (tenant_id, enriched_at) WHERE enriched_at IS NOT NULL',
  // One GIN answers every combination of exact filters and search words, for one tenant.
  'CREATE INDEX contacts_search ON contacts USING gin (tenant_id, facets, search_text gin_trgm_ops)',
  // Lists read these indexes, and the unique index of email, in both directions.
  ...['firstname', 'lastname', 'company'].map(
    (key) => `CREATE INDEX contacts_by_${key} ON contacts (tenant_id, sort_${key}, contact_id)`,
  ),

  // The exact number of a tenant's contacts without counting, maintained by triggers. Sixteen counters per tenant,
  // because with one, every writer of the tenant would wait for the previous one.
  `CREATE TABLE contact_counts (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    counter smallint NOT NULL,
    contacts bigint NOT NULL,
    PRIMARY KEY (tenant_id, counter)
  ) WITH (fillfactor = 50)`,
  `CREATE FUNCTION count_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO contact_counts (tenant_id, counter, contacts)
        SELECT tenant_id, pg_backend_pid() % 16, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
        FROM changed
        -- A cascade from a deleted tenant must not give it a counter again.
        WHERE EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = changed.tenant_id)
        GROUP BY tenant_id
        ORDER BY tenant_id
      ON CONFLICT (tenant_id, counter) DO UPDATE SET contacts = contact_counts.contacts + excluded.contacts;
      RETURN NULL;
    END $$`,
  `CREATE TRIGGER contacts_inserted AFTER INSERT ON contacts REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_contacts()`,
  `CREATE TRIGGER contacts_deleted AFTER DELETE ON contacts REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION count_contacts()`,

  // Each source's own latest record of a contact: fields is {key: {value, updated_at}}.
  `CREATE TABLE contact_sources (
    tenant_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    source text NOT NULL,
    kind text NOT NULL,
    external_id text,
    fields jsonb NOT NULL DEFAULT '{}',
    raw json,
    first_seen_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    synced_at timestamptz,
    enriched_at timestamptz,
    PRIMARY KEY (tenant_id, contact_id, source),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
  )`,
  `CREATE UNIQUE INDEX contact_sources_external ON contact_sources (tenant_id, source, external_id)
    WHERE external_id IS NOT NULL`,

  `CREATE TABLE notes (
    tenant_id uuid NOT NULL,
    note_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    content text NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, note_id),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
  )`,
  'CREATE INDEX notes_newest ON notes (tenant_id, contact_id, created_at, note_id)',

  // No foreign key to tenants: the collector inserts hundreds of visitors for a tenant that it has just looked up, and
  // the check would cost more than the insertion. A trigger cleans up after a deleted tenant.
  `CREATE TABLE visitors (
    tenant_id uuid NOT NULL,
    visitor_id text NOT NULL,
    contact_id uuid,
    -- Rises when the visitor is unlinked from a contact: what it does from then on is a new episode.
    episode integer NOT NULL DEFAULT 0,
    -- How the episode began: its earliest event, and its earliest page.
    first_seen_at timestamptz,
    first_page_at timestamptz,
    first_url text,
    first_referrer text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, visitor_id),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
  )`,
  'CREATE INDEX visitors_contact ON visitors (tenant_id, contact_id) WHERE contact_id IS NOT NULL',

  `CREATE FUNCTION forget_visitors() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM visitors WHERE tenant_id = OLD.tenant_id;
      RETURN OLD;
    END $$`,
  `CREATE TRIGGER tenants_deleted AFTER DELETE ON tenants FOR EACH ROW EXECUTE FUNCTION forget_visitors()`,

  // The event ids that callers chose, so that a repeated batch is recorded once. Three tables rotate daily: today's is
  // written, yesterday's read, tomorrow's emptied, so expiry is a TRUNCATE instead of a vacuum.
  ...[0, 1, 2].map(
    (turn) => `CREATE TABLE event_ids_${turn} (
    tenant_id uuid NOT NULL,
    event_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
  )`,
  ),

  // Accepted events that are not yet in ClickHouse. A row has the events of many requests and tenants, in exactly the
  // bytes to send to ClickHouse. Rows with the same batch_id are inserted together.
  `CREATE TABLE journal (
    journal_id uuid PRIMARY KEY,
    table_name text NOT NULL DEFAULT 'events',
    created_at timestamptz NOT NULL DEFAULT now(),
    tenant_ids uuid[] NOT NULL,
    row_count integer NOT NULL,
    rows text NOT NULL,
    batch_id uuid
  )`,
  'CREATE INDEX journal_by_batch ON journal (batch_id, journal_id)',
  'ALTER TABLE journal ALTER COLUMN rows SET STORAGE EXTERNAL',
]
