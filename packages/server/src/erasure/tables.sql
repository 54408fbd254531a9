-- A run (see platform/runs/run.ts), which waits for its verification once the contact is erased. `subject` has the
-- identifiers that it searches for; it is deleted after the verification. Only the receipt stays: counts, and a salted hash
-- of the email address, against which a known address can be checked.
CREATE TABLE erasures (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  erasure_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  subject jsonb,
  email_salt text,
  email_hash text,
  removed jsonb NOT NULL DEFAULT '{}',
  requested_by jsonb NOT NULL,
  requested_at timestamptz NOT NULL,
  started_at timestamptz,
  erased_at timestamptz,
  -- When it was verified.
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, erasure_id),
  UNIQUE (tenant_id, contact_id),
  CHECK ((status = 'completed') = (subject IS NULL))
);
CREATE INDEX erasures_newest ON erasures (tenant_id, requested_at DESC, erasure_id DESC);
CREATE INDEX erasures_due ON erasures (due_at) WHERE due_at IS NOT NULL;
