import { type Kysely, sql } from 'kysely'

/** Distinguishes values from pages from those of the tenant's own systems. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Only a page claimed the external id for this contact: a verified identification may take it.
  'ALTER TABLE contacts ADD COLUMN external_id_provisional boolean NOT NULL DEFAULT false',

  // Property keys, and `name`, whose values only forms have written so far: forms may replace those.
  `ALTER TABLE companies ADD COLUMN said_by_forms text[] NOT NULL DEFAULT '{}'`,

  // A tenant's settings for signed identification. A tenant without a row has no secret and does not require
  // signatures.
  `CREATE TABLE identification_settings (
    tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    requires_signature boolean NOT NULL DEFAULT false,
    secret_sealed text,
    secret_created_at timestamptz,
    previous_secret_sealed text,
    -- The previous secret is accepted until then.
    previous_until timestamptz
  )`,
  `CREATE TRIGGER identification_settings_changed AFTER INSERT OR UPDATE OR DELETE ON identification_settings
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,
]
