-- Contacts that changed, until their duplicates are looked for. Rows have no unique contact, so that no writer waits for
-- the search that takes them.
CREATE TABLE duplicate_checks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  check_id bigint GENERATED ALWAYS AS IDENTITY,
  contact_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, check_id)
);

-- What contacts must share to be compared at all, as hashes: see traits.ts.
CREATE TABLE duplicate_keys (
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  key bigint NOT NULL,
  PRIMARY KEY (tenant_id, contact_id, key),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX duplicate_keys_holders ON duplicate_keys (tenant_id, key, contact_id);

-- Pairs of contacts that are likely one person. `contact_id` is the smaller of the two ids.
CREATE TABLE duplicates (
  tenant_id uuid NOT NULL,
  duplicate_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  other_contact_id uuid NOT NULL,
  confidence double precision NOT NULL,
  reasons text[] NOT NULL,
  found_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, duplicate_id),
  UNIQUE (tenant_id, contact_id, other_contact_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, other_contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX duplicates_other ON duplicates (tenant_id, other_contact_id);
CREATE INDEX duplicates_likeliest ON duplicates (tenant_id, confidence DESC, duplicate_id);

-- Pairs that somebody said are two people.
CREATE TABLE duplicate_dismissals (
  tenant_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  other_contact_id uuid NOT NULL,
  dismissed_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, contact_id, other_contact_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, other_contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX duplicate_dismissals_other ON duplicate_dismissals (tenant_id, other_contact_id);
