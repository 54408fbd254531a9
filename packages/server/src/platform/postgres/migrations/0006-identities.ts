import { type Kysely, sql } from 'kysely'

/** Identities and the audit log. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  `CREATE TABLE identities (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    identity_id uuid NOT NULL,
    first_name text NOT NULL,
    last_name text NOT NULL,
    role text NOT NULL,
    job_title text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, identity_id)
  )`,

  // An identity's mailbox. \`sealed\` contains the passwords or tokens; the other columns are visible to users.
  // \`verified_at\` is the time of the last log-in that both servers accepted.
  `CREATE TABLE email_accounts (
    tenant_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    address text NOT NULL,
    settings jsonb NOT NULL,
    sealed text NOT NULL,
    daily_limit integer NOT NULL,
    spacing_seconds integer NOT NULL,
    verified_at timestamptz,
    error text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, identity_id),
    FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE CASCADE
  )`,

  // Suppressed addresses, with the reason.
  `CREATE TABLE email_suppressions (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    address text NOT NULL,
    reason text NOT NULL CHECK (reason IN ('unsubscribed', 'bounced', 'complained', 'manual')),
    details text,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, address)
  )`,

  // Every decision and change of configuration: rows are added and never changed.
  `CREATE TABLE audit_log (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    entry_id uuid NOT NULL,
    at timestamptz NOT NULL,
    actor jsonb NOT NULL,
    action text NOT NULL,
    subject_kind text NOT NULL,
    subject_id text,
    details jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, entry_id)
  )`,
  'CREATE INDEX audit_log_newest ON audit_log (tenant_id, at DESC, entry_id DESC)',
  'CREATE INDEX audit_log_subject ON audit_log (tenant_id, subject_kind, subject_id, at DESC)',
  `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      -- Rows go only with their tenant.
      IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM tenants WHERE tenant_id = OLD.tenant_id) THEN
        RETURN OLD;
      END IF;
      RAISE EXCEPTION 'the audit log is append-only';
    END $$`,
  `CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
    FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()`,
  `CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()`,
]
