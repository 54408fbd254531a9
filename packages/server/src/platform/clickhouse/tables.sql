-- A single row. ClickHouse stores the same id, so that the service can check that both databases belong together.
CREATE TABLE installation (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  installation_id uuid NOT NULL
);
