-- Properties that the service computes of events, or as a score. `definition` is what is computed, see definition.ts.
-- `filled_to` is the last record that has the current value since `revision` was new; null before the first. Once all have it,
-- `filled_at` is set. A property that was deleted stays until no record has it.
CREATE TABLE computed_properties (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  computed_property_id uuid NOT NULL,
  entity text NOT NULL CHECK (entity IN ('contacts', 'companies')),
  name text NOT NULL,
  definition jsonb NOT NULL,
  revision bigint NOT NULL DEFAULT 1,
  fill_after timestamptz NOT NULL,
  filled_to uuid,
  filled_at timestamptz,
  deleted_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, computed_property_id),
  UNIQUE (tenant_id, entity, name)
);
CREATE INDEX computed_properties_unfilled ON computed_properties (fill_after) WHERE filled_at IS NULL;

-- Owners of events, or companies, whose computed properties may have changed. Rows have no unique owner, so that no writer of
-- events waits for the work that takes them. An anonymous owner may be identified at the same time, so it is looked at later.
CREATE TABLE computed_checks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  check_id bigint GENERATED ALWAYS AS IDENTITY,
  entity text NOT NULL CHECK (entity IN ('contacts', 'companies')),
  record_id uuid NOT NULL,
  is_anonymous boolean NOT NULL DEFAULT false,
  -- Whether the company itself changed, so that scores of its contacts may have changed too.
  spreads boolean NOT NULL DEFAULT false,
  due_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, check_id)
);

-- When a value of a record changes because time passes: an event leaves the days that count.
CREATE TABLE computed_expirations (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  entity text NOT NULL CHECK (entity IN ('contacts', 'companies')),
  record_id uuid NOT NULL,
  due_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, entity, record_id)
);
CREATE INDEX computed_expirations_due ON computed_expirations (due_at);

-- A company that is new, or gets or loses a contact, has other events: triggers of companies/tables.sql and contacts/tables.sql
-- call this.
CREATE FUNCTION check_computed_companies() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO computed_checks (tenant_id, entity, record_id)
      SELECT DISTINCT tenant_id, 'companies', company_id
      FROM (VALUES (OLD.tenant_id, OLD.company_id), (NEW.tenant_id, NEW.company_id)) AS concerned (tenant_id, company_id)
      WHERE company_id IS NOT NULL AND EXISTS (SELECT FROM computed_properties AS computed
        WHERE computed.tenant_id = concerned.tenant_id AND (computed.entity = 'companies' OR computed.definition ? 'score'))
        -- Nothing is left to check of a tenant that is being deleted.
        AND EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = concerned.tenant_id);
    -- A large company that is deleted takes itself away from its contacts without noting each.
    IF TG_TABLE_NAME = 'contacts' AND TG_OP = 'UPDATE' THEN
      INSERT INTO computed_checks (tenant_id, entity, record_id)
        SELECT NEW.tenant_id, 'contacts', NEW.contact_id
        WHERE EXISTS (SELECT FROM computed_properties AS computed
          WHERE computed.tenant_id = NEW.tenant_id AND computed.definition ? 'score');
    END IF;
    RETURN NULL;
  END $$;

-- Scores also depend on what a company is.
CREATE FUNCTION check_scored_companies() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO computed_checks (tenant_id, entity, record_id, spreads)
      SELECT NEW.tenant_id, 'companies', NEW.company_id, true
      WHERE EXISTS (SELECT FROM computed_properties AS computed
        WHERE computed.tenant_id = NEW.tenant_id AND computed.definition ? 'score');
    RETURN NULL;
  END $$;

-- Rules have the filters of the segments that they name: another one means other scores.
CREATE FUNCTION fill_scores_of_segments() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE computed_properties SET revision = revision + 1, fill_after = now() + interval '1 second',
        filled_to = NULL, filled_at = NULL
      WHERE tenant_id = OLD.tenant_id AND deleted_at IS NULL AND definition ? 'score'
        AND definition::text LIKE '%"segment"%';
    IF FOUND THEN
      PERFORM pg_notify('cds_changed', '');
    END IF;
    RETURN NULL;
  END $$;
