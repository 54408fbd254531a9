import { type Kysely, sql } from 'kysely'

/** A tenant's rules for its agents, and the outreach and costs that count towards them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // Only explicit settings; the defaults are in the code.
  `CREATE TABLE agent_settings (
    tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
    settings jsonb NOT NULL,
    updated_at timestamptz NOT NULL
  )`,

  // The cost of models by calendar month (UTC). Deleting an agent deletes its runs, but their cost still counts.
  `CREATE TABLE agent_costs (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    month date NOT NULL,
    cost_usd numeric(14, 6) NOT NULL,
    PRIMARY KEY (tenant_id, month)
  )`,

  // Every action that reached a contact or may have: inserted before sending, deleted if it was certainly not sent. No
  // foreign keys to agent or contact, because a deleted agent's messages still count.
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
