import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { knownContacts } from '../../contacts/read.ts'
import { contactsOf, ownersOf } from '../../owners/owners.ts'
import { isOfOpenTenant } from '../../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../../platform/due-rows.ts'
import type { Repeated } from '../../platform/every.ts'
import type { Logger } from '../../platform/log.ts'
import { changeTogether } from '../../platform/postgres/collisions.ts'
import { OPEN } from '../../platform/runs/run.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import { type Clock, DAY_MS } from '../../platform/time.ts'
import { AGENT_COLUMNS, type AgentRow, MAX_CONTACTS, type Monitoring } from '../agent.ts'
import { findAgent } from '../agents.ts'
import { inAudience } from '../runs/choose.ts'
import { queueRun } from '../runs/trigger.ts'
import { cooldownMsOf } from './match.ts'
import { COOLDOWN_HOURS, kindOf, type Trigger } from './trigger.ts'

/** Looks that one transaction decides about: more than the contacts of a run. */
const LOOKS_AT_ONCE = 2_000
/** Runs of one agent that its triggers have open: a burst becomes few runs of many contacts. */
const OPEN_RUNS_MAX = 4
/** A visitor who stays anonymous for longer is nobody's. */
const ANONYMOUS_MS = 2 * DAY_MS

/** Queues runs for the contacts that agents' triggers have noticed. */
export function startTriggerWorkers({
  stores,
  clock,
  log,
}: {
  stores: Stores
  clock: Clock
  log: Pick<Logger, 'warn'>
}): Repeated {
  return workOnDue({
    readDue: () => agentsWithDue(stores, clock()),
    work: ({ tenant_id, agent_id }) => lookAtDue(openTenant(stores, tenant_id), agent_id, clock()),
    noun: "an agent's look",
    log,
  })
}

/** One agent of each tenant that has contacts to look at, and not too many runs open. */
async function agentsWithDue(stores: Stores, now: Date) {
  const { rows } = await sql<{ tenant_id: string; agent_id: string }>`
    SELECT DISTINCT ON (tenant_id) tenant_id, agent_id FROM (
      SELECT tenant_id, agent_id, min(due_at) AS due_at FROM agent_looks
      WHERE due_at <= ${now} AND ${isOfOpenTenant(stores)} GROUP BY 1, 2
    ) AS due
    WHERE (SELECT count(*) FROM agent_runs AS run WHERE run.tenant_id = due.tenant_id AND run.agent_id = due.agent_id
      AND run.triggered_by IS NOT NULL AND run.status = any(${[...OPEN]})) < ${sql.lit(OPEN_RUNS_MAX)}
    ORDER BY tenant_id, due_at LIMIT ${sql.lit(TENANTS_AT_ONCE)}`.execute(stores.database)
  return rows
}

interface DueLook {
  look_id: string
  owner_id: string
  is_anonymous: boolean
  trigger: Trigger
  seen_at: Date
}

/**
 * Looks at the contacts of an agent's oldest due look, and of others with the same trigger. The run and the looks commit
 * together, and the agent's row is locked meanwhile: however many processes do this, a contact is looked at once.
 */
export async function lookAtDue(tenant: Tenant, agentId: string, now: Date): Promise<void> {
  const agent = await findAgent(tenant, agentId)
  const [first] = await dueLooks(tenant, agentId, now, 1)
  if (!first) return
  if (!agent || !hasTrigger(agent, first.trigger)) return forget(tenant, agentId, first.trigger)
  const due = await dueLooks(tenant, agentId, now, LOOKS_AT_ONCE, first.trigger)
  const contactIds = await contactsOfLooks(tenant, due)
  // Outside of the transaction, which would be open for as long as ClickHouse takes.
  const wanted = await inAudience(tenant, monitoringOf(agent), [...new Set(contactIds.values())], now)
  await changeTogether(tenant, async (tx) => {
    const locked = await tx.db
      .selectFrom('agents')
      .select(AGENT_COLUMNS)
      .where('agent_id', '=', agentId)
      .forUpdate()
      .executeTakeFirst()
    // What has changed meanwhile is seen in the next round.
    if (!locked || !isDeepStrictEqual(locked, agent)) return
    const looks = await lockLooks(tx, due)
    await decide(tx, agent, looks, { wanted, seen: contactIds }, now)
  })
}

