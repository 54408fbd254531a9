-- The contact of an owner's events: the owner is an anonymous episode that was identified, or a contact that was merged
-- into another. ClickHouse has a copy, in which the highest version of a row counts. The contact may have been deleted;
-- its events remain.
CREATE TABLE owner_links (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  owner_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  version integer NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant_id, owner_id)
);
CREATE INDEX owner_links_contact ON owner_links (tenant_id, contact_id);
