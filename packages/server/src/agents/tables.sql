-- `next_run_at` is when the schedule is next due; null without one or while the agent is disabled.
CREATE TABLE agents (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  agent_id uuid NOT NULL,
  name text NOT NULL,
  description text,
  playbook_template text,
  playbook jsonb NOT NULL DEFAULT '{}',
  capabilities text[] NOT NULL DEFAULT '{}',
  identity_id uuid,
  monitoring jsonb NOT NULL DEFAULT '{}',
  llm_config jsonb NOT NULL DEFAULT '{}',
  -- The event that counts as success in the outcomes.
  goal jsonb,
  -- The number of the current row in agent_playbook_versions.
  playbook_version integer NOT NULL DEFAULT 1,
  enabled boolean NOT NULL DEFAULT false,
  next_run_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, agent_id),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE SET NULL (identity_id)
);
CREATE INDEX agents_newest ON agents (tenant_id, created_at DESC, agent_id DESC);
-- Recording an event asks which agents react to it.
CREATE INDEX agents_reacting ON agents (tenant_id) WHERE enabled AND monitoring ? 'triggers';
CREATE INDEX agents_due ON agents (next_run_at) WHERE next_run_at IS NOT NULL;

-- What the playbook said, from `since` until the next version. `playbook` has the fields that the agent reads; those that
-- only limit a run, such as its cost, make no version.
CREATE TABLE agent_playbook_versions (
  tenant_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  version integer NOT NULL,
  playbook_template text,
  playbook jsonb NOT NULL,
  since timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, agent_id, version),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents ON DELETE CASCADE
);

-- `configuration` is the agent as it was when the run was queued: a change of the agent does not change a run.
-- `triggered_by` is the trigger that noticed the contacts; null if no trigger did.
-- The run of a `proposal` records an action that someone proposed for the agent; it ends as it is inserted.
-- See platform/runs/run.ts for the other columns. `progressed_at` shows that the process makes progress.
CREATE TABLE agent_runs (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'completed', 'failed', 'cancelled')),
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  failures integer NOT NULL DEFAULT 0,
  waiting_for text,
  error text,
  trigger text NOT NULL CHECK (trigger IN ('manual', 'schedule', 'event', 'segment_entered', 'score', 'proposal')),
  triggered_by jsonb,
  requested_by jsonb NOT NULL,
  requested_contact_ids uuid[],
  configuration jsonb NOT NULL,
  -- null for the run of a proposal, which follows no playbook.
  playbook_version integer,
  provider text,
  model text,
  notices jsonb NOT NULL DEFAULT '[]',
  contacts_evaluated integer NOT NULL DEFAULT 0,
  actions_proposed integer NOT NULL DEFAULT 0,
  actions_auto_approved integer NOT NULL DEFAULT 0,
  actions_pending_approval integer NOT NULL DEFAULT 0,
  errors integer NOT NULL DEFAULT 0,
  input_tokens bigint NOT NULL DEFAULT 0,
  output_tokens bigint NOT NULL DEFAULT 0,
  cost_usd numeric(14, 6) NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  progressed_at timestamptz,
  finished_at timestamptz,
  -- The most that the run's open model calls may cost: it counts towards the caps until the actual cost is known.
  reserved_usd numeric NOT NULL DEFAULT 0,
  -- Actions that were not proposed, because the same one already waits for approval.
  actions_skipped integer NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, run_id),
  FOREIGN KEY (tenant_id, agent_id) REFERENCES agents ON DELETE CASCADE
);
CREATE INDEX agent_runs_newest ON agent_runs (tenant_id, agent_id, created_at DESC, run_id DESC);
CREATE INDEX agent_runs_triggered ON agent_runs (tenant_id, agent_id)
  WHERE triggered_by IS NOT NULL AND status IN ('queued', 'running', 'waiting');
CREATE INDEX agent_runs_due ON agent_runs (due_at) WHERE due_at IS NOT NULL;