/** Looks at contacts, and sets aside the looks that are for nobody. */
async function decide(
  tx: Tenant,
  agent: AgentRow,
  looks: readonly DueLook[],
  { wanted, seen }: { wanted: ReadonlySet<string>; seen: ReadonlyMap<string, string> },
  now: Date,
): Promise<void> {
  const contacts = await contactsOfLooks(tx, looks)
  const { max_contacts_per_run: max = MAX_CONTACTS.default } = monitoringOf(agent)
  const lastLooks = await lastLooksOf(tx, agent, [...new Set(contacts.values())], now)
  const chosen = new Set<string>()
  const [waiting, dropped, done]: [string[], string[], Map<string, Date>] = [[], [], new Map()]
  for (const { look_id, owner_id, is_anonymous, seen_at } of looks) {
    const contactId = contacts.get(owner_id)
    if (contactId === undefined) {
      const mayBeIdentified = is_anonymous && now.getTime() - seen_at.getTime() < ANONYMOUS_MS
      ;(mayBeIdentified ? waiting : dropped).push(look_id)
      continue
    }
    const lastAt = lastLooks.get(contactId)
    if (is_anonymous && now.getTime() - seen_at.getTime() >= ANONYMOUS_MS) dropped.push(look_id)
    else if (lastAt) done.set(look_id, lastAt)
    // It was merged or identified meanwhile: the next round knows whether it is in the audience.
    else if (seen.get(owner_id) !== contactId) continue
    else if (!wanted.has(contactId)) dropped.push(look_id)
    else if (chosen.has(contactId) || chosen.size < max) {
      chosen.add(contactId)
      done.set(look_id, now)
    }
  }
  const change = tx.db.updateTable('agent_looks')
  if (waiting.length > 0) await change.set({ due_at: null }).where('look_id', 'in', waiting).execute()
  if (dropped.length > 0) await tx.db.deleteFrom('agent_looks').where('look_id', 'in', dropped).execute()
  for (const [at, ids] of Map.groupBy(done.keys(), (id) => done.get(id) ?? now)) {
    await change.set({ due_at: null, looked_at: at }).where('look_id', 'in', ids).execute()
  }
  const trigger = looks[0]?.trigger
  if (chosen.size === 0 || !trigger) return
  const request = {
    trigger: kindOf(trigger),
    triggeredBy: trigger,
    requested: [...chosen],
    actor: { kind: 'service' },
  } as const
  await queueRun(tx, agent, request, now)
}

/** When the agent's triggers last looked at contacts in the cooldown, whatever owner the event had. */
async function lastLooksOf(
  tx: Tenant,
  agent: AgentRow,
  contactIds: readonly string[],
  now: Date,
): Promise<Map<string, Date>> {
  if (contactIds.length === 0) return new Map()
  const { cooldown_hours: hours = COOLDOWN_HOURS.default } = monitoringOf(agent)
  const rows = await tx.db
    .selectFrom('agent_looks')
    .select(['owner_id', 'is_anonymous', 'looked_at'])
    .where('agent_id', '=', agent.agent_id)
    .where('looked_at', '>', new Date(now.getTime() - cooldownMsOf(hours)))
    .where('owner_id', '=', sql<string>`any(${await ownersOf(tx, contactIds)}::uuid[])`)
    .orderBy('looked_at')
    .execute()
  const contacts = await contactsOf(tx, rows)
  const last = new Map<string, Date>()
  for (const { owner_id, looked_at } of rows) {
    const contactId = contacts.get(owner_id)
    if (contactId !== undefined && looked_at !== null) last.set(contactId, looked_at)
  }
  return last
}

/** The contacts that looks are at, by owner. A deleted contact and an anonymous visitor have none. */
async function contactsOfLooks(tenant: Tenant, looks: readonly DueLook[]): Promise<Map<string, string>> {
  const contacts = await contactsOf(tenant, looks)
  const known = await knownContacts(tenant, [...new Set(contacts.values())])
  return new Map([...contacts].filter(([, contactId]) => known.has(contactId)))
}

/** An agent's due looks, the longest due first. */
async function dueLooks(
  tenant: Tenant,
  agentId: string,
  now: Date,
  limit: number,
  trigger?: Trigger,
): Promise<DueLook[]> {
  let query = tenant.db
    .selectFrom('agent_looks')
    .select(['look_id', 'owner_id', 'is_anonymous', 'trigger', 'seen_at'])
    .where('agent_id', '=', agentId)
    .where('due_at', '<=', now)
  if (trigger) query = query.where('trigger', '=', sql<never>`${JSON.stringify(trigger)}::jsonb`)
  const rows = await query.orderBy('due_at').orderBy('look_id').limit(limit).execute()
  return rows.map((row) => ({ ...row, trigger: row.trigger as Trigger }))
}

/** Those of some looks that are still due, locked in a fixed order; returned in the given one. */
async function lockLooks(tx: Tenant, due: readonly DueLook[]): Promise<DueLook[]> {
  const rows = await tx.db
    .selectFrom('agent_looks')
    .select('look_id')
    .where('look_id', '=', sql<string>`any(${due.map(({ look_id }) => look_id)}::uuid[])`)
    .where('due_at', 'is not', null)
    .orderBy('look_id')
    .forUpdate()
    .execute()
  const locked = new Set(rows.map(({ look_id }) => look_id))
  return due.filter(({ look_id }) => locked.has(look_id))
}

/** Nothing is looked at for an agent that was deleted or disabled, or that has lost the trigger. */
async function forget(tenant: Tenant, agentId: string, trigger: Trigger): Promise<void> {
  await tenant.db
    .deleteFrom('agent_looks')
    .where('agent_id', '=', agentId)
    .where('trigger', '=', sql<never>`${JSON.stringify(trigger)}::jsonb`)
    .where('due_at', 'is not', null)
    .execute()
}

function hasTrigger(agent: AgentRow, trigger: Trigger): boolean {
  const { triggers = [] } = monitoringOf(agent)
  return agent.enabled && triggers.some((each) => isDeepStrictEqual(each, trigger))
}

function monitoringOf({ monitoring }: AgentRow): Monitoring {
  return monitoring as Monitoring
}
