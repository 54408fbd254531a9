-- An incoming webhook. Anyone who has its token can send bodies, and its mapping turns them into records of its source.
-- `token_hash` finds its hook; `token_sealed` shows the URL again to those who may change the hook. `source_id` stays the source of its events, even if the source is deleted and listed
-- again.
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
  token_sealed text NOT NULL,
  -- After a rotation, the previous token works for a while.
  previous_token_hash bytea UNIQUE,
  previous_token_until timestamptz,
  secret_sealed text,
  -- The signature header, if the kind does not determine it.
  signature_header text,
  -- json, because jsonb would sort the properties.
  mapping json NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, hook_id),
  UNIQUE (tenant_id, source)
);

-- The last bodies of a hook, as JSON. A body is `pending` until its mapping has run. The process that received it holds
-- the claim; if that process dies, another one continues. `event_key` identifies its event, so it is recorded only once.
CREATE TABLE hook_bodies (
  tenant_id uuid NOT NULL,
  body_id uuid NOT NULL,
  hook_id uuid NOT NULL,
  received_at timestamptz NOT NULL,
  body text NOT NULL,
  size_bytes integer NOT NULL,
  -- What was left out of the body or kept as text when it arrived, and what the mapping ignored, for people.
  warnings text[] NOT NULL,
  outcome_warnings text[] NOT NULL DEFAULT '{}',
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
