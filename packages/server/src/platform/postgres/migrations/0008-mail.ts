import { type Kysely, sql } from 'kysely'

/** Every mail that was or may have been sent, to prevent duplicates and enforce limits. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // A row is inserted before the mail is sent, and deleted if the mail was certainly not sent. \`sending\` past
  // \`lease_until\` means that its process died and the outcome is unknown. \`recorded_at\` is when it became a message
  // of its contact. \`unsubscribe_hash\` is that of the token in its links, which work for a year, so the row outlives
  // the identity and the contact.
  `CREATE TABLE mail_sends (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    message_id text NOT NULL,
    identity_id uuid,
    contact_id uuid,
    recipient text NOT NULL,
    status text NOT NULL CHECK (status IN ('sending', 'sent', 'unknown')),
    reserved_at timestamptz NOT NULL,
    lease_until timestamptz NOT NULL,
    sent_at timestamptz,
    response text,
    recorded_at timestamptz,
    unsubscribe_hash text,
    PRIMARY KEY (tenant_id, message_id),
    UNIQUE (tenant_id, unsubscribe_hash),
    FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE SET NULL (identity_id),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
  )`,
  'CREATE INDEX mail_sends_of_identity ON mail_sends (tenant_id, identity_id, reserved_at DESC)',
  'CREATE INDEX mail_sends_of_contact ON mail_sends (tenant_id, contact_id)',
]
