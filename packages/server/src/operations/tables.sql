-- Every decision and change of configuration: rows are added and never changed.
CREATE TABLE audit_log (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  entry_id uuid NOT NULL,
  at timestamptz NOT NULL,
  actor jsonb NOT NULL,
  action text NOT NULL,
  subject_kind text NOT NULL,
  subject_id text,
  details jsonb NOT NULL DEFAULT '{}',
  PRIMARY KEY (tenant_id, entry_id)
);
CREATE INDEX audit_log_newest ON audit_log (tenant_id, at DESC, entry_id DESC);
CREATE INDEX audit_log_subject ON audit_log (tenant_id, subject_kind, subject_id, at DESC);

-- A trigger, because PostgreSQL has no constraint for this: not even a mistake in the code can rewrite history.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    -- Rows are deleted only with their tenant.
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM tenants WHERE tenant_id = OLD.tenant_id) THEN
      RETURN OLD;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only';
  END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_not_emptied BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- The responses to requests with an Idempotency-Key, so that a retry gets the same one.
CREATE TABLE idempotency_keys (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  caller text NOT NULL,
  key text NOT NULL,
  request_hash bytea NOT NULL,
  claimed_at timestamptz NOT NULL,
  -- What a retry must do again in the same way if the first request ended without a response: the ids of the
  -- records that it changes, or the beginning of the ids that it assigns.
  remembered jsonb,
  response_sealed text,
  PRIMARY KEY (tenant_id, caller, key)
);
CREATE INDEX idempotency_keys_claimed ON idempotency_keys (claimed_at);
