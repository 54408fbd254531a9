-- Requests of pages that were rejected or accepted with warnings, kept for an hour so that developers see why their
-- events do not arrive. Unlogged, because losing them in a crash harms nobody: a flood of bad requests must stay cheap.
CREATE UNLOGGED TABLE request_problems (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  problem_id uuid NOT NULL,
  at timestamptz NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  status smallint NOT NULL,
  code text NOT NULL,
  messages text[] NOT NULL,
  page_host text,
  visitor_id text,
  user_agent text NOT NULL,
  body text,
  skipped integer NOT NULL,
  -- In the order of the list.
  PRIMARY KEY (tenant_id, at, problem_id)
);
CREATE INDEX request_problems_by_age ON request_problems (at);
-- The hosts of refused pages, which are limited for each tenant.
CREATE INDEX request_problems_refused ON request_problems (tenant_id, page_host) WHERE code = 'domain_not_allowed';
