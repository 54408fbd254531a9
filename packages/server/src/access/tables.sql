-- Every tenant table's primary key starts with tenant_id and every foreign key contains it, so the database itself
-- rejects references across tenants.
CREATE TABLE tenants (
  tenant_id uuid PRIMARY KEY,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  -- In which times are shown: an IANA name.
  time_zone text NOT NULL DEFAULT 'UTC',
  -- Properties that are hidden from AI agents, besides those that are personal for everyone.
  personal_properties text[] NOT NULL DEFAULT '{}',
  -- Properties that AI agents see, although their names or their values look personal.
  visible_properties text[] NOT NULL DEFAULT '{}',
  -- While it is closed, nobody uses it but its owners. It will be deleted at the second time, unless they reopen it.
  closed_at timestamptz,
  deletes_at timestamptz,
  -- The kind and the id of who closed it.
  closed_by jsonb,
  CHECK ((closed_at IS NULL) = (deletes_at IS NULL) AND (closed_at IS NULL) = (closed_by IS NULL))
);
CREATE INDEX tenants_closed ON tenants (deletes_at) WHERE deletes_at IS NOT NULL;

-- People. The key is named id because the sign-in library requires that in every table. An address has one verified
-- account, plus one for each tenant that vouches for it.
CREATE TABLE users (
  id uuid PRIMARY KEY,
  email text NOT NULL,
  name text NOT NULL,
  email_verified boolean NOT NULL,
  image text,
  two_factor_enabled boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  -- The tenant whose invitation created an account with an unverified address. No other tenant accepts it.
  vouched_by uuid REFERENCES tenants ON DELETE SET NULL,
  -- The email address for the sign-in library, which expects unique addresses and finds the account of a provider's
  -- profile by them: it must only find the verified one.
  sign_in_email text NOT NULL UNIQUE
    GENERATED ALWAYS AS (CASE WHEN email_verified THEN email ELSE id::text || '@unverified.invalid' END) STORED,
  UNIQUE (email, vouched_by)
);
CREATE INDEX users_vouched_by ON users (vouched_by);

CREATE TABLE tenant_users (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  created_at timestamptz NOT NULL,
  -- When the person last switched to this tenant: their next session starts there.
  chosen_at timestamptz,
  PRIMARY KEY (tenant_id, user_id)
);
CREATE INDEX tenant_users_user ON tenant_users (user_id);

-- A way to sign in: a password (provider_id credential), or an account at the OpenID provider.
CREATE TABLE user_accounts (
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
);
CREATE INDEX user_accounts_user ON user_accounts (user_id);

