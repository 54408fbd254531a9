-- Files of events that were imported, or are being imported: which lines are done, so that none is recorded twice.
CREATE TABLE event_imports (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  -- SHA-256 of the file's contents, uncompressed.
  digest text NOT NULL,
  format text NOT NULL,
  -- All effects of these lines are written.
  lines_done integer NOT NULL DEFAULT 0,
  -- The events of these lines are written, in the transaction that wrote them.
  lines_recorded integer NOT NULL DEFAULT 0,
  -- Of the lines that are done, those that are not empty.
  lines_read integer NOT NULL DEFAULT 0,
  -- Events, lines that only name people, and lines with an error; the rest was recorded before.
  recorded integer NOT NULL DEFAULT 0,
  people integer NOT NULL DEFAULT 0,
  failed integer NOT NULL DEFAULT 0,
  -- Of the recorded lines, those of which a part was ignored; and the kinds of warnings, with their first lines.
  warned integer NOT NULL DEFAULT 0,
  warnings jsonb NOT NULL DEFAULT '[]',
  -- The length of the file of errors after these lines.
  errors_bytes bigint NOT NULL DEFAULT 0,
  claim uuid,
  claimed_until timestamptz,
  claimed_by text,
  started_at timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (tenant_id, digest, format)
);
