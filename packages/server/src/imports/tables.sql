-- Imports of CSV files. Their tasks are runs (see platform/runs/run.ts); before the first one, and after a preview, an import
-- waits for a person: `waiting_for` is then its state. `columns`, `first_lines`, `readings`, `preview` and `warnings` contain values of the file, so
-- they are emptied when it is deleted.
CREATE TABLE imports (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  import_id uuid NOT NULL,
  file_name text NOT NULL,
  size_bytes bigint NOT NULL,
  encoding text NOT NULL,
  delimiter text NOT NULL,
  -- 0 if the file has no header.
  header_line integer NOT NULL,
  first_lines jsonb NOT NULL,
  -- How words of the file read in each encoding that fits.
  readings jsonb NOT NULL,
  recognized_as text,
  columns jsonb NOT NULL,
  mapping jsonb NOT NULL,
  -- What every contact of the file is tagged with.
  tag text,
  -- Where the proposed mapping was used before: the file's name and the time.
  remembered jsonb,
  -- What is done to it, or was last.
  task text CHECK (task IN ('preview', 'import', 'undo')),
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  error_code text,
  -- As responses name it.
  state text NOT NULL GENERATED ALWAYS AS (CASE
    WHEN status = 'waiting' AND waiting_for <> 'retry' THEN waiting_for
    WHEN status IN ('queued', 'running', 'waiting')
      THEN CASE task WHEN 'preview' THEN 'previewing' WHEN 'import' THEN 'running' ELSE 'undoing' END
    WHEN status = 'completed' AND task = 'undo' THEN 'undone'
    ELSE status END) STORED,
  -- NULL until the file has been read to its end.
  row_count integer,
  -- Of what is in progress; an import that writes is measured by its chunks.
  progress real NOT NULL DEFAULT 0,
  preview jsonb,
  warnings jsonb NOT NULL DEFAULT '[]',
  undone_deleted integer NOT NULL DEFAULT 0,
  undone_restored integer NOT NULL DEFAULT 0,
  undone_kept integer NOT NULL DEFAULT 0,
  undone_companies integer NOT NULL DEFAULT 0,
  created_by jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  -- When its latest task was first worked on.
  started_at timestamptz,
  -- When its import, rather than its preview, was first requested.
  imported_at timestamptz,
  finished_at timestamptz,
  -- When the file and what is needed to undo the import are deleted.
  expires_at timestamptz NOT NULL,
  is_expired boolean NOT NULL DEFAULT false,
  has_file boolean NOT NULL DEFAULT true,
  PRIMARY KEY (tenant_id, import_id)
);
-- A tenant's imports run one after another.
CREATE UNIQUE INDEX imports_at_work ON imports (tenant_id) WHERE state IN ('running', 'undoing');
CREATE INDEX imports_due ON imports (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX imports_expiring ON imports (expires_at) WHERE NOT is_expired;
CREATE INDEX imports_newest ON imports (tenant_id, created_at DESC, import_id DESC);

-- How the columns of the latest files went, by the names of their columns, for the next file with the same ones.
CREATE TABLE import_mappings (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  -- A hash of the columns' names.
  shape text NOT NULL,
  file_name text NOT NULL,
  columns jsonb NOT NULL,
  used_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, shape)
);

-- The rows of each committed transaction, so that an interrupted import continues where it stopped.
CREATE TABLE import_chunks (
  tenant_id uuid NOT NULL,
  import_id uuid NOT NULL,
  chunk_id uuid NOT NULL,
  -- [[first, last], …]
  rows jsonb NOT NULL,
  created integer NOT NULL,
  updated integer NOT NULL,
  unchanged integer NOT NULL,
  failed integer NOT NULL,
  -- What they did to who gets mail.
  consent jsonb NOT NULL,
  PRIMARY KEY (tenant_id, import_id, chunk_id),
  FOREIGN KEY (tenant_id, import_id) REFERENCES imports ON DELETE CASCADE
);

-- Their cells are in the file.
CREATE TABLE import_failed_rows (
  tenant_id uuid NOT NULL,
  import_id uuid NOT NULL,
  row integer NOT NULL,
  code text NOT NULL,
  message text NOT NULL,
  PRIMARY KEY (tenant_id, import_id, row),
  FOREIGN KEY (tenant_id, import_id) REFERENCES imports ON DELETE CASCADE
);

-- What an import wrote, in order, for undoing it backwards. The rows stay, so that its contacts can be listed.
CREATE TABLE import_changes (
  tenant_id uuid NOT NULL,
  import_id uuid NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  contact_id uuid NOT NULL,
  written_at timestamptz NOT NULL,
  -- NULL if the import created the contact, and when it is no longer needed.
  replaced jsonb,
  is_undone boolean NOT NULL DEFAULT false,
  -- After undoing: what changed since and was kept.
  kept jsonb,
  PRIMARY KEY (tenant_id, import_id, position),
  FOREIGN KEY (tenant_id, import_id) REFERENCES imports ON DELETE CASCADE
);
CREATE INDEX import_changes_contact ON import_changes (tenant_id, contact_id);

-- The companies that an import created.
CREATE TABLE import_companies (
  tenant_id uuid NOT NULL,
  import_id uuid NOT NULL,
  company_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, import_id, company_id),
  FOREIGN KEY (tenant_id, import_id) REFERENCES imports ON DELETE CASCADE
);
