-- The contacts in each segment. Contacts are returned with their segments, and segments are queries of contacts, so neither
-- feature could own these rows without knowing the other.
CREATE TABLE segment_members (
  tenant_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  entered_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, segment_id, contact_id),
  FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX segment_members_contact ON segment_members (tenant_id, contact_id);

-- The companies in each segment of companies.
CREATE TABLE company_segment_members (
  tenant_id uuid NOT NULL,
  segment_id uuid NOT NULL,
  company_id uuid NOT NULL,
  entered_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, segment_id, company_id),
  FOREIGN KEY (tenant_id, segment_id) REFERENCES segments ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, company_id) REFERENCES companies ON DELETE CASCADE
);
CREATE INDEX company_segment_members_company ON company_segment_members (tenant_id, company_id);

-- Sixteen counters per segment, maintained by triggers, for the same reason as in contact_counts.
CREATE TABLE segment_counts (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  segment_id uuid NOT NULL,
  counter smallint NOT NULL,
  members bigint NOT NULL,
  PRIMARY KEY (tenant_id, segment_id, counter)
) WITH (fillfactor = 50);
CREATE FUNCTION count_members() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO segment_counts (tenant_id, segment_id, counter, members)
      SELECT tenant_id, segment_id, pg_backend_pid() % 16, CASE WHEN TG_OP = 'INSERT' THEN count(*) ELSE -count(*) END
      FROM changed
      -- A cascade from a deleted segment or tenant must not recreate a counter.
      WHERE EXISTS (SELECT FROM tenants WHERE tenants.tenant_id = changed.tenant_id) AND EXISTS (SELECT FROM segments
        WHERE segments.tenant_id = changed.tenant_id AND segments.segment_id = changed.segment_id)
      GROUP BY tenant_id, segment_id
      ORDER BY tenant_id, segment_id
    ON CONFLICT (tenant_id, segment_id, counter) DO UPDATE SET members = segment_counts.members + excluded.members;
    RETURN NULL;
  END $$;
CREATE TRIGGER members_entered AFTER INSERT ON segment_members REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_members();
CREATE TRIGGER members_exited AFTER DELETE ON segment_members REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_members();
CREATE TRIGGER companies_entered AFTER INSERT ON company_segment_members REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_members();
CREATE TRIGGER companies_exited AFTER DELETE ON company_segment_members REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_members();