-- Without an active tenant, a session can only choose one: it is never switched automatically.
CREATE TABLE user_sessions (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  token text NOT NULL UNIQUE,
  active_tenant_id uuid REFERENCES tenants ON DELETE SET NULL,
  expires_at timestamptz NOT NULL,
  ip_address text,
  user_agent text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_sessions_user ON user_sessions (user_id);
CREATE INDEX user_sessions_tenant ON user_sessions (active_tenant_id);
CREATE INDEX user_sessions_expiry ON user_sessions (expires_at);

-- Short-lived state: password resets, second steps of a sign-in, OpenID flows. The identifier is hashed, so that the
-- table alone gives no access.
CREATE TABLE user_verifications (
  id uuid PRIMARY KEY,
  identifier text NOT NULL,
  value text NOT NULL,
  expires_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX user_verifications_identifier ON user_verifications (identifier);
CREATE INDEX user_verifications_expiry ON user_verifications (expires_at);

-- Secret and backup codes are encrypted with the sign-in secret.
CREATE TABLE user_two_factors (
  id uuid PRIMARY KEY,
  user_id uuid NOT NULL UNIQUE REFERENCES users ON DELETE CASCADE,
  secret text NOT NULL,
  backup_codes text NOT NULL,
  verified boolean NOT NULL,
  failed_verification_count integer NOT NULL DEFAULT 0,
  locked_until timestamptz
);

-- Used second-factor codes, kept longer than they would be accepted.
CREATE TABLE user_used_codes (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  code text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, code)
);
CREATE INDEX user_used_codes_expiry ON user_used_codes (expires_at);

-- The networks that a person has signed in from, and the wrong codes from each. All other networks share one row with
-- the network 0.0.0.0/0.
CREATE TABLE user_networks (
  user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
  network cidr NOT NULL,
  wrong_codes integer NOT NULL DEFAULT 0,
  locked_until timestamptz,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (user_id, network)
);
CREATE INDEX user_networks_seen ON user_networks (seen_at);

-- The service's own mail of the last hour, counted by address, sender and tenant.
CREATE TABLE sent_mails (
  counted_for text NOT NULL,
  sent_at timestamptz NOT NULL
);
CREATE INDEX sent_mails_counted ON sent_mails (counted_for, sent_at);
CREATE INDEX sent_mails_sent ON sent_mails (sent_at);

-- Secrets that the service generates for itself, encrypted with CDS_SECRET_KEY and shared by all processes.
CREATE TABLE service_secrets (
  name text PRIMARY KEY,
  sealed text NOT NULL,
  created_at timestamptz NOT NULL
);

CREATE TABLE api_keys (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  key_id uuid NOT NULL,
  name text NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  scopes text[] NOT NULL,
  -- Whether AI agents that use the key over MCP see pseudonyms in place of personal data.
  redacts boolean NOT NULL DEFAULT true,
  -- Whether the key works only over MCP, because the API would show what it must hide.
  mcp_only boolean NOT NULL DEFAULT false,
  -- The names of the tools that it may use over MCP, or `all`.
  tools text[] NOT NULL DEFAULT '{all}',
  created_at timestamptz NOT NULL,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz,
  PRIMARY KEY (tenant_id, key_id),
  CHECK (redacts OR NOT mcp_only)
);

-- Applications that registered themselves to act for people over MCP. They belong to no tenant, and nothing proves that
-- their names are true.
CREATE TABLE oauth_clients (
  client_id uuid PRIMARY KEY,
  name text NOT NULL,
  redirect_uris text[] NOT NULL,
  created_at timestamptz NOT NULL,
  -- When a person last allowed it to act for them.
  authorized_at timestamptz
);
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE authorized_at IS NULL;

-- What a person allowed an application to do in a tenant. It ends with their membership.
CREATE TABLE oauth_grants (
  tenant_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  user_id uuid NOT NULL,
  client_id uuid NOT NULL REFERENCES oauth_clients ON DELETE CASCADE,
  -- The name and the place to return to that the person saw.
  client_name text NOT NULL,
  redirect_host text NOT NULL,
  -- The most that it may do: a call may also do no more than the person's role.
  scopes text[] NOT NULL,
  redacts boolean NOT NULL DEFAULT true,
  -- The names of the tools that it may use, or `all`.
  tools text[] NOT NULL DEFAULT '{all}',
  created_at timestamptz NOT NULL,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- The SHA-256 of what its refresh tokens begin with: it reveals one that was used, even if that was deleted since.
  family_hash bytea UNIQUE,
  PRIMARY KEY (tenant_id, grant_id),
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_users ON DELETE CASCADE
);
CREATE INDEX oauth_grants_person ON oauth_grants (tenant_id, user_id);
CREATE INDEX oauth_grants_client ON oauth_grants (client_id);

-- The codes and tokens of grants, found by their SHA-256. Used ones are kept until they would have expired, because a
-- second use reveals a theft.
CREATE TABLE oauth_tokens (
  tenant_id uuid NOT NULL,
  token_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('code', 'access', 'refresh')),
  token_hash bytea NOT NULL UNIQUE,
  -- Of a code: what the exchange must prove and repeat.
  code_challenge text,
  redirect_uri text,
  -- Of an access or a refresh token: the code or refresh token that was exchanged for it, and the id of the exchange.
  -- After a lost response, a token is exchanged again, so it may be the parent of tokens from several exchanges.
  parent_id uuid,
  exchange_id uuid,
  expires_at timestamptz NOT NULL,
  used_at timestamptz,
  -- When the application went on with another exchange of the same parent, or with a token that this one led to.
  ended_at timestamptz,
  PRIMARY KEY (tenant_id, token_id),
  FOREIGN KEY (tenant_id, grant_id) REFERENCES oauth_grants ON DELETE CASCADE,
  CHECK ((kind = 'code') = (code_challenge IS NOT NULL AND redirect_uri IS NOT NULL)),
  CHECK ((kind = 'code') = (parent_id IS NULL AND exchange_id IS NULL))
);
CREATE INDEX oauth_tokens_grant ON oauth_tokens (tenant_id, grant_id);
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at);

-- An invitation is found by the SHA-256 of its link's token.
CREATE TABLE invitations (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  invitation_id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  token_hash bytea NOT NULL UNIQUE,
  -- The person or the API key that created the link; both are null if the operator did.
  invited_by uuid REFERENCES users ON DELETE SET NULL,
  invited_by_key uuid,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Whether the link was only mailed, so that opening it verifies the address.
  proves_address boolean NOT NULL,
  PRIMARY KEY (tenant_id, invitation_id),
  UNIQUE (tenant_id, email),
  FOREIGN KEY (tenant_id, invited_by_key) REFERENCES api_keys ON DELETE CASCADE
);

CREATE TABLE domains (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  domain_id uuid NOT NULL,
  domain text NOT NULL,
  txt_value text NOT NULL,
  verified_at timestamptz,
  -- How: access/domain-proofs.ts lists the ways. `local` counts only while the service runs on a loopback URL.
  verified_by text CHECK (verified_by IN ('dns', 'file', 'meta', 'local', 'operator')),
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, domain_id),
  UNIQUE (tenant_id, domain),
  CHECK ((verified_at IS NULL) = (verified_by IS NULL))
);
-- Any tenant may add a domain; only one can have it verified.
CREATE UNIQUE INDEX domains_verified ON domains (domain) WHERE verified_at IS NOT NULL;
CREATE INDEX domains_added ON domains (domain) WHERE verified_at IS NULL;

-- A tenant's settings for identification. A tenant without a row has no secret and does not require signatures.
CREATE TABLE identification_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  requires_signature boolean NOT NULL DEFAULT false,
  -- Words that count as no id, besides those of platform/ids-of-nobody.ts.
  ignored_ids text[] NOT NULL DEFAULT '{}',
  secret_sealed text,
  secret_created_at timestamptz,
  previous_secret_sealed text,
  -- The previous secret is accepted until then.
  previous_until timestamptz
);
