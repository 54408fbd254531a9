-- No foreign key to tenants: the collector inserts hundreds of visitors for a tenant that it has just looked up, and
-- the check would cost more than the insertion.
CREATE TABLE visitors (
  tenant_id uuid NOT NULL,
  visitor_id text NOT NULL,
  contact_id uuid,
  -- Rises when the visitor is unlinked from a contact: what it does from then on is a new episode.
  episode integer NOT NULL DEFAULT 0,
  -- How the episode began: its earliest event, and its earliest page.
  first_seen_at timestamptz,
  first_page_at timestamptz,
  first_url text,
  first_referrer text,
  created_at timestamptz NOT NULL,
  -- The contact's id that the page last sent for its visitor. While the visitor is anonymous, no contact has it yet.
  external_contact_id text,
  PRIMARY KEY (tenant_id, visitor_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
);
CREATE INDEX visitors_contact ON visitors (tenant_id, contact_id) WHERE contact_id IS NOT NULL;
CREATE INDEX visitors_unresolved ON visitors (tenant_id, external_contact_id)
  WHERE external_contact_id IS NOT NULL AND contact_id IS NULL;

-- Append-only log of visitor links: visitor, contact, time, source. It outlives both visitor and contact, so it has no
-- foreign keys; contact_id is null if a deletion unlinked the visitor.
CREATE TABLE visitor_links (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  link_id uuid NOT NULL,
  visitor_id text NOT NULL,
  contact_id uuid,
  previous_contact_id uuid,
  source text NOT NULL,
  linked_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, link_id)
);
CREATE INDEX visitor_links_visitor ON visitor_links (tenant_id, visitor_id, link_id);
CREATE INDEX visitor_links_contact ON visitor_links (tenant_id, contact_id, link_id);
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'table % is append-only', TG_TABLE_NAME;
  END $$;
CREATE TRIGGER visitor_links_append_only BEFORE UPDATE ON visitor_links
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
