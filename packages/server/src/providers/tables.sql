-- The OAuth client that a tenant has registered at a provider. Each provider has one, which every sign-in there uses.
CREATE TABLE provider_clients (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider text NOT NULL,
  client_id text NOT NULL,
  secret_sealed text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, provider)
);

-- A sign-in at a provider that was started. `state_hash` is the hash of the state that the provider returns. Only `starter`
-- may complete it. The verifier (PKCE) is erased when the state is used, so that it works only once.
CREATE TABLE authorizations (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  state_hash text NOT NULL,
  starter text NOT NULL,
  provider text NOT NULL,
  client_id text NOT NULL,
  settings jsonb NOT NULL,
  purpose jsonb NOT NULL,
  verifier_sealed text,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, state_hash)
);
CREATE INDEX authorizations_expiry ON authorizations (expires_at);
