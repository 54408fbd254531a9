import { type Kysely, sql } from 'kysely'

/** A contact's size limits, and the networks from which a visitor may be recovered. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** A little more than `contacts/size.ts` accepts: consent is stored even on a full contact. */
const BYTES_MAX = 264 * 1024

const STATEMENTS = [
  // The service checks the whole contact and reports an error to the caller; this is the last line of defence, per row.
  `ALTER TABLE contacts ADD CONSTRAINT contacts_size CHECK (octet_length(properties::text) <= ${BYTES_MAX})`,
  `ALTER TABLE contact_sources ADD CONSTRAINT contact_sources_size
    CHECK (octet_length(fields::text) + coalesce(octet_length(raw::text), 0) <= ${BYTES_MAX})`,
  `ALTER TABLE companies ADD CONSTRAINT companies_size CHECK (octet_length(properties::text) <= ${BYTES_MAX})`,

  // The networks that a visitor was seen from: keyed hashes, each in the slot that the hash selects. The collector
  // writes here for a tenant and a visitor that it has just looked up, so there are no foreign keys.
  `CREATE TABLE visitor_networks (
    tenant_id uuid NOT NULL,
    visitor_id text NOT NULL,
    place smallint NOT NULL,
    network bytea NOT NULL,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, visitor_id, place)
  )`,
  'CREATE INDEX visitor_networks_seen ON visitor_networks (seen_at)',
  `CREATE OR REPLACE FUNCTION forget_visitors() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM visitors WHERE tenant_id = OLD.tenant_id;
      DELETE FROM visitor_networks WHERE tenant_id = OLD.tenant_id;
      RETURN OLD;
    END $$`,

  // A fingerprint without a visitor is shared by two and recovers neither.
  'ALTER TABLE fingerprints ALTER COLUMN visitor_id DROP NOT NULL',
  'ALTER TABLE fingerprints ADD COLUMN seen_at timestamptz',
  'UPDATE fingerprints SET seen_at = created_at',
  'ALTER TABLE fingerprints ALTER COLUMN seen_at SET NOT NULL',
  'CREATE INDEX fingerprints_seen ON fingerprints (seen_at)',
]
