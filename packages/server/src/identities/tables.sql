CREATE TABLE identities (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  identity_id uuid NOT NULL,
  first_name text NOT NULL,
  last_name text NOT NULL,
  role text NOT NULL,
  job_title text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, identity_id)
);

-- An identity's mailbox. `sealed` contains the passwords or tokens; the other columns are visible to users.
-- `verified_at` is the time of the last login that both servers accepted. `needs_sign_in`: the provider revoked the refresh
-- token, so that only another sign-in helps.
CREATE TABLE email_accounts (
  tenant_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  address text NOT NULL,
  settings jsonb NOT NULL,
  sealed text NOT NULL,
  daily_limit integer NOT NULL,
  spacing_seconds integer NOT NULL,
  verified_at timestamptz,
  error text,
  needs_sign_in boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, identity_id),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE CASCADE
);

-- Suppressed addresses, with the reason.
CREATE TABLE email_suppressions (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  address text NOT NULL,
  reason text NOT NULL CHECK (reason IN ('unsubscribed', 'bounced', 'complained', 'manual')),
  details text,
  at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, address)
);

-- A row is inserted before the mail is sent, and deleted if the mail was definitely not sent. `sending` past
-- `claimed_until` means that its process died and the outcome is unknown. `recorded_at` is when it was stored as a message
-- of its contact. `unsubscribe_hash` is the hash of the token in its links, which work for a year, so the row outlives
-- the identity and the contact.
CREATE TABLE mail_sends (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  message_id text NOT NULL,
  identity_id uuid,
  contact_id uuid,
  recipient text NOT NULL,
  status text NOT NULL CHECK (status IN ('sending', 'sent', 'unknown')),
  claimed_at timestamptz NOT NULL,
  claimed_until timestamptz NOT NULL,
  sent_at timestamptz,
  response text,
  recorded_at timestamptz,
  unsubscribe_hash text,
  PRIMARY KEY (tenant_id, message_id),
  UNIQUE (tenant_id, unsubscribe_hash),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE SET NULL (identity_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
);
CREATE INDEX mail_sends_of_identity ON mail_sends (tenant_id, identity_id, claimed_at DESC);
CREATE INDEX mail_sends_of_contact ON mail_sends (tenant_id, contact_id);

-- `connected` is the network's latest response, from `checked_at`.
CREATE TABLE social_profiles (
  tenant_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  profile_id text NOT NULL,
  connected boolean NOT NULL,
  checked_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, identity_id),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE CASCADE
);

-- A login. `step` counts the requests to the network: the process that increments it sends the next one, and may
-- store the response unless it has been incremented again. `wake_by`: if nothing has happened by then, the job was
-- lost. The ciphertexts are erased as soon as the network has them; no finished login can keep one.
CREATE TABLE social_sessions (
  tenant_id uuid NOT NULL,
  session_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  status text NOT NULL
    CHECK (status IN ('queued', 'running', 'awaiting_2fa', 'awaiting_email', 'completed', 'failed')),
  profile_id text,
  country text NOT NULL,
  actor jsonb NOT NULL,
  is_renewal boolean NOT NULL,
  is_begun boolean NOT NULL DEFAULT false,
  credentials_sealed text,
  code_sealed text,
  code_count integer NOT NULL DEFAULT 0,
  code_rejected integer NOT NULL DEFAULT 0,
  step integer NOT NULL DEFAULT 0,
  failures integer NOT NULL DEFAULT 0,
  wake_by timestamptz NOT NULL,
  deadline_at timestamptz NOT NULL,
  error_code text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, session_id),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE CASCADE,
  CHECK ((status IN ('completed', 'failed')) = (finished_at IS NOT NULL)),
  CHECK ((status = 'failed') = (error_code IS NOT NULL)),
  CHECK (finished_at IS NULL OR (credentials_sealed IS NULL AND code_sealed IS NULL))
);
-- One login at a time per identity.
CREATE UNIQUE INDEX social_sessions_live ON social_sessions (tenant_id, identity_id) WHERE finished_at IS NULL;
CREATE INDEX social_sessions_waking ON social_sessions (wake_by) WHERE finished_at IS NULL;
CREATE INDEX social_sessions_deadline ON social_sessions (deadline_at) WHERE finished_at IS NULL;
CREATE INDEX social_sessions_finished ON social_sessions (finished_at) WHERE finished_at IS NOT NULL;

-- The sandbox's logins: it stores the first part of a user name, never a password or a code.
CREATE TABLE social_sandbox_logins (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  session_id uuid NOT NULL,
  scenario text NOT NULL,
  profile_id text NOT NULL,
  state text NOT NULL,
  reason text,
  polls integer NOT NULL DEFAULT 0,
  codes integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, session_id)
);
CREATE INDEX social_sandbox_logins_oldest ON social_sandbox_logins (created_at);
-- Messages that the sandbox would have sent.
CREATE TABLE social_sandbox_outbox (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  external_id uuid NOT NULL,
  idempotency_key text NOT NULL,
  profile_id text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('message', 'connect')),
  recipient_profile_url text NOT NULL,
  text text,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, external_id),
  UNIQUE (tenant_id, idempotency_key)
);
