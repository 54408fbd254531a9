-- Which enrichers a tenant has switched off, and its country. A tenant without a row has all of them on.
CREATE TABLE enrichment_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  is_off text[] NOT NULL DEFAULT '{}',
  -- ISO 3166-1 alpha-2: the country of phone numbers without a country code.
  country text
);

-- Services that are asked about contacts over the network. `source` is fixed, because contacts keep it with what was filled.
CREATE TABLE enrichment_providers (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  provider_id uuid NOT NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('http', 'hunter', 'people_data_labs')),
  source text NOT NULL,
  -- They are asked in this order.
  position integer NOT NULL,
  is_enabled boolean NOT NULL,
  -- Of the kind http: the templates of the URL and the headers, and the mapping. json, because jsonb would sort the properties.
  request json,
  mapping json,
  -- What it may fill; null for all that its mapping has.
  fills text[],
  -- The values of the secrets, as JSON by name.
  secrets_sealed text,
  secret_names text[] NOT NULL,
  monthly_budget integer,
  requests_per_minute integer NOT NULL,
  cache_days integer NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, provider_id),
  UNIQUE (tenant_id, source)
);

-- How much a provider was asked, and whether it is down. Apart from its settings, because each request changes it.
CREATE TABLE enrichment_usage (
  tenant_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  -- The calendar month that is counted, by the tenant's clock, such as 2026-11.
  month text NOT NULL,
  requests integer NOT NULL DEFAULT 0,
  filled integer NOT NULL DEFAULT 0,
  found_nothing integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  minute_at timestamptz NOT NULL,
  minute_requests integer NOT NULL DEFAULT 0,
  failures_in_a_row integer NOT NULL DEFAULT 0,
  paused_until timestamptz,
  last_error_code text,
  last_error_message text,
  last_error_at timestamptz,
  PRIMARY KEY (tenant_id, provider_id),
  FOREIGN KEY (tenant_id, provider_id) REFERENCES enrichment_providers ON DELETE CASCADE
);

-- What became of asking a provider about a contact, and its answer, for the next time that the same is asked.
CREATE TABLE enrichment_answers (
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  provider_id uuid NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('filled', 'nothing', 'failed')),
  filled text[] NOT NULL,
  error_code text,
  error_message text,
  -- A hash of the request without its secrets.
  question text,
  -- The JSON of the answer; `null` if nothing was found.
  answer text,
  answered_at timestamptz,
  cached_until timestamptz,
  PRIMARY KEY (tenant_id, contact_id, provider_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, provider_id) REFERENCES enrichment_providers ON DELETE CASCADE
);
CREATE INDEX enrichment_answers_questions ON enrichment_answers (tenant_id, provider_id, question);
CREATE INDEX enrichment_answers_cached ON enrichment_answers (cached_until) WHERE answer IS NOT NULL;

-- Contacts about which providers are to be asked. `noted` counts the changes, so that one that comes meanwhile is not lost.
-- `run_id` is the run that has them asked, which takes back what they fill when it is undone.
CREATE TABLE enrichment_queue (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  noted bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  run_id uuid,
  PRIMARY KEY (tenant_id, contact_id)
);
CREATE INDEX enrichment_queue_due ON enrichment_queue (tenant_id, due_at);
CREATE INDEX enrichment_queue_of_run ON enrichment_queue (tenant_id, run_id) WHERE run_id IS NOT NULL;
-- Enrichments of many contacts. Each is a run (see platform/runs/run.ts).
CREATE TABLE enrichment_runs (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  run_id uuid NOT NULL,
  -- Which contacts, as the request named them. Of those that match, the ones that existed at `created_at`.
  matching jsonb NOT NULL,
  -- What is done, or was last.
  task text NOT NULL DEFAULT 'enrich' CHECK (task IN ('enrich', 'undo')),
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  error_code text,
  -- As responses name it.
  state text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN status IN ('queued', 'running', 'waiting')
      THEN CASE WHEN task = 'undo' THEN 'undoing' WHEN started_at IS NULL THEN 'queued' ELSE 'running' END
    WHEN status = 'completed' AND task = 'undo' THEN 'undone'
    ELSE status END) STORED,
  -- How many contacts matched when it was requested.
  total integer NOT NULL,
  -- The contacts up to this one, in the order of their ids, have been looked at.
  looked_up_to uuid,
  enriched integer NOT NULL DEFAULT 0,
  unchanged integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- The first contacts that could not be enriched, and why.
  errors jsonb NOT NULL DEFAULT '[]',
  undone_restored integer NOT NULL DEFAULT 0,
  undone_kept integer NOT NULL DEFAULT 0,
  undone_companies integer NOT NULL DEFAULT 0,
  -- The first contacts that undoing left as they are, in whole or in part, and what it left.
  kept jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, run_id)
);
-- A tenant's runs follow one after another.
CREATE UNIQUE INDEX enrichment_runs_at_work ON enrichment_runs (tenant_id) WHERE state IN ('queued', 'running', 'undoing');
CREATE INDEX enrichment_runs_due ON enrichment_runs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX enrichment_runs_newest ON enrichment_runs (tenant_id, created_at DESC, run_id DESC);

-- What a run changed in each contact, for undoing it. A row is deleted once it is undone.
CREATE TABLE enrichment_run_changes (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  -- As text: it may hold what jsonb cannot.
  changed json NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, contact_id),
  FOREIGN KEY (tenant_id, run_id) REFERENCES enrichment_runs ON DELETE CASCADE
);
CREATE INDEX enrichment_run_changes_contact ON enrichment_run_changes (tenant_id, contact_id);
CREATE INDEX enrichment_run_changes_old ON enrichment_run_changes (changed_at);

-- The companies that a run created.
CREATE TABLE enrichment_run_companies (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  company_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, company_id),
  FOREIGN KEY (tenant_id, run_id) REFERENCES enrichment_runs ON DELETE CASCADE
);
CREATE INDEX enrichment_run_companies_old ON enrichment_run_companies (created_at);
