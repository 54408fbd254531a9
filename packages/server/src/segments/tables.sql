-- A number that increases with every definition, so that count and maximum show whether a process's cache is complete.
CREATE SEQUENCE segment_revisions;
CREATE TABLE segments (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  segment_id uuid NOT NULL,
  entity text NOT NULL DEFAULT 'contacts' CHECK (entity IN ('contacts', 'companies')),
  name text NOT NULL,
  description text,
  filter jsonb NOT NULL,
  uses_events boolean NOT NULL,
  uses_time boolean NOT NULL,
  revision bigint NOT NULL DEFAULT nextval('segment_revisions'),
  evaluated_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, segment_id)
);
CREATE INDEX segments_newest ON segments (tenant_id, created_at, segment_id);
-- See computed/tables.sql.
CREATE TRIGGER computed_segments_updated AFTER UPDATE ON segments FOR EACH ROW
  WHEN (OLD.filter IS DISTINCT FROM NEW.filter) EXECUTE FUNCTION fill_scores_of_segments();
CREATE TRIGGER computed_segments_deleted AFTER DELETE ON segments FOR EACH ROW
  EXECUTE FUNCTION fill_scores_of_segments();

-- Returns the current definitions and locks out new ones until the transaction ends: otherwise a contact could change
-- while a segment is created, without either seeing the other. A definition also changes once its first evaluation has
-- found all contacts that meet its conditions. A function, because its later statements see what was committed while
-- the first one waited.
CREATE FUNCTION lock_segment_version(segments_lock bigint, tenant uuid) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock_shared(segments_lock);
    RETURN (SELECT count(*) || '/' || coalesce(max(revision), 0) || '/' || count(evaluated_at)
      FROM segments WHERE tenant_id = tenant);
  END $$;

-- Members added or removed by a segment's definition, by day (UTC). They have no events, so earlier numbers could not
-- be computed backwards without this table.
CREATE TABLE segment_silent_changes (
  tenant_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  day date NOT NULL,
  members bigint NOT NULL,
  PRIMARY KEY (tenant_id, segment_id, day),
  FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE
);

-- Contacts whose events changed and whose segments must be checked. `checked_at` is the last time of a check that will
-- be repeated: an evaluation with older results must skip the contact.
CREATE TABLE segment_checks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  not_before timestamptz NOT NULL DEFAULT now(),
  checked_at timestamptz,
  PRIMARY KEY (tenant_id, contact_id)
);
CREATE INDEX segment_checks_due ON segment_checks (not_before);

-- The contacts that meet segments' event conditions, so that a write to a contact need not query ClickHouse. No foreign
-- key to contacts, because it would lock a contact's row for each of its conditions; code that deletes a contact
-- deletes these rows.
CREATE TABLE segment_met_conditions (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  match_key uuid NOT NULL,
  PRIMARY KEY (tenant_id, contact_id, match_key)
);
-- Conditions that no segment uses any more, whose rows must be deleted.
CREATE TABLE segment_unused_matches (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  match_key uuid NOT NULL,
  unused_since timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant_id, match_key)
);

-- The property functions of the filter language. Neither fails for any value.
CREATE FUNCTION property_contains(value jsonb, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN jsonb_typeof(value) = 'array' THEN EXISTS (
      SELECT FROM jsonb_array_elements_text(value) AS elements (element) WHERE fold_text(element) LIKE fold_text(pattern))
    ELSE coalesce(fold_text(value #>> '{}') LIKE fold_text(pattern), false)
  END;
-- The same, of what AI agents see of the value.
CREATE FUNCTION property_shows(value jsonb, pattern text, names text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN jsonb_typeof(value) = 'array' THEN EXISTS (
      SELECT FROM jsonb_array_elements_text(value) AS elements (element)
      WHERE visible_text(element, names) LIKE plain_text(pattern))
    ELSE coalesce(visible_text(value #>> '{}', names) LIKE plain_text(pattern), false)
  END;
-- A timestamp with an offset, or a date alone, of an existing day. Actually immutable: a date alone gets UTC, so the
-- session's time zone is never used.
CREATE FUNCTION timestamp_of(value text) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN value ~ '^(?!00)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([Tt ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?([Zz]|[+-](0[0-9]|1[0-4]):?[0-5][0-9]))?$' THEN
    CASE WHEN substr(value, 9, 2)::int <= extract(day FROM
        make_date(substr(value, 1, 4)::int, substr(value, 6, 2)::int, 1) + interval '1 month - 1 day')
      THEN (CASE WHEN length(value) = 10 THEN value || 'T00:00:00Z' ELSE value END)::timestamptz
    END
  END;
-- The numbers and the times in a list.
CREATE FUNCTION numbers_in(list jsonb) RETURNS numeric[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ARRAY(SELECT numeric_property(jsonb_build_object('item', item), 'item') FROM jsonb_array_elements(list) AS items (item)
    WHERE numeric_property(jsonb_build_object('item', item), 'item') IS NOT NULL);
CREATE FUNCTION times_in(list jsonb) RETURNS timestamptz[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN ARRAY(SELECT timestamp_of(item) FROM jsonb_array_elements_text(list) AS items (item)
    WHERE timestamp_of(item) IS NOT NULL);
-- The same, of what AI agents see: without the contact's birthday, whatever the property's name.
CREATE FUNCTION visible_time(properties jsonb, key text) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE WHEN NOT EXISTS (
    SELECT FROM jsonb_each_text(properties) AS each (name, value)
    WHERE name <> key AND name ~* 'birth|born|dob' AND left(value, 10) = left(properties ->> key, 10))
    THEN timestamp_of(properties ->> key)
  END;
