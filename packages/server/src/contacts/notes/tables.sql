CREATE TABLE notes (
  tenant_id uuid NOT NULL,
  note_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  content text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, note_id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE CASCADE
);
CREATE INDEX notes_newest ON notes (tenant_id, contact_id, created_at, note_id);
