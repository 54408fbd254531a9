import { type Kysely, sql } from 'kysely'

/** Saved views of the dashboard, and its two long-running tasks: erasures and exports. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `CREATE TABLE saved_views (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    view_id uuid NOT NULL,
    name text NOT NULL,
    page text NOT NULL CHECK (page IN ('contacts', 'companies', 'events')),
    query jsonb NOT NULL,
    columns text[] NOT NULL,
    created_by jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, view_id),
    UNIQUE (tenant_id, page, name)
  )`,

  // \`subject\` is what the erasure searches for; it is deleted when nothing is left to find. Only the receipt stays:
  // counts, and a salted hash of the e-mail address, by which a known address can be recognised.
  `CREATE TABLE erasures (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    erasure_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('running', 'erased', 'verified')),
    subject jsonb,
    email_salt text,
    email_hash text,
    removed jsonb NOT NULL DEFAULT '{}',
    requested_by jsonb NOT NULL,
    requested_at timestamptz NOT NULL,
    erased_at timestamptz,
    verified_at timestamptz,
    PRIMARY KEY (tenant_id, erasure_id),
    UNIQUE (tenant_id, contact_id),
    CHECK ((status = 'verified') = (subject IS NULL))
  )`,
  'CREATE INDEX erasures_newest ON erasures (tenant_id, requested_at DESC, erasure_id DESC)',

  // \`file\` is a file name in the data directory; null before it is ready and after it has expired.
  `CREATE TABLE exports (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    export_id uuid NOT NULL,
    status text NOT NULL CHECK (status IN ('queued', 'running', 'ready', 'failed', 'expired')),
    progress real NOT NULL DEFAULT 0,
    file text,
    size_bytes bigint,
    counts jsonb NOT NULL DEFAULT '{}',
    error text,
    requested_by jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    expires_at timestamptz,
    PRIMARY KEY (tenant_id, export_id)
  )`,
  'CREATE INDEX exports_newest ON exports (tenant_id, created_at DESC, export_id DESC)',
  'CREATE INDEX exports_expiring ON exports (expires_at) WHERE file IS NOT NULL',
]
