-- A single row: the hash of the statements that created the tables, and what came of them. The service starts only on the
-- tables that it knows, and is ready only while they are as they were created.
CREATE TABLE schema_fingerprint (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  fingerprint text NOT NULL,
  parts jsonb NOT NULL
);
