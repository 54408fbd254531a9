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
  -- What the row counts against the limits of its caller and its tenant; while the request runs, what it reserves.
  -- The minimum bounds the number of rows. 0: an erasure deleted the row of a request that was under way, and left no room.
  bytes integer NOT NULL CONSTRAINT idempotency_keys_bytes_min CHECK (bytes >= 256 OR bytes = 0),
  PRIMARY KEY (tenant_id, caller, key)
);
CREATE INDEX idempotency_keys_claimed ON idempotency_keys (claimed_at);

-- The exact sums of these bytes, so that no request has to add them up: of each caller, and of the tenant, whose caller
-- is ''. The check is the limit: a row beyond it cannot exist, however many requests come at once.
CREATE TABLE idempotency_usage (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  caller text NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (tenant_id, caller),
  CONSTRAINT idempotency_usage_max CHECK (bytes <= CASE caller WHEN '' THEN 64 ELSE 16 END * 1024 * 1024)
) WITH (fillfactor = 50);
CREATE FUNCTION count_idempotency_keys() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO idempotency_usage (tenant_id, caller, bytes)
      SELECT changed.tenant_id, counted.caller, sum(changed.bytes)
      FROM (
        SELECT tenant_id, caller, CASE WHEN TG_OP = 'INSERT' THEN bytes ELSE -bytes END AS bytes FROM changed
      ) AS changed, LATERAL (VALUES (''), (changed.caller)) AS counted (caller)
      -- A cascade from a deleted tenant must not recreate a sum.
      WHERE EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = changed.tenant_id)
      GROUP BY changed.tenant_id, counted.caller
      -- Always in the same order, so that no two statements wait for each other.
      ORDER BY changed.tenant_id, counted.caller
    ON CONFLICT (tenant_id, caller) DO UPDATE SET bytes = idempotency_usage.bytes + excluded.bytes;
    RETURN NULL;
  END $$;
CREATE TRIGGER idempotency_keys_inserted AFTER INSERT ON idempotency_keys REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency_keys();
CREATE TRIGGER idempotency_keys_deleted AFTER DELETE ON idempotency_keys REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency_keys();
CREATE FUNCTION count_idempotency_changes() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO idempotency_usage (tenant_id, caller, bytes)
      SELECT changed.tenant_id, counted.caller, sum(changed.bytes)
      FROM (
        SELECT tenant_id, caller, bytes FROM after UNION ALL SELECT tenant_id, caller, -bytes FROM before
      ) AS changed, LATERAL (VALUES (''), (changed.caller)) AS counted (caller)
      GROUP BY changed.tenant_id, counted.caller
      HAVING sum(changed.bytes) <> 0
      ORDER BY changed.tenant_id, counted.caller
    ON CONFLICT (tenant_id, caller) DO UPDATE SET bytes = idempotency_usage.bytes + excluded.bytes;
    RETURN NULL;
  END $$;
CREATE TRIGGER idempotency_keys_updated AFTER UPDATE ON idempotency_keys REFERENCING OLD TABLE AS before NEW TABLE AS after
  FOR EACH STATEMENT EXECUTE FUNCTION count_idempotency_changes();
