import { knownContacts } from '../../contacts/read.ts'
import type { Actor } from '../../operations/audit.ts'
import { shown } from '../../platform/characters.ts'
import { notFound, validationError } from '../../platform/errors.ts'
import { isUuid, newId } from '../../platform/ids.ts'
import { requireFewer } from '../../platform/limits.ts'
import { OPEN, queued, wakeWorkers } from '../../platform/runs/run.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { AGENT_COLUMNS, type AgentRow, configurationOf } from '../agent.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { RunTrigger } from './run-object.ts'

const NAMED_MAX = 20
/** Queued and running runs of a tenant. */
const OPEN_MAX = 100

/**
 * Queues a run of an agent, enabled or not.
 * @param contactIds the contacts to evaluate; null: the agent's monitoring filter chooses them when the run begins.
 * @returns the run's id; the run can be read at once.
 * @throws ServiceError 404, 400 naming the contacts that do not exist, 409 `too_many_runs`.
 */
export async function triggerRun(
  tenant: Tenant,
  agentId: string,
  contactIds: readonly string[] | null,
  actor: Actor,
  now: Date,
): Promise<string> {
  return tenant.transaction(async (tx) => {
    const agent = await tx.db
      .selectFrom('agents')
      .select(AGENT_COLUMNS)
      .where('agent_id', '=', agentId)
      .forShare()
      .executeTakeFirst()
    if (!agent) throw notFound('agent')
    await requireFewOpen(tx)
    const requested = contactIds === null ? null : await requireContacts(tx, contactIds)
    return queueRun(tx, agent, { trigger: 'manual', requested, actor }, now)
  })
}

interface Request {
  trigger: Exclude<RunTrigger, 'proposal'>
  /** The trigger of the agent that noticed the contacts. */
  triggeredBy?: Trigger
  requested: readonly string[] | null
  actor: Actor
}

/** Queues a run with the agent's current configuration, in the caller's transaction. */
export async function queueRun(
  tx: Tenant,
  agent: AgentRow,
  { trigger, triggeredBy, requested, actor }: Request,
  now: Date,
): Promise<string> {
  const runId = newId()
  await tx.db
    .insertInto('agent_runs')
    .values({
      run_id: runId,
      agent_id: agent.agent_id,
      ...queued(),
      trigger,
      triggered_by: triggeredBy === undefined ? null : JSON.stringify(triggeredBy),
      requested_by: JSON.stringify(actor),
      requested_contact_ids: requested === null ? null : [...requested],
      configuration: JSON.stringify(configurationOf(agent)),
      playbook_version: agent.playbook_version,
      created_at: now,
    })
    .execute()
  await wakeWorkers(tx)
  return runId
}

/** @throws ServiceError 409 `too_many_runs` */
async function requireFewOpen(tx: Tenant): Promise<void> {
  const open = tx.db
    .selectFrom('agent_runs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('status', 'in', OPEN)
  const message = `${OPEN_MAX} runs are already queued or running. Try again when one has ended.`
  await requireFewer(tx, 'runs', OPEN_MAX, () => open.executeTakeFirstOrThrow(), message)
}

/** @throws ServiceError 400 naming the contacts that do not exist. */
export async function requireContacts(tx: Tenant, contactIds: readonly string[]): Promise<string[]> {
  const distinct = [...new Set(contactIds.map((id) => id.toLowerCase()))]
  const known = await knownContacts(tx, distinct.filter(isUuid))
  const details = contactIds.flatMap((id, index) =>
    known.has(id.toLowerCase())
      ? []
      : [{ path: `contact_ids[${index}]`, message: `${shown(id)} is not the id of one of your contacts` }],
  )
  if (details.length > 0) throw validationError(details.slice(0, NAMED_MAX))
  return distinct
}
