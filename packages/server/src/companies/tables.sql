CREATE TABLE companies (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  company_id uuid NOT NULL,
  domain text,
  name text,
  -- The tenant's own id of the company, from the groups of SDKs.
  external_id text,
  properties jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  facets text[] GENERATED ALWAYS AS (array_remove(ARRAY[
    'industry=' || left(properties ->> 'industry', 200),
    'country=' || left(properties ->> 'country', 200),
    'state=' || left(properties ->> 'state', 200)
  ], NULL)) STORED,
  sort_name text GENERATED ALWAYS AS (left(lower(name), 200)) STORED,
  -- Property keys, and `name`, whose values only forms have written so far: forms may replace those.
  form_keys text[] NOT NULL DEFAULT '{}',
  search_text text GENERATED ALWAYS AS (fold_text(coalesce(name, '') || E'\n' || coalesce(domain, '')
    || CASE WHEN domain LIKE '%xn--%' THEN E'\n' || readable_domain(domain) ELSE '' END)) STORED,
  PRIMARY KEY (tenant_id, company_id),
  UNIQUE (tenant_id, domain),
  UNIQUE (tenant_id, external_id),
  -- contacts/size.ts checks the size and reports an error to the caller; this is the last line of defense.
  CONSTRAINT companies_size CHECK (octet_length(properties::text) <= 264 * 1024)
);
CREATE INDEX companies_newest ON companies (tenant_id, created_at, company_id);
CREATE INDEX companies_name ON companies (tenant_id, sort_name, company_id);
CREATE INDEX companies_search ON companies USING gin (tenant_id, facets, search_text gin_trgm_ops);

-- The companies of connected systems, by the system's ids. `fields` is what the system said last, name included. A company
-- that was deleted or merged there is remembered, so that its contacts still follow the system to another company.
CREATE TABLE company_sources (
  tenant_id uuid NOT NULL,
  source text NOT NULL,
  external_id text NOT NULL,
  company_id uuid NOT NULL,
  fields jsonb NOT NULL,
  is_deleted boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, source, external_id),
  FOREIGN KEY (tenant_id, company_id) REFERENCES companies ON DELETE CASCADE
);
CREATE INDEX company_sources_company ON company_sources (tenant_id, company_id, source);

-- Companies that have changed, until the segments of their contacts are to be checked: see changes.ts.
CREATE TABLE company_changes (
  tenant_id uuid NOT NULL,
  company_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, company_id),
  FOREIGN KEY (tenant_id, company_id) REFERENCES companies ON DELETE CASCADE
);
-- Whoever changes a company cannot forget it.
CREATE FUNCTION note_company_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO company_changes VALUES (NEW.tenant_id, NEW.company_id) ON CONFLICT DO NOTHING;
    RETURN NULL;
  END $$;
CREATE TRIGGER companies_changed AFTER UPDATE ON companies FOR EACH ROW
  WHEN (OLD.properties IS DISTINCT FROM NEW.properties OR OLD.name IS DISTINCT FROM NEW.name
    OR OLD.domain IS DISTINCT FROM NEW.domain)
  EXECUTE FUNCTION note_company_change();

-- Companies whose segments must be checked: a row for each change of one, of its contacts or of their events. Rows have no
-- unique company, so that no writer waits for another one that adds a contact to the same company.
CREATE TABLE company_checks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  check_id bigint GENERATED ALWAYS AS IDENTITY,
  company_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, check_id)
);
CREATE FUNCTION check_companies() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO company_checks (tenant_id, company_id)
      SELECT DISTINCT tenant_id, company_id
      FROM (VALUES (OLD.tenant_id, OLD.company_id), (NEW.tenant_id, NEW.company_id)) AS concerned (tenant_id, company_id)
      WHERE company_id IS NOT NULL
        -- Nothing is left to check of a tenant that is being deleted.
        AND EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = concerned.tenant_id);
    RETURN NULL;
  END $$;
-- The same for many new contacts: one check for each of their companies, because an import adds hundreds in a statement.
CREATE FUNCTION check_companies_of_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO company_checks (tenant_id, company_id)
      SELECT DISTINCT tenant_id, company_id FROM inserted WHERE company_id IS NOT NULL;
    RETURN NULL;
  END $$;
CREATE TRIGGER companies_to_check_inserted AFTER INSERT ON companies FOR EACH ROW EXECUTE FUNCTION check_companies();
CREATE TRIGGER companies_to_check_updated AFTER UPDATE ON companies FOR EACH ROW
  WHEN (OLD.properties IS DISTINCT FROM NEW.properties OR OLD.name IS DISTINCT FROM NEW.name
    OR OLD.domain IS DISTINCT FROM NEW.domain)
  EXECUTE FUNCTION check_companies();
-- See computed/tables.sql.
CREATE TRIGGER computed_companies_inserted AFTER INSERT ON companies
  FOR EACH ROW EXECUTE FUNCTION check_computed_companies();
CREATE TRIGGER computed_companies_updated AFTER UPDATE ON companies FOR EACH ROW
  WHEN (OLD.properties IS DISTINCT FROM NEW.properties OR OLD.name IS DISTINCT FROM NEW.name
    OR OLD.domain IS DISTINCT FROM NEW.domain)
  EXECUTE FUNCTION check_scored_companies();
