-- A single row: the hash of the statements that created the tables. The service starts only on the tables that it
-- knows.
CREATE TABLE schema_fingerprint (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  fingerprint text NOT NULL
);
