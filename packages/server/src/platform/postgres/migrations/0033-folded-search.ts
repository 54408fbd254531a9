import { type Kysely, sql } from 'kysely'

/** Searches compare folded texts, as in ClickHouse (platform/clickhouse/folded-text.ts). */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const SEARCHED = ['firstname', 'lastname', 'company', 'jobtitle'].map((key) => `coalesce(properties ->> '${key}', '')`)

const STATEMENTS = [
  // Folds case and spelling. The listed letters are those for which lower case is not enough, or differs between
  // locales; a combining accent counts as part of its letter.
  `CREATE FUNCTION fold_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN replace(replace(translate(lower(normalize(value, NFC)), 'İẞςıſ', 'ißσis'), 'ß', 'ss'), E'i\\u0307', 'i')`,
  `CREATE OR REPLACE FUNCTION property_contains(value jsonb, pattern text) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
      WHEN jsonb_typeof(value) = 'array' THEN EXISTS (
        SELECT FROM jsonb_array_elements_text(value) AS elements (element) WHERE fold_text(element) LIKE fold_text(pattern))
      ELSE coalesce(fold_text(value #>> '{}') LIKE fold_text(pattern), false)
    END`,

  // Dropping the column drops its index.
  'ALTER TABLE contacts DROP COLUMN search_text',
  `ALTER TABLE contacts ADD COLUMN search_text text
    GENERATED ALWAYS AS (fold_text(coalesce(email, '') || E'\\n' || ${SEARCHED.join(` || E'\\n' || `)})) STORED`,
  'CREATE INDEX contacts_search ON contacts USING gin (tenant_id, facets, search_text gin_trgm_ops)',
  'ALTER TABLE companies DROP COLUMN search_text',
  `ALTER TABLE companies ADD COLUMN search_text text
    GENERATED ALWAYS AS (fold_text(coalesce(name, '') || E'\\n' || coalesce(domain, ''))) STORED`,
  'CREATE INDEX companies_search ON companies USING gin (tenant_id, facets, search_text gin_trgm_ops)',
]
