-- An incoming webhook: whoever has its token may send bodies, which its mapping turns into records of its source. Only
-- the token's SHA-256 is stored. `source_id` is the sender of its events, also if the source is deleted and listed again.
CREATE TABLE hooks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  hook_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('custom', 'stripe', 'calendly', 'typeform', 'cal.com')),
  source text NOT NULL,
  source_id uuid NOT NULL,
  is_enabled boolean NOT NULL,
  token_hash bytea NOT NULL UNIQUE,
  token_hint text NOT NULL,
  -- After a rotation, the previous token works for a time.
  previous_token_hash bytea UNIQUE,
  previous_token_until timestamptz,
  secret_sealed text,
  -- The header with the signature, if the kind does not fix it.
  signature_header text,
  -- json, not jsonb, which would sort the properties.
  mapping json NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, hook_id),
  UNIQUE (tenant_id, source)
);

-- The last bodies of a hook, as JSON. A body is `pending` until its mapping has run; the process that received it has
-- claimed it, and another one continues if that dies. `event_key` is the id by which its event is recorded once.
CREATE TABLE hook_bodies (
  tenant_id uuid NOT NULL,
  body_id uuid NOT NULL,
  hook_id uuid NOT NULL,
  received_at timestamptz NOT NULL,
  body text NOT NULL,
  size_bytes integer NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'recorded', 'skipped', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  error_code text,
  error_message text,
  event_id uuid,
  event text,
  event_key uuid,
  contact_id uuid,
  contact_status text,
  company_id uuid,
  processed_at timestamptz,
  PRIMARY KEY (tenant_id, body_id),
  FOREIGN KEY (tenant_id, hook_id) REFERENCES hooks ON DELETE CASCADE
);
CREATE INDEX hook_bodies_newest ON hook_bodies (tenant_id, hook_id, received_at, body_id);
CREATE INDEX hook_bodies_pending ON hook_bodies (received_at) WHERE state = 'pending';
CREATE INDEX hook_bodies_by_age ON hook_bodies (received_at);
