-- A system that sends data. A browser or server source has write keys. A connector is a connected system, such as a CRM,
-- which writes under its name with an API key; `kind` is what its last write said it is.
CREATE TABLE sources (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  source_id uuid NOT NULL,
  name text NOT NULL,
  type text NOT NULL CHECK (type IN ('browser', 'server', 'connector')),
  kind text,
  created_at timestamptz NOT NULL,
  last_seen_at timestamptz,
  PRIMARY KEY (tenant_id, source_id),
  UNIQUE (tenant_id, name),
  CHECK ((type = 'connector') = (kind IS NOT NULL))
);

-- A write key is found by its SHA-256; the key itself is not stored.
CREATE TABLE write_keys (
  tenant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  source_id uuid NOT NULL,
  key_hash bytea NOT NULL UNIQUE,
  -- The last characters of the key, by which people recognize it.
  hint text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Set when the key is replaced.
  expires_at timestamptz,
  PRIMARY KEY (tenant_id, key_id),
  FOREIGN KEY (tenant_id, source_id) REFERENCES sources ON DELETE CASCADE
);
CREATE INDEX write_keys_source ON write_keys (tenant_id, source_id);
CREATE INDEX write_keys_expired ON write_keys (expires_at) WHERE expires_at IS NOT NULL;

-- How many events a source sent in each of the last hours.
CREATE TABLE source_hours (
  tenant_id uuid NOT NULL,
  source_id uuid NOT NULL,
  hour timestamptz NOT NULL,
  events bigint NOT NULL,
  PRIMARY KEY (tenant_id, source_id, hour),
  FOREIGN KEY (tenant_id, source_id) REFERENCES sources ON DELETE CASCADE
);
CREATE INDEX source_hours_by_age ON source_hours (hour);
