import { type Kysely, sql } from 'kysely'

/** Merged contacts: the data to restore them, and the keys that lead to the survivor. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // One row per merged contact, until it is unmerged. `survivor_id` is its current survivor: when that is itself
  // merged, the row follows. Deleting the survivor deletes the row, so an erasure leaves no copy.
  `CREATE TABLE contact_merges (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    contact_id uuid NOT NULL,
    into_contact_id uuid NOT NULL,
    survivor_id uuid NOT NULL,
    position bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    merged_at timestamptz NOT NULL,
    merged_by jsonb NOT NULL,
    merged jsonb NOT NULL,
    survivor_before jsonb NOT NULL,
    survivor_after jsonb NOT NULL,
    moved jsonb NOT NULL,
    PRIMARY KEY (tenant_id, contact_id),
    FOREIGN KEY (tenant_id, survivor_id) REFERENCES contacts ON DELETE CASCADE
  )`,
  'CREATE INDEX contact_merges_survivor ON contact_merges (tenant_id, survivor_id)',
  // The keys of merged contacts, which lead to the survivor.
  `CREATE TABLE contact_aliases (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('email', 'external_id', 'source')),
    -- The source whose id for the contact the key is; empty for the other kinds.
    source text NOT NULL,
    key text NOT NULL,
    contact_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, kind, source, key),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contact_merges ON DELETE CASCADE
  )`,
  'CREATE INDEX contact_aliases_contact ON contact_aliases (tenant_id, contact_id)',
]
