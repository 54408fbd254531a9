-- The networks that a visitor was seen from, as keyed hashes. No foreign keys, for the same reason as in visitors.
CREATE TABLE visitor_networks (
  tenant_id uuid NOT NULL,
  visitor_id text NOT NULL,
  network bytea NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, visitor_id, network)
);
CREATE INDEX visitor_networks_seen ON visitor_networks (seen_at);

-- A fingerprint without a visitor is shared by two and recovers neither.
CREATE TABLE fingerprints (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  fingerprint bytea NOT NULL,
  visitor_id text,
  created_at timestamptz NOT NULL,
  seen_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, fingerprint)
);
CREATE INDEX fingerprints_seen ON fingerprints (seen_at);
CREATE INDEX fingerprints_visitor ON fingerprints (tenant_id, visitor_id) WHERE visitor_id IS NOT NULL;
