-- The receipts of the deletions of tenants. They outlive their tenants, so nothing here names a person: `requested_by` has
-- no name. `claim` and `claimed_until` as in platform/postgres/lease.ts.
CREATE TABLE tenant_deletions (
  tenant_id uuid PRIMARY KEY,
  status text NOT NULL CHECK (status IN ('running', 'deleted', 'verified')),
  requested_by jsonb NOT NULL,
  requested_at timestamptz NOT NULL,
  started_at timestamptz NOT NULL,
  removed jsonb NOT NULL DEFAULT '{}',
  deleted_at timestamptz,
  verified_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  CHECK ((status = 'running') = (deleted_at IS NULL)),
  CHECK ((status = 'verified') = (verified_at IS NOT NULL))
);
CREATE INDEX tenant_deletions_unfinished ON tenant_deletions (started_at) WHERE status <> 'verified';
