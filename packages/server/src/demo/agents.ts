import { createAgent } from '../agents/agents.ts'
import type { AgentInput } from '../agents/requests.ts'
import { triggerRun } from '../agents/runs/trigger.ts'
import { type LoginDependencies, setEmailAccount } from '../identities/email-accounts.ts'
import { createIdentity } from '../identities/identities.ts'
import type { Actor } from '../operations/audit.ts'
import type { Jobs } from '../platform/jobs/jobs.ts'
import type { Tenant } from '../platform/tenant.ts'
import { INTEREST } from './interest.ts'
import type { SandboxMailbox } from './mailbox.ts'

const ACTOR: Actor = { kind: 'command_line' }
const SENDER_ADDRESS = 'grace.okafor@example.com'
const SENDER = { firstName: 'Grace', lastName: 'Okafor', role: 'Account executive' }

/** No model, so that the demo needs no API key. */
const LLM_CONFIG = { provider: 'template' } as const

/** Two agents propose messages that need approval; the third only writes notes, which need none. */
const AGENTS: (AgentInput & { name: string; sends: boolean })[] = [
  {
    name: 'Pricing follow-up',
    description: 'Writes to people who viewed the pricing page this week; each message waits for approval.',
    playbook_template: 'pricing_visitor_followup',
    monitoring: {
      filter: {
        match: 'all',
        conditions: [
          { event: { type: 'page_view', url_contains: '/pricing', within_days: 7 }, operator: 'did' },
          { property: 'lifecyclestage', operator: 'in', value: ['lead', 'subscriber', 'mql', 'sql', 'opportunity'] },
        ],
      },
      schedule_cron: '0 9 * * 1-5',
      max_contacts_per_run: 15,
    },
    sends: true,
  },
  {
    name: 'Warm leads',
    description: 'Writes to people whose interest score has just risen to 50; each message waits for approval.',
    playbook_template: 'warm_lead',
    playbook: { variables: { topic: 'our lamps' } },
    monitoring: { triggers: [{ score: { name: INTEREST, gte: 50 } }], max_contacts_per_run: 15 },
    goal: { event: 'page_view', where: [{ property: 'url_path', operator: 'ends_with', value: '/contact.html' }] },
    sends: true,
  },
  {
    name: 'Lead qualification',
    description: 'Evaluates active leads, writes a note on each and sets the lead status. It sends no messages.',
    playbook_template: 'lead_qualification',
    monitoring: {
      filter: { match: 'all', conditions: [{ property: 'lifecyclestage', operator: 'in', value: ['lead', 'mql'] }] },
      schedule_cron: '30 7 * * *',
      max_contacts_per_run: 25,
    },
    sends: false,
  },
]

/**
 * Creates the demo's agents, and queues a run of each that has a schedule.
 * @returns the id of the identity that writes their messages.
 */
export async function createDemoAgents(tenant: Tenant, dependencies: { jobs: Jobs }, now: Date): Promise<string> {
  const { identity_id } = await createIdentity(tenant, SENDER, now)
  for (const { sends, ...input } of AGENTS) {
    const settings = { ...input, llm_config: LLM_CONFIG, enabled: true, ...(sends ? { identity_id } : {}) }
    const { agent_id } = await createAgent(tenant, dependencies.jobs, settings, now)
    // An agent without a schedule looks at people when its trigger says so.
    if (input.monitoring?.schedule_cron !== undefined) await triggerRun(tenant, agent_id, null, ACTOR, now)
  }
  return identity_id
}

/** Lets the identity send through the sandbox mailbox, whose port and password are new at each start. */
export async function connectSender(
  tenant: Tenant,
  dependencies: LoginDependencies,
  identityId: string,
  { smtp: { host, port, user, password } }: SandboxMailbox,
  now: Date,
): Promise<void> {
  const smtp = { host, port, security: 'none', login: { user, password } } as const
  const settings = { address: SENDER_ADDRESS, smtp, imap: null, dailyLimit: 1_000, spacingSeconds: 0 }
  await setEmailAccount(tenant, dependencies, ACTOR, identityId, settings, now)
}
