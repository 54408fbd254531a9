import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type Type from 'typebox'
import type { Page } from '../../platform/http/pagination.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { DAY_MS } from '../../platform/time.ts'
import { ACTION_OUTCOMES, hasOutcome } from '../actions/outcome.ts'
import { configurationOf } from '../agent.ts'
import { readAgent } from '../agents.ts'
import { listVersions } from '../playbooks/versions.ts'
import { followedBy, WINDOW_DAYS } from './followed.ts'
import type { VersionOutcomes } from './outcomes-object.ts'
import type { Counted } from './sent.ts'

type Outcomes = Type.Static<typeof VersionOutcomes>

/**
 * What became of an agent's proposals, by version of its playbook, the newest first. Actions that others proposed for the
 * agent follow no playbook, and do not count.
 * @throws ServiceError 404
 */
export async function readOutcomes(
  tenant: Tenant,
  agentId: string,
  bounds: Pick<Counted, 'after' | 'before'>,
  page: Page,
  now: Date,
) {
  const { goal } = configurationOf(await readAgent(tenant, agentId))
  const { versions, total } = await listVersions(tenant, agentId, page)
  const counted = { agentId, versions: versions.map((each) => each.playbook_version), ...bounds }
  const [decided, followed] = [
    await tenant.heavyRead(() => countDecisions(tenant, counted, now)),
    await followedBy(tenant, counted, goal, now),
  ]
  const outcomes = versions.map((version): Outcomes => {
    const { replied = 0, unsubscribed = 0, goalReached = null } = followed.get(version.playbook_version) ?? {}
    const decisions = decided.get(version.playbook_version) ?? NONE
    return { ...version, ...decisions, replied, goal_reached: goalReached, unsubscribed }
  })
  return { outcomes, goal, total }
}

const NONE = {
  ...{ proposed: 0, waiting: 0, approved: 0, auto_approved: 0, edited: 0, rejected: 0, stopped_by_guardrails: 0 },
  ...{ failed: 0, sent: 0, sent_recently: 0 },
}

async function countDecisions(tenant: Tenant, { agentId, versions, after, before }: Counted, now: Date) {
  const windowStart = new Date(now.getTime() - WINDOW_DAYS * DAY_MS)
  let query = tenant.db
    .selectFrom('agent_actions')
    .select('playbook_version')
    .select(({ fn }) => {
      const countIf = (condition: RawBuilder<SqlBool>) => fn.countAll<string>().filterWhere(condition)
      const isRecent = sql<SqlBool>`${hasOutcome('sent')} AND executed_at > ${windowStart}`
      return [
        fn.countAll<string>().as('proposed'),
        ...ACTION_OUTCOMES.map((outcome) => countIf(hasOutcome(outcome)).as(outcome)),
        countIf(isRecent).as('sent_recently'),
      ]
    })
    .where('agent_id', '=', agentId)
    .where('playbook_version', '=', sql<number>`any(${versions}::int[])`)
    .groupBy('playbook_version')
  if (after !== undefined) query = query.where('created_at', '>=', after)
  if (before !== undefined) query = query.where('created_at', '<=', before)
  const rows = await query.$narrowType<{ playbook_version: number }>().execute()
  return new Map(
    rows.map(({ playbook_version, ...counts }) => {
      const numbers = Object.entries(counts).map(([name, value]) => [name, Number(value)])
      return [playbook_version, Object.fromEntries(numbers) as typeof NONE]
    }),
  )
}
