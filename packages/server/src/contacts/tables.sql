CREATE TABLE contacts (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  email text,
  external_id text,
  properties jsonb NOT NULL DEFAULT '{}',
  properties_provenance jsonb NOT NULL DEFAULT '{}',
  company_id uuid,
  creation_source text NOT NULL,
  first_seen_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  enriched_at timestamptz,
  facets text[] GENERATED ALWAYS AS (array_remove(ARRAY[
    'lifecyclestage=' || left(properties ->> 'lifecyclestage', 200),
    'lead_status=' || left(properties ->> 'lead_status', 200),
    'industry=' || left(properties ->> 'industry', 200),
    'country=' || left(properties ->> 'country', 200),
    'state=' || left(properties ->> 'state', 200),
    'city=' || left(properties ->> 'city', 200),
    CASE WHEN coalesce(properties ->> 'linkedin_url', '') NOT IN ('', '[]')
      OR coalesce(properties ->> 'social_profile_url', '') NOT IN ('', '[]') THEN 'has_social_profile' END
  ], NULL)) STORED,
  -- A btree entry must fit into a third of a page, so sort keys are truncated; ties are broken by id anyway.
  sort_firstname text GENERATED ALWAYS AS (left(lower(properties ->> 'firstname'), 200)) STORED,
  sort_lastname text GENERATED ALWAYS AS (left(lower(properties ->> 'lastname'), 200)) STORED,
  sort_company text GENERATED ALWAYS AS (left(lower(properties ->> 'company'), 200)) STORED,
  -- Only a page has sent the external id of this contact: a verified identification may move it.
  external_id_provisional boolean NOT NULL DEFAULT false,
  search_text text GENERATED ALWAYS AS (fold_text(
    coalesce(email, '') || E'\n' || CASE WHEN email LIKE '%xn--%' THEN readable_domain(email) || E'\n' ELSE '' END
    || coalesce(properties ->> 'firstname', '') || E'\n'
    || coalesce(properties ->> 'lastname', '') || E'\n' || coalesce(properties ->> 'company', '') || E'\n'
    || coalesce(properties ->> 'jobtitle', ''))) STORED,
  PRIMARY KEY (tenant_id, contact_id),
  UNIQUE (tenant_id, email),
  UNIQUE (tenant_id, external_id),
  FOREIGN KEY (tenant_id, company_id) REFERENCES companies ON DELETE SET NULL (company_id),
  -- contacts/size.ts checks the whole contact and reports an error to the caller; this is the last line of defense. A
  -- little more than it accepts: consent is stored even on a full contact.
  CONSTRAINT contacts_size CHECK (octet_length(properties::text) <= 280 * 1024)
);
CREATE INDEX contacts_newest ON contacts (tenant_id, created_at, contact_id);
CREATE INDEX contacts_company ON contacts (tenant_id, company_id, created_at) WHERE company_id IS NOT NULL;
CREATE INDEX contacts_enriched ON contacts (tenant_id, enriched_at) WHERE enriched_at IS NOT NULL;
-- One GIN index covers every combination of exact filters and search words, for one tenant.
CREATE INDEX contacts_search ON contacts USING gin (tenant_id, facets, search_text gin_trgm_ops);
-- Lists read these indexes, and the unique index of email, in both directions.
CREATE INDEX contacts_by_firstname ON contacts (tenant_id, sort_firstname, contact_id);
CREATE INDEX contacts_by_lastname ON contacts (tenant_id, sort_lastname, contact_id);
CREATE INDEX contacts_by_company ON contacts (tenant_id, sort_company, contact_id);

-- The exact number of a tenant's contacts without counting, maintained by triggers. 256 counters per tenant, because
-- with one, every writer of the tenant would wait for the previous one; with few, the pids of two connections often share one.
CREATE TABLE contact_counts (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  counter smallint NOT NULL,
  contacts bigint NOT NULL,
  PRIMARY KEY (tenant_id, counter)
) WITH (fillfactor = 50);
CREATE FUNCTION count_contacts() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO contact_counts (tenant_id, counter, contacts)
      SELECT tenant_id, pg_backend_pid() % 256, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed
      -- A cascade from a deleted tenant must not recreate a counter.
      WHERE EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = changed.tenant_id)
      GROUP BY tenant_id
      ORDER BY tenant_id
    ON CONFLICT (tenant_id, counter) DO UPDATE SET contacts = contact_counts.contacts + excluded.contacts;
    RETURN NULL;
  END $$;
CREATE TRIGGER contacts_inserted AFTER INSERT ON contacts REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_contacts();
CREATE TRIGGER contacts_deleted AFTER DELETE ON contacts REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_contacts();

