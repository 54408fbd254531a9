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

-- A link that shows the figures of a report or a dashboard to anybody. `token_hash` finds it; `token_sealed` shows its URL
-- again to those who may share.
CREATE TABLE share_links (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  link_id uuid NOT NULL,
  report_id uuid,
  dashboard_id uuid,
  token_hash bytea NOT NULL UNIQUE,
  token_sealed text NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, link_id),
  UNIQUE (tenant_id, report_id),
  UNIQUE (tenant_id, dashboard_id),
  CHECK (num_nonnulls(report_id, dashboard_id) = 1),
  FOREIGN KEY (tenant_id, report_id) REFERENCES reports ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, dashboard_id) REFERENCES dashboards ON DELETE CASCADE
);

-- Who gets the figures of a dashboard by mail on Mondays. `next_mail_at` is when the next one is due.
CREATE TABLE dashboard_subscriptions (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  dashboard_id uuid NOT NULL,
  user_id uuid NOT NULL,
  next_mail_at timestamptz NOT NULL,
  claim uuid,
  claimed_until timestamptz,
  last_mailed_at timestamptz,
  last_error jsonb,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, dashboard_id, user_id),
  FOREIGN KEY (tenant_id, dashboard_id) REFERENCES dashboards ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, user_id) REFERENCES tenant_users ON DELETE CASCADE
);
CREATE INDEX dashboard_subscriptions_of_user ON dashboard_subscriptions (tenant_id, user_id);
CREATE INDEX dashboard_subscriptions_due ON dashboard_subscriptions (next_mail_at);
