import { type Kysely, sql } from 'kysely'

/** Columns for lists and filters of companies, and the state of each source. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const PROPERTY = (key: string) => `properties ->> '${key}'`
const FACETS = ['industry', 'country', 'state'].map((key) => `'${key}=' || left(${PROPERTY(key)}, 200)`).join(', ')

/**
 * White space that a cast to a number ignores. `\\s` includes more: a no-break space would match, and fail in the cast.
 */
const BLANK = '[ \\t\\n\\r\\f\\v]'

const STATEMENTS = [
  // A property as a number: a number, or the text of one; null for anything else.
  `CREATE FUNCTION numeric_property(properties jsonb, key text) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
      WHEN jsonb_typeof(properties -> key) = 'number' THEN (properties ->> key)::numeric
      WHEN properties ->> key ~ '^${BLANK}*[+-]?([0-9]{1,30}(\\.[0-9]{0,30})?|\\.[0-9]{1,30})${BLANK}*$' THEN (properties ->> key)::numeric
    END`,
  `ALTER TABLE companies
    ADD COLUMN facets text[] GENERATED ALWAYS AS (array_remove(ARRAY[${FACETS}], NULL)) STORED,
    ADD COLUMN search_text text GENERATED ALWAYS AS (lower(coalesce(name, '') || E'\\n' || coalesce(domain, ''))) STORED,
    ADD COLUMN sort_name text GENERATED ALWAYS AS (left(lower(name), 200)) STORED`,
  'CREATE INDEX companies_newest ON companies (tenant_id, created_at, company_id)',
  'CREATE INDEX companies_name ON companies (tenant_id, sort_name, company_id)',
  'CREATE INDEX companies_search ON companies USING gin (tenant_id, facets, search_text gin_trgm_ops)',

  // The kind of a source at its last write.
  `CREATE TABLE sources (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source text NOT NULL,
    kind text NOT NULL,
    created_at timestamptz NOT NULL,
    last_write_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, source)
  )`,
]
