CREATE TABLE saved_views (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  view_id uuid NOT NULL,
  name text NOT NULL,
  page text NOT NULL CHECK (page IN ('contacts', 'companies', 'events')),
  query jsonb NOT NULL,
  columns text[] NOT NULL,
  created_by jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, view_id),
  UNIQUE (tenant_id, page, name)
);
