-- `subject` has the identifiers that the erasure searches for; it is deleted after the verification. Only the receipt
-- stays: counts, and a salted hash of the email address, against which a known address can be checked.
CREATE TABLE erasures (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  erasure_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'erased', 'verified')),
  subject jsonb,
  email_salt text,
  email_hash text,
  removed jsonb NOT NULL DEFAULT '{}',
  requested_by jsonb NOT NULL,
  requested_at timestamptz NOT NULL,
  erased_at timestamptz,
  verified_at timestamptz,
  PRIMARY KEY (tenant_id, erasure_id),
  UNIQUE (tenant_id, contact_id),
  CHECK ((status = 'verified') = (subject IS NULL))
);
CREATE INDEX erasures_newest ON erasures (tenant_id, requested_at DESC, erasure_id DESC);
