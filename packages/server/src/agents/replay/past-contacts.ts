import { sql } from 'kysely'
import type { SegmentFilter } from '../../conditions/language.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { contactsMatching } from '../../segments/contacts-of.ts'

/** Contacts that are compared with the filter, at most: beyond, the agent's past is not searched. */
const SEARCHED_MAX = 5_000
const AT_ONCE = 500

/** The contacts that an agent has evaluated, the latest first, that still exist and match a filter. */
export async function pastContacts(
  tenant: Tenant,
  agentId: string,
  filter: SegmentFilter,
  limit: number,
  now: Date,
): Promise<string[]> {
  const chosen: string[] = []
  for (let offset = 0; offset < SEARCHED_MAX && chosen.length < limit; offset += AT_ONCE) {
    const rows = await tenant.db
      .selectFrom('agent_run_contacts')
      .innerJoin('agent_runs', 'agent_runs.run_id', 'agent_run_contacts.run_id')
      .select('agent_run_contacts.contact_id')
      .where('agent_runs.agent_id', '=', agentId)
      .where('agent_run_contacts.evaluated_at', 'is not', null)
      .groupBy('agent_run_contacts.contact_id')
      .orderBy(sql`max(agent_run_contacts.evaluated_at)`, 'desc')
      .orderBy('agent_run_contacts.contact_id')
      .offset(offset)
      .limit(AT_ONCE)
      .execute()
    const ids = rows.map(({ contact_id }) => contact_id)
    const matching = await contactsMatching(tenant, filter, ids, now)
    chosen.push(...ids.filter((id) => matching.has(id)))
    if (rows.length < AT_ONCE) break
  }
  return chosen.slice(0, limit)
}