-- The contacts that agents' triggers have noticed, by the owners of the events. A look is due until a run looks at the
-- contact (`looked_at`); then it stays for the cooldown. That of an anonymous visitor is not due while it waits for the
-- identification. No foreign key to the agent, because recording an event must not wait for a change of it.
CREATE TABLE agent_looks (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  look_id uuid NOT NULL,
  agent_id uuid NOT NULL,
  owner_id uuid NOT NULL,
  is_anonymous boolean NOT NULL,
  trigger jsonb NOT NULL,
  -- How the score rose, of such a trigger.
  change jsonb,
  seen_at timestamptz NOT NULL,
  due_at timestamptz,
  looked_at timestamptz,
  PRIMARY KEY (tenant_id, look_id)
);
CREATE INDEX agent_looks_of_owner ON agent_looks (tenant_id, owner_id, agent_id);
CREATE INDEX agent_looks_due ON agent_looks (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX agent_looks_due_of_agent ON agent_looks (tenant_id, agent_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX agent_looks_old ON agent_looks (seen_at);

-- The contacts of a run in their order, written when it starts, so that a restarted run can resume. `proposed`: the run
-- of a proposal, whose reason is in `reasoning`; the agent has not evaluated the contact.
CREATE TABLE agent_run_contacts (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  position integer NOT NULL,
  status text NOT NULL DEFAULT 'pending'
    CHECK (status IN ('pending', 'evaluated', 'failed', 'skipped', 'proposed')),
  reasoning text,
  error text,
  input_tokens integer NOT NULL DEFAULT 0,
  output_tokens integer NOT NULL DEFAULT 0,
  evaluated_at timestamptz,
  -- A list of {type, reason, run_id, action_index}.
  skipped_actions jsonb NOT NULL DEFAULT '[]',
  PRIMARY KEY (tenant_id, run_id, contact_id),
  FOREIGN KEY (tenant_id, run_id) REFERENCES agent_runs ON DELETE CASCADE
);
CREATE INDEX agent_run_contacts_order ON agent_run_contacts (tenant_id, run_id, position);
CREATE INDEX agent_run_contacts_of_contact ON agent_run_contacts (tenant_id, contact_id, evaluated_at);

-- `params_hash` is that of the approved params; execution rejects others. `guardrails` has the results of the
-- checks. `proposed_by` is who proposed it; null if the agent did. `execution` is what the executor must know after a crash, such as its Message-ID. `error` is {code,
-- message, rule?}.
CREATE TABLE agent_actions (
  tenant_id uuid NOT NULL,
  run_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  action_index integer NOT NULL,
  agent_id uuid NOT NULL,
  identity_id uuid,
  type text NOT NULL,
  params jsonb NOT NULL,
  params_hash text,
  status text NOT NULL CHECK (status IN ('pending_approval', 'approved', 'rejected', 'executed', 'failed')),
  auto_approved boolean NOT NULL DEFAULT false,
  -- Whether a person changed the params. It stays true when the approval is undone, as the changed params do.
  edited boolean NOT NULL DEFAULT false,
  proposed_by jsonb,
  -- That of the run.
  playbook_version integer,
  guardrails jsonb NOT NULL DEFAULT '[]',
  decided_by jsonb,
  decided_at timestamptz,
  due_at timestamptz,
  claim uuid,
  claimed_until timestamptz,
  execution jsonb,
  executed_at timestamptz,
  result jsonb,
  error jsonb,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, contact_id, action_index),
  FOREIGN KEY (tenant_id, run_id, contact_id) REFERENCES agent_run_contacts ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE SET NULL (identity_id)
);
CREATE INDEX agent_actions_newest ON agent_actions
  (tenant_id, agent_id, created_at DESC, run_id DESC, contact_id, action_index);
CREATE INDEX agent_actions_waiting ON agent_actions (tenant_id, created_at DESC) WHERE status = 'pending_approval';
-- Outcomes read what an agent sent, some contacts at a time.
CREATE INDEX agent_actions_executed ON agent_actions (tenant_id, agent_id, contact_id, run_id, action_index)
  WHERE status = 'executed';
CREATE INDEX agent_actions_of_contact ON agent_actions (tenant_id, contact_id, created_at DESC);

-- Only explicit settings; the defaults are in the code.
CREATE TABLE agent_settings (
  tenant_id uuid PRIMARY KEY REFERENCES tenants ON DELETE CASCADE,
  settings jsonb NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The cost of models by calendar month (UTC). Deleting an agent deletes its runs, but their cost still counts.
CREATE TABLE agent_costs (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  month date NOT NULL,
  cost_usd numeric(14, 6) NOT NULL,
  PRIMARY KEY (tenant_id, month)
);

-- Every action that reached a contact or may have: inserted before sending, deleted if it was certainly not sent. No
-- foreign keys to agent or contact, because a deleted agent's messages still count.
CREATE TABLE agent_outreach (
  tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
  run_id uuid NOT NULL,
  contact_id uuid NOT NULL,
  action_index integer NOT NULL,
  agent_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  type text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, run_id, contact_id, action_index)
);
CREATE INDEX agent_outreach_of_contact ON agent_outreach (tenant_id, contact_id, at DESC);
CREATE INDEX agent_outreach_of_identity ON agent_outreach (tenant_id, identity_id, at);
