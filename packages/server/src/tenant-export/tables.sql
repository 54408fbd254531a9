-- A run (see platform/runs/run.ts). `file` is a file name in the directory of exports; null until it is written and after it
-- has expired.
CREATE TABLE exports (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  export_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  progress real NOT NULL DEFAULT 0,
  file text,
  size_bytes bigint,
  counts jsonb NOT NULL DEFAULT '{}',
  requested_by jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  expires_at timestamptz,
  PRIMARY KEY (tenant_id, export_id)
);
CREATE INDEX exports_newest ON exports (tenant_id, created_at DESC, export_id DESC);
CREATE INDEX exports_due ON exports (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX exports_expiring ON exports (expires_at) WHERE file IS NOT NULL;
