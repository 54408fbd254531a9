-- `next_check_at` is when it is next checked; null while it is disabled. `last_interval` is the key of the interval that was judged
-- last, and `is_met` whether its number met the condition.
CREATE TABLE alerts (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  alert_id uuid NOT NULL,
  name text NOT NULL,
  report_id uuid NOT NULL,
  at jsonb NOT NULL,
  condition jsonb NOT NULL,
  check_every text NOT NULL CHECK (check_every IN ('hour', 'day')),
  mail_to uuid[] NOT NULL,
  enabled boolean NOT NULL,
  next_check_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  last_checked_at timestamptz,
  last_interval text,
  last_value double precision,
  is_met boolean NOT NULL DEFAULT false,
  triggered_at timestamptz,
  last_error jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, alert_id),
  FOREIGN KEY (tenant_id, report_id) REFERENCES reports ON DELETE CASCADE
);
CREATE INDEX alerts_of_report ON alerts (tenant_id, report_id);
CREATE INDEX alerts_due ON alerts (next_check_at) WHERE next_check_at IS NOT NULL;
