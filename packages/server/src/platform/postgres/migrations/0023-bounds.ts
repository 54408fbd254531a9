import { type Kysely, sql } from 'kysely'

/** Bounds of what one contact may hold, and the networks that a visitor was seen from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

/** A little more than `contacts/size.ts` accepts: what a person decides about being contacted is written all the same. */
const BYTES_MAX = 264 * 1024

const STATEMENTS = [
  // The service checks a contact as a whole and says so to the caller; this is the last line, row by row.
  `ALTER TABLE contacts ADD CONSTRAINT contacts_size CHECK (octet_length(properties::text) <= ${BYTES_MAX})`,
  `ALTER TABLE contact_sources ADD CONSTRAINT contact_sources_size
    CHECK (octet_length(fields::text) + coalesce(octet_length(raw::text), 0) <= ${BYTES_MAX})`,
  `ALTER TABLE companies ADD CONSTRAINT companies_size CHECK (octet_length(properties::text) <= ${BYTES_MAX})`,
]