-- A company gets or loses a contact: see companies/tables.sql.
CREATE TRIGGER company_contacts_inserted AFTER INSERT ON contacts REFERENCING NEW TABLE AS inserted
  FOR EACH STATEMENT EXECUTE FUNCTION check_companies_of_contacts();
CREATE TRIGGER company_contacts_updated AFTER UPDATE ON contacts FOR EACH ROW
  WHEN (OLD.company_id IS DISTINCT FROM NEW.company_id) EXECUTE FUNCTION check_companies();
CREATE TRIGGER company_contacts_deleted AFTER DELETE ON contacts FOR EACH ROW
  WHEN (OLD.company_id IS NOT NULL) EXECUTE FUNCTION check_companies();
-- What is computed of its contacts: see computed/tables.sql.
CREATE TRIGGER computed_company_contacts_updated AFTER UPDATE ON contacts FOR EACH ROW
  WHEN (OLD.company_id IS DISTINCT FROM NEW.company_id) EXECUTE FUNCTION check_computed_companies();
CREATE TRIGGER computed_company_contacts_deleted AFTER DELETE ON contacts FOR EACH ROW
  WHEN (OLD.company_id IS NOT NULL) EXECUTE FUNCTION check_computed_companies();

-- Each source's own latest record of a contact: fields is {key: {value, updated_at}}.
CREATE TABLE contact_sources (
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  source text NOT NULL,
  kind text NOT NULL,
  external_id text,
  fields jsonb NOT NULL DEFAULT '{}',
  raw json,
  first_seen_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  synced_at timestamptz,
  enriched_at timestamptz,
  PRIMARY KEY (tenant_id, contact_id, source),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
  CONSTRAINT contact_sources_size
    CHECK (octet_length(fields::text) + coalesce(octet_length(raw::text), 0) <= 280 * 1024)
);
CREATE UNIQUE INDEX contact_sources_external ON contact_sources (tenant_id, source, external_id)
  WHERE external_id IS NOT NULL;

