/*
 * The looks that events ask for commit together with the events, in one of two ways: `addLooks` adds them in a transaction
 * that changes something else too, `prepareLooks` to a flush of the group commit.
 */

import { CompiledQuery, sql } from 'kysely'
import type { EventRecord } from '../../journal/event-record.ts'
import type { PreparePart } from '../../journal/group-commit.ts'
import { anyOf } from '../../owners/owners.ts'
import { evenIfClosed } from '../../platform/closed-tenants.ts'
import type { Invalidation } from '../../platform/postgres/invalidation.ts'
import { openTenant, type Stores, type Tenant } from '../../platform/tenant.ts'
import type { Monitoring } from '../agent.ts'
import { cooldownMsOf, looksOf, type NewLook, type Reacting } from './match.ts'
import { COOLDOWN_HOURS } from './trigger.ts'

/** Finds the agents of a tenant that react. */
export type FindReacting = (tenant: Tenant) => Promise<readonly Reacting[]>

/** The maximum number of tenants in the cache. */
const CACHED_MAX = 10_000

/**
 * Caches which agents react until any tenant's agents change, so that tenants without triggers pay nothing. It uses the
 * caller's database connection, because waiting for a second one could cause a deadlock.
 */
export function cacheReacting(invalidation: Pick<Invalidation, 'listening' | 'onChange'>): FindReacting {
  let known = new Map<string, readonly Reacting[]>()
  invalidation.onChange(() => {
    known = new Map()
  })
  return async (tenant) => {
    const current = known
    const remembered = current.get(tenant.id)
    if (remembered) return remembered
    const found = await readReacting(tenant)
    // If the map was replaced, this entry is discarded with it.
    if (invalidation.listening && current.size < CACHED_MAX) current.set(tenant.id, found)
    return found
  }
}

async function readReacting(tenant: Tenant): Promise<Reacting[]> {
  const rows = await tenant.db
    .selectFrom('agents')
    .select(['agent_id', 'monitoring'])
    .where('enabled', '=', true)
    .where(sql<boolean>`monitoring ? 'triggers'`)
    .orderBy('agent_id')
    .execute()
  return rows.map((row) => {
    const { triggers = [], cooldown_hours: hours = COOLDOWN_HOURS.default } = row.monitoring as Monitoring
    return { agentId: row.agent_id, triggers, cooldownMs: cooldownMsOf(hours) }
  })
}

/**
 * Adds the looks that some events ask for in the caller's transaction, and wakes those that wait for an identification.
 * @param ownerLinks rows of that table that changed in the same transaction.
 */
export async function addLooks(
  tenant: Tenant,
  findReacting: FindReacting,
  records: readonly EventRecord[],
  ownerLinks: readonly object[],
): Promise<void> {
  if (records.length === 0 && ownerLinks.length === 0) return
  const agents = await findReacting(tenant)
  if (agents.length === 0) return
  const owners = (ownerLinks as readonly { owner_id: string }[]).map(({ owner_id }) => owner_id)
  if (owners.length > 0) {
    await tenant.db
      .updateTable('agent_looks')
      .set({ due_at: sql`seen_at` })
      .where('owner_id', '=', anyOf(owners))
      .where('is_anonymous', '=', true)
      .where('looked_at', 'is', null)
      .execute()
  }
  const looks = looksOf(records, agents)
  if (looks.length === 0) return
  const query = CompiledQuery.raw(`WITH ${insertLooks(1)} SELECT count(*) FROM asked`, lookValues(looks))
  await tenant.unrestricted.executeQuery(query)
}

/** Adds the looks that the events of a flush ask for, in the statement of the flush. */
export function prepareLooks(stores: Stores, findReacting: FindReacting): PreparePart {
  return async (tenantIds) => {
    const found: [string, readonly Reacting[]][] = []
    for (const tenantId of tenantIds) {
      // Even of a closed tenant, whose last events may be written together with those of others.
      const agents = await findReacting(openTenant(evenIfClosed(stores), tenantId))
      if (agents.length > 0) found.push([tenantId, agents])
    }
    return (events) => {
      const looks = found.flatMap(([tenantId, agents]) =>
        looksOf(
          events.filter((event) => event.tenant_id === tenantId),
          agents,
        ),
      )
      return looks.length === 0 ? null : { name: 'look', sql: insertLooks, values: lookValues(looks) }
    }
  }
}

/**
 * The common table expression that inserts looks, for one tenant or for all. Of an owner that is waiting or was looked at
 * in the cooldown, none is added: many events of one contact cost one row. Two transactions at once may add one each,
 * because neither waits for the other; the worker makes one look of them.
 */
function insertLooks(firstParameter: number): string {
  const types = 'uuid uuid uuid uuid boolean jsonb jsonb timestamptz timestamptz timestamptz'.split(' ')
  const columns = types.map((type, index) => `$${firstParameter + index}::${type}[]`)
  return `asked AS (
      INSERT INTO agent_looks (tenant_id, look_id, agent_id, owner_id, is_anonymous, trigger, change, seen_at, due_at)
      SELECT tenant_id, look_id, agent_id, owner_id, is_anonymous, trigger, change, seen_at, due_at
      FROM unnest(${columns.join(', ')})
        AS look (tenant_id, look_id, agent_id, owner_id, is_anonymous, trigger, change, seen_at, due_at, quiet_since)
      WHERE NOT EXISTS (SELECT FROM agent_looks AS known WHERE known.tenant_id = look.tenant_id
        AND known.owner_id = look.owner_id AND known.agent_id = look.agent_id
        AND coalesce(known.looked_at, known.seen_at) > look.quiet_since)
      RETURNING 1
    )`
}

function lookValues(looks: readonly NewLook[]): unknown[] {
  const column = <T>(value: (look: NewLook) => T) => looks.map(value)
  return [
    column(({ tenantId }) => tenantId),
    column(({ lookId }) => lookId),
    column(({ agentId }) => agentId),
    column(({ ownerId }) => ownerId),
    column(({ isAnonymous }) => isAnonymous),
    column(({ trigger }) => JSON.stringify(trigger)),
    column(({ change }) => change && JSON.stringify(change)),
    column(({ seenAt }) => seenAt.toISOString()),
    column(({ dueAt }) => dueAt.toISOString()),
    column(({ quietSince }) => quietSince.toISOString()),
  ]
}
