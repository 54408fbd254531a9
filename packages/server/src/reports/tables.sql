CREATE TABLE reports (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  report_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  question jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, report_id)
);

-- The tiles name reports by id: a lock guards that these exist.
CREATE TABLE dashboards (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  dashboard_id uuid NOT NULL,
  name text NOT NULL,
  tiles jsonb NOT NULL,
  range jsonb,
  conditions jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, dashboard_id)
);
