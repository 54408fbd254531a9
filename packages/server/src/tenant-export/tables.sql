-- `file` is a file name in the directory of exports; null until it is ready and after it has expired. `claim` is the latest
-- attempt, which alone may finish the export.
CREATE TABLE exports (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  export_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'ready', 'failed', 'expired')),
  progress real NOT NULL DEFAULT 0,
  claim uuid,
  file text,
  size_bytes bigint,
  counts jsonb NOT NULL DEFAULT '{}',
  error text,
  requested_by jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  expires_at timestamptz,
  PRIMARY KEY (tenant_id, export_id)
);
CREATE INDEX exports_newest ON exports (tenant_id, created_at DESC, export_id DESC);
CREATE INDEX exports_expiring ON exports (expires_at) WHERE file IS NOT NULL;
