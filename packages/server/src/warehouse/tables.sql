-- A destination for a tenant's exports. `place` is derived from the other columns, and no two destinations of a tenant may
-- have the same one. `exported_sequence`: every event and link up to this number is in files that a manifest names
-- (see journal/tables.sql); -1 before the first run. `exported_at` is when the run that wrote them started.
CREATE TABLE warehouse_destinations (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  destination_id uuid NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('folder', 's3')),
  place text NOT NULL,
  prefix text NOT NULL,
  endpoint text,
  region text,
  bucket text,
  access_key_id text,
  secret_sealed text,
  schedule text,
  time_zone text NOT NULL,
  paused_at timestamptz,
  next_run_at timestamptz,
  exported_sequence bigint NOT NULL DEFAULT -1,
  exported_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, destination_id),
  UNIQUE (tenant_id, place)
);
CREATE INDEX warehouse_destinations_due ON warehouse_destinations (next_run_at) WHERE next_run_at IS NOT NULL;

-- A run (see platform/runs/run.ts) exports the rows with after_sequence < number <= up_to_sequence. It chooses the range
-- before it writes anything, so after a crash it writes the same rows again, and its manifest has the same name. A run is
-- never abandoned: its manifest may exist without being recorded, and another run would then export its rows twice.
CREATE TABLE warehouse_runs (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  destination_id uuid NOT NULL,
  trigger text NOT NULL CHECK (trigger IN ('schedule', 'manual')),
  is_full boolean NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  after_sequence bigint,
  up_to_sequence bigint,
  manifest text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, run_id),
  FOREIGN KEY (tenant_id, destination_id) REFERENCES warehouse_destinations ON DELETE CASCADE
);
CREATE INDEX warehouse_runs_newest ON warehouse_runs (tenant_id, destination_id, created_at DESC, run_id DESC);
CREATE UNIQUE INDEX warehouse_runs_open ON warehouse_runs (tenant_id, destination_id)
  WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX warehouse_runs_due ON warehouse_runs (due_at) WHERE due_at IS NOT NULL;

-- The files that a run has written, in order. An interrupted run continues after the last file.
CREATE TABLE warehouse_files (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  number integer NOT NULL,
  table_name text NOT NULL,
  path text NOT NULL,
  rows bigint NOT NULL,
  bytes bigint NOT NULL,
  sha256 text NOT NULL,
  -- Where the table continues after this file: see runs/parts.ts.
  cursor jsonb NOT NULL,
  PRIMARY KEY (tenant_id, run_id, number),
  FOREIGN KEY (tenant_id, run_id) REFERENCES warehouse_runs ON DELETE CASCADE
);
