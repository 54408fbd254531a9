-- The answers to requests with an Idempotency-Key, so that a repetition gets the same one.
CREATE TABLE idempotency_keys (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  caller text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  claimed_at timestamptz NOT NULL,
  answer_sealed text,
  PRIMARY KEY (tenant_id, caller, key)
);
CREATE INDEX idempotency_keys_claimed ON idempotency_keys (claimed_at);