-- Further ids by which a source knows a contact, such as those of a lead and a contact with the same email.
CREATE TABLE contact_source_ids (
  tenant_id uuid NOT NULL,
  source text NOT NULL,
  external_id text NOT NULL,
  contact_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, source, external_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX contact_source_ids_contact ON contact_source_ids (tenant_id, contact_id);

-- Contacts that were deleted in a connected system. Write-back does not create them there again.
CREATE TABLE contact_source_deletions (
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  source text NOT NULL,
  PRIMARY KEY (tenant_id, contact_id, source),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);

-- One row per merged contact, until it is unmerged: the data to restore it. `survivor_id` is its current survivor: when
-- that is itself merged, the row follows. Deleting the survivor deletes the row, so an erasure leaves no copy.
CREATE TABLE contact_merges (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  contact_id uuid NOT NULL,
  into_contact_id uuid NOT NULL,
  survivor_id uuid NOT NULL,
  position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  merged_at timestamptz NOT NULL,
  merged_by jsonb NOT NULL,
  merged jsonb NOT NULL,
  survivor_before jsonb NOT NULL,
  survivor_after jsonb NOT NULL,
  moved jsonb NOT NULL,
  PRIMARY KEY (tenant_id, contact_id),
  FOREIGN KEY (tenant_id, survivor_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX contact_merges_survivor ON contact_merges (tenant_id, survivor_id);

-- The keys of merged contacts, which lead to the survivor.
CREATE TABLE contact_aliases (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('email', 'external_id', 'source')),
  -- The source whose id for the contact the key is; empty for the other kinds.
  source text NOT NULL,
  key text NOT NULL,
  contact_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, kind, source, key),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contact_merges ON DELETE CASCADE
);
CREATE INDEX contact_aliases_contact ON contact_aliases (tenant_id, contact_id);

-- A property as a number: a number, or the text of one; null for anything else. The white space is what a cast to a
-- number ignores; \s includes more: a no-break space would match, and fail in the cast.
CREATE FUNCTION numeric_property(properties jsonb, key text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN jsonb_typeof(properties -> key) = 'number' THEN (properties ->> key)::numeric
    WHEN properties ->> key ~ '^[ \t\n\r\f\v]*[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})[ \t\n\r\f\v]*$'
      THEN (properties ->> key)::numeric
  END;

-- Whether a number is a phone number of the contact, or another that identifies a person. With and without the country code,
-- the last digits are the same.
CREATE FUNCTION has_personal_number(properties jsonb, number text, except_key text) RETURNS boolean
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN length(regexp_replace(number, '\D', '', 'g')) >= 6 AND EXISTS (
    SELECT FROM jsonb_each_text(properties) AS each (name, value)
    WHERE name IS DISTINCT FROM except_key AND name ~* 'phone|mobile|cell|tel|fax|whatsapp|msisdn|ssn|social.?security|tax|passport|licen[cs]e|iban|account|card|insurance|national.?id'
      AND length(regexp_replace(value, '\D', '', 'g')) >= 6
      AND right(regexp_replace(value, '\D', '', 'g'), 9) = right(regexp_replace(number, '\D', '', 'g'), 9));

-- A property as a number, of what AI agents see: without phone numbers, which are written like numbers, whatever the
-- property's name.
CREATE FUNCTION visible_number(properties jsonb, key text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN CASE
    WHEN jsonb_typeof(properties -> key) = 'string' AND btrim(properties ->> key) ~ '^(\+|0)[0-9]{7,}$' THEN NULL
    WHEN has_personal_number(properties, properties ->> key, key) THEN NULL
    ELSE numeric_property(properties, key)
  END;

-- The names of a contact, also as one word, by which its own texts may name it.
CREATE FUNCTION own_names(properties jsonb) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN concat_ws(' ', properties ->> 'firstname', properties ->> 'lastname',
    translate((properties ->> 'firstname') || (properties ->> 'lastname'), E' \'’.-', ''),
    translate((properties ->> 'lastname') || (properties ->> 'firstname'), E' \'’.-', ''),
    left(properties ->> 'firstname', 1) || translate(properties ->> 'lastname', E' \'’.-', ''),
    properties ->> 'middlename', properties ->> 'nickname', properties ->> 'fullname', properties ->> 'name',
    properties ->> 'username');

-- Where the contact lives and its profiles: hidden in its own texts, but not in the name of a company.
CREATE FUNCTION own_places(properties jsonb) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN concat_ws(' ', properties ->> 'city', properties ->> 'address', properties ->> 'street', properties ->> 'hometown',
    properties ->> 'linkedin_url', properties ->> 'social_profile_url');

-- Whether names and places of a contact may overlap with a text that is searched for, whose words the patterns contain. Most contacts have
-- only a first and a last name, which are read from their columns: reading ten keys takes as long as all of a search.
CREATE FUNCTION own_names_match(
  firstname text, lastname text, properties jsonb, has_places boolean, patterns text[]
) RETURNS boolean
  LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
  DECLARE
    names text := concat_ws(' ', firstname, lastname, left(firstname, 1) || translate(lastname, E' \'’.-', ''),
      translate(firstname || lastname || firstname, E' \'’.-', ''));
  BEGIN
    IF properties ?| ARRAY['middlename', 'nickname', 'fullname', 'name', 'username'] THEN
      names := names || ' ' || own_names(properties);
    END IF;
    IF has_places THEN names := names || ' ' || own_places(properties); END IF;
    RETURN plain_text(names) LIKE ANY (patterns);
  END $$;

-- The first and last names of the contacts that a text names in full.
CREATE FUNCTION names_in(of_tenant uuid, value text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
  RETURN (
    WITH split AS (
      SELECT word, lag(word) OVER (ORDER BY place) || ' ' || word AS pair
      FROM regexp_split_to_table(lower(value), '[^[:alnum:]]+') WITH ORDINALITY AS parts (word, place)
    ), words AS (
      SELECT array_agg(word) || array_agg(pair) AS list FROM split
    )
    SELECT string_agg((named.properties ->> 'firstname') || ' ' || (named.properties ->> 'lastname'), ' ')
    FROM words, contacts AS named
    WHERE named.tenant_id = of_tenant AND named.sort_lastname = ANY(words.list) AND named.sort_firstname = ANY(words.list)
  );

-- The properties with personal names: those that match a regular expression, or are listed, without case, spaces, hyphens
-- and underscores. Long values are left out: nobody mentions them in other texts, and a contact may have many.
CREATE FUNCTION personal_values(properties jsonb, names text, listed text[]) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT coalesce(jsonb_object_agg(each.key, each.value), '{}')
    FROM jsonb_each(properties) AS each
    WHERE octet_length(each.value::text) <= 1000
      AND (regexp_replace(lower(each.key), '[\s_-]', '', 'g') ~ names
        OR regexp_replace(lower(each.key), '[\s_-]', '', 'g') = ANY (listed)));

-- The first properties, by name, whose names match a regular expression and whose values are short.
CREATE FUNCTION short_values(properties jsonb, names text, bytes_max integer, count_max integer) RETURNS jsonb
  LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN (SELECT coalesce(jsonb_object_agg(short.name, short.value), '{}') FROM (
    SELECT each.name, each.value FROM jsonb_each(properties) AS each (name, value)
    WHERE each.name ~* names AND octet_length(each.value::text) <= bytes_max
    ORDER BY each.name LIMIT count_max) AS short);
