-- The kind of a source at its last write.
CREATE TABLE sources (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source text NOT NULL,
  kind text NOT NULL,
  created_at timestamptz NOT NULL,
  last_write_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, source)
);
