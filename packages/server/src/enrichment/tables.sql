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
CREATE TABLE enrichment_queue (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  noted bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  PRIMARY KEY (tenant_id, contact_id)
);
CREATE INDEX enrichment_queue_due ON enrichment_queue (tenant_id, due_at);
