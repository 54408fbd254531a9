import { notFound } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { AgentConfiguration, AgentRow, Playbook } from '../agent.ts'
import { configurationOf } from '../agent.ts'
import { playbookTemplates } from './templates.ts'

/** The versions of an agent's playbook that are kept: the latest. */
const VERSIONS_MAX = 1_000

/** What a playbook says to the agent. */
export interface PlaybookText {
  playbook_template: string | null
  playbook: Pick<Playbook, 'playbook_md' | 'variables' | 'messages' | 'config'>
}

/** The part of an agent's settings whose change is a new version: limits of cost and approval are not. */
export function textOf({ playbook_template, playbook }: Pick<AgentConfiguration, keyof PlaybookText>): PlaybookText {
  const { require_approval: _, max_cost_usd_per_run: __, ...said } = playbook
  return { playbook_template, playbook: said }
}

/** Stores the text of an agent as its version `playbook_version`. The caller has locked the agent. */
export async function addVersion(tx: Tenant, row: AgentRow, now: Date): Promise<void> {
  const { agent_id, playbook_version: version } = row
  const { playbook_template, playbook } = textOf(configurationOf(row))
  await tx.db
    .insertInto('agent_playbook_versions')
    .values({ agent_id, version, playbook_template, playbook: JSON.stringify(playbook), since: now })
    .execute()
  if (version <= VERSIONS_MAX) return
  await tx.db
    .deleteFrom('agent_playbook_versions')
    .where('agent_id', '=', agent_id)
    .where('version', '<=', version - VERSIONS_MAX)
    .execute()
}

/** One version with its text. @throws ServiceError 404 for an unknown agent or version. */
export async function readVersion(tenant: Tenant, agentId: string, version: number) {
  const row = await tenant.db
    .selectFrom('agent_playbook_versions')
    .select(['version', 'playbook_template', 'playbook', 'since'])
    .where('agent_id', '=', agentId)
    .where('version', '=', version)
    .executeTakeFirst()
  if (!row) throw notFound('version of the playbook')
  const playbook = row.playbook as PlaybookText['playbook']
  const template = row.playbook_template === null ? undefined : playbookTemplates().get(row.playbook_template)
  return {
    playbook_version: row.version,
    since: row.since.toISOString(),
    playbook_template: row.playbook_template,
    playbook,
    instructions: playbook.playbook_md ?? template?.prompt ?? null,
  }
}
