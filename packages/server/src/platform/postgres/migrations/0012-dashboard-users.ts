import { type Kysely, sql } from 'kysely'

/** Sign-in to the dashboard: passwords, second factors, sessions and invitations. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'CREATE INDEX tenant_users_user ON tenant_users (user_id)',

  // A way to sign in: a password (provider_id credential), or an account at the OpenID provider.
  `CREATE TABLE user_accounts (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    provider_id text NOT NULL,
    account_id text NOT NULL,
    password text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamptz,
    refresh_token_expires_at timestamptz,
    scope text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (provider_id, account_id)
  )`,
  'CREATE INDEX user_accounts_user ON user_accounts (user_id)',

  // Without an active tenant, a session can only choose one: it is never switched automatically.
  `CREATE TABLE user_sessions (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    token text NOT NULL UNIQUE,
    active_tenant_id uuid REFERENCES tenants ON DELETE SET NULL,
    expires_at timestamptz NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  'CREATE INDEX user_sessions_user ON user_sessions (user_id)',
  'CREATE INDEX user_sessions_tenant ON user_sessions (active_tenant_id)',
  'CREATE INDEX user_sessions_expiry ON user_sessions (expires_at)',

  // Short-lived state: password resets, second steps of a sign-in, OpenID flows. The identifier is hashed, so that the
  // table alone gives no access.
  `CREATE TABLE user_verifications (
    id uuid PRIMARY KEY,
    identifier text NOT NULL,
    value text NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
  )`,
  'CREATE INDEX user_verifications_identifier ON user_verifications (identifier)',
  'CREATE INDEX user_verifications_expiry ON user_verifications (expires_at)',

  // Secret and backup codes are encrypted with the sign-in secret.
  `CREATE TABLE user_two_factors (
    id uuid PRIMARY KEY,
    user_id uuid NOT NULL UNIQUE REFERENCES users ON DELETE CASCADE,
    secret text NOT NULL,
    backup_codes text NOT NULL,
    verified boolean NOT NULL,
    failed_verification_count integer NOT NULL DEFAULT 0,
    locked_until timestamptz
  )`,

  // An invitation is found by the SHA-256 of its link's token; the token itself is encrypted, so that the link can be
  // shown again to people who may invite.
  `CREATE TABLE invitations (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    invitation_id uuid NOT NULL,
    email text NOT NULL,
    role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
    token_hash bytea NOT NULL UNIQUE,
    token_sealed text NOT NULL,
    invited_by uuid REFERENCES users ON DELETE SET NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, invitation_id),
    UNIQUE (tenant_id, email)
  )`,

  // Secrets that the service generates for itself, encrypted with CDS_SECRET_KEY and shared by all processes.
  `CREATE TABLE service_secrets (
    name text PRIMARY KEY,
    sealed text NOT NULL,
    created_at timestamptz NOT NULL
  )`,
]
