import { type Kysely, sql } from 'kysely'

/** A tenant's rules for what its agents may do, and what they did so far that the rules count. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Only what was set; the defaults are the code's.
  `CREATE TABLE agent_settings (
    tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    settings jsonb NOT NULL,
    updated_at timestamptz NOT NULL
  )`,

  // Every action that reached a contact or may have: written before it is sent, taken away when it certainly was not.
  // Nothing refers to the agent or the contact: a deleted agent's messages were sent all the same, and count.
  `CREATE TABLE agent_outreach (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    run_id uuid NOT NULL,
    contact_id uuid NOT NULL,
    action_index integer NOT NULL,
    agent_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    type text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, run_id, contact_id, action_index)
  )`,
  'CREATE INDEX agent_outreach_of_contact ON agent_outreach (tenant_id, contact_id, at DESC)',
  'CREATE INDEX agent_outreach_of_identity ON agent_outreach (tenant_id, identity_id, at)',
]
