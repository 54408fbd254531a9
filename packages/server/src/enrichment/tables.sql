-- Which enrichers a tenant has switched off, and its country. A tenant without a row has all of them on.
CREATE TABLE enrichment_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  is_off text[] NOT NULL DEFAULT '{}',
  -- ISO 3166-1 alpha-2: the country of phone numbers without a country code.
  country text
);
