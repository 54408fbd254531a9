import { sql } from 'kysely'
import { notFound } from '../../platform/errors.ts'
import { offsetOf, type Page } from '../../platform/http/pagination.ts'
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

/** A page of the versions of an agent's playbook, the newest first, and their number. */
export async function listVersions(tenant: Tenant, agentId: string, page: Page) {
  const all = tenant.db.selectFrom('agent_playbook_versions').where('agent_id', '=', agentId)
  const [rows, counted] = await Promise.all([
    all
      .select(['version', 'since', 'playbook_template'])
      .select(sql<Date | null>`lag(since) OVER (ORDER BY version DESC)`.as('until'))
      .orderBy('version', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    all.select(({ fn }) => fn.countAll().as('total')).executeTakeFirstOrThrow(),
  ])
  const versions = rows.map(({ version, since, until, playbook_template }) => ({
    playbook_version: version,
    since: since.toISOString(),
    until: until?.toISOString() ?? null,
    playbook_template,
  }))
  return { versions, total: Number(counted.total) }
}

/** One version with its text. @throws ServiceError 404 for an unknown agent or version. */
export async function readVersion(tenant: Tenant, agentId: string, sent: string) {
  const version = /^[1-9]\d{0,8}$/.test(sent) ? Number(sent) : 0
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
