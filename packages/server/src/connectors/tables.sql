-- A connected system. `position` stores how far each of its objects has been read, so that a pull can continue after an
-- interruption. `revision` increases when a person changes the connection. A pull that began earlier then stores nothing
-- more.
CREATE TABLE connections (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  connection_id uuid NOT NULL,
  connector text NOT NULL,
  -- The name of the source that it writes as.
  source text NOT NULL,
  account text NOT NULL,
  settings jsonb NOT NULL,
  sealed text NOT NULL,
  position jsonb NOT NULL,
  state text NOT NULL CHECK (state IN ('waiting', 'pulling', 'failed', 'signed_out', 'paused')),
  error text,
  -- Consecutive failures.
  failures integer NOT NULL DEFAULT 0,
  revision integer NOT NULL DEFAULT 1,
  next_pull_at timestamptz NOT NULL,
  -- The write-back settings, {properties: [{property, target, conflict}], create_missing}; null: write-back is off.
  write_back jsonb,
  write_back_error text,
  -- Consecutive failures.
  write_back_failures integer NOT NULL DEFAULT 0,
  -- Nothing is written before this time.
  write_back_at timestamptz NOT NULL DEFAULT now(),
  -- Whether notes and mails of agents are stored in the system.
  activities boolean NOT NULL DEFAULT false,
  activities_error text,
  -- Consecutive failures.
  activities_failures integer NOT NULL DEFAULT 0,
  -- Nothing is stored before this time.
  activities_at timestamptz NOT NULL DEFAULT now(),
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, connection_id),
  UNIQUE (tenant_id, source)
);
CREATE INDEX connections_due ON connections (next_pull_at) WHERE state NOT IN ('paused', 'signed_out');

-- The account whose ids the records of a source have. Like the records, it outlives the connection.
CREATE TABLE source_accounts (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source text NOT NULL,
  connector text NOT NULL,
  account_id text NOT NULL,
  PRIMARY KEY (tenant_id, source)
);

-- A run: one read of everything that changed. `counts` is {object: {status: records}}.
CREATE TABLE connection_runs (
  tenant_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  run_id uuid NOT NULL,
  counts jsonb NOT NULL,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, connection_id, run_id),
  FOREIGN KEY (tenant_id, connection_id) REFERENCES connections ON DELETE CASCADE
);

-- Records that could not be written: here, or to the system if run_id is null. The newest of each connection are kept.
CREATE TABLE connection_errors (
  tenant_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  error_id uuid NOT NULL,
  run_id uuid,
  object text NOT NULL,
  external_id text NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, connection_id, error_id),
  FOREIGN KEY (tenant_id, connection_id) REFERENCES connections ON DELETE CASCADE
);

-- The outbox: contacts to write back to a system, added in the transactions that change them. `version` increases with
-- each change, so a contact that changes again while it is being written stays in the outbox.
CREATE TABLE connection_outbox (
  tenant_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  version integer NOT NULL DEFAULT 1,
  -- Consecutive failures.
  failures integer NOT NULL DEFAULT 0,
  next_try_at timestamptz NOT NULL,
  -- Whether a person asked for the contact, which is then created in the system whatever the settings say.
  is_requested boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, connection_id, contact_id),
  FOREIGN KEY (tenant_id, connection_id) REFERENCES connections ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX connection_outbox_due ON connection_outbox (tenant_id, connection_id, next_try_at);
CREATE INDEX connection_outbox_contact ON connection_outbox (tenant_id, contact_id);

-- Notes and mails of agents to store in a system. Those that were stored keep the system's id, so that they are not read
-- back. Like the records of the source, they outlive the connection.
CREATE TABLE connection_activities (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  activity_id uuid NOT NULL,
  connection_id uuid NOT NULL,
  source text NOT NULL,
  contact_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('note', 'email')),
  -- Null once it is stored; the subject of notes always is.
  subject text,
  content text,
  happened_at timestamptz NOT NULL,
  -- Whether an attempt may have stored it.
  may_be_stored boolean NOT NULL DEFAULT false,
  -- The system's id; null: it is not stored yet.
  external_id text,
  failures integer NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  PRIMARY KEY (tenant_id, activity_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX connection_activities_waiting ON connection_activities (tenant_id, connection_id, activity_id)
  WHERE external_id IS NULL;
CREATE INDEX connection_activities_stored ON connection_activities (tenant_id, source, external_id);
CREATE INDEX connection_activities_contact ON connection_activities (tenant_id, contact_id);
