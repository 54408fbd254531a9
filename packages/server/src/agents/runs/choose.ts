import { sql } from 'kysely'
import type { SegmentFilter } from '../../conditions/language.ts'
import { ServiceError } from '../../platform/errors.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { contactsMatching, contactsOf } from '../../segments/contacts-of.ts'
import { allMembers, membersAmong } from '../../segments/members.ts'
import { findSegment } from '../../segments/segments.ts'
import { MAX_CONTACTS, type Monitoring } from '../agent.ts'

const AT_ONCE = 1_000

/** The contacts of a monitoring filter, whether it names a segment or has conditions. */
interface Source {
  /** All of them, the newest first. */
  all(): AsyncIterable<string[]>
  among(contactIds: readonly string[]): Promise<Set<string>>
}

/**
 * Chooses the contacts of a run among those that match the filter: first those that this agent has never evaluated, the
 * newest first, then those that it evaluated longest ago. So an agent reaches every contact, however few fit into one run.
 * @throws ServiceError 409 `unknown_segment` if the segment that the filter names was deleted.
 */
export async function chooseContacts(
  tenant: Tenant,
  agentId: string,
  { filter, max_contacts_per_run: max = MAX_CONTACTS.default }: Monitoring,
  now: Date,
): Promise<string[]> {
  if (filter === undefined) return []
  const source = await sourceOf(tenant, filter, now)
  const chosen: string[] = []
  for await (const contactIds of source.all()) {
    for (let from = 0; from < contactIds.length && chosen.length < max; from += AT_ONCE) {
      chosen.push(...(await neverSeen(tenant, agentId, contactIds.slice(from, from + AT_ONCE))))
    }
    if (chosen.length >= max) return chosen.slice(0, max)
  }
  const fresh = new Set(chosen)
  for await (const contactIds of seenLongestAgo(tenant, agentId)) {
    const matches = await source.among(contactIds)
    chosen.push(...contactIds.filter((id) => matches.has(id) && !fresh.has(id)))
    if (chosen.length >= max) break
  }
  return chosen.slice(0, max)
}

/** Those of some contacts that an agent's filter lets it look at. Without a filter, it is all of them. */
export async function inAudience(
  tenant: Tenant,
  { filter }: Monitoring,
  contactIds: readonly string[],
  now: Date,
): Promise<Set<string>> {
  if (filter === undefined || contactIds.length === 0) return new Set(contactIds)
  return (await sourceOf(tenant, filter, now)).among(contactIds)
}

async function sourceOf(tenant: Tenant, filter: NonNullable<Monitoring['filter']>, now: Date): Promise<Source> {
  return 'segment_id' in filter ? segment(tenant, filter.segment_id, now) : matching(tenant, filter, now)
}

function matching(tenant: Tenant, filter: SegmentFilter, now: Date): Source {
  return {
    all: () => contactsOf(tenant, filter, now),
    among: (contactIds) => contactsMatching(tenant, filter, contactIds, now),
  }
}

/** The members of a segment; while they are being counted, the contacts that match its filter. */
async function segment(tenant: Tenant, segmentId: string, now: Date): Promise<Source> {
  const found = await findSegment(tenant, segmentId)
  if (!found) {
    const message = 'The segment of the monitoring filter has been deleted. Give the agent another filter.'
    throw new ServiceError(409, 'unknown_segment', message)
  }
  if (found.evaluated_at === null) return matching(tenant, found.filter as unknown as SegmentFilter, now)
  return {
    all: () => allMembers(tenant, segmentId),
    among: (contactIds) => membersAmong(tenant, segmentId, contactIds),
  }
}

async function neverSeen(tenant: Tenant, agentId: string, contactIds: readonly string[]): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('agent_run_contacts')
    .innerJoin('agent_runs', 'agent_runs.run_id', 'agent_run_contacts.run_id')
    .select('agent_run_contacts.contact_id')
    .distinct()
    .where('agent_runs.agent_id', '=', agentId)
    .where('agent_run_contacts.contact_id', '=', anyOf(contactIds))
    .where('agent_run_contacts.evaluated_at', 'is not', null)
    .execute()
  const seen = new Set(rows.map((row) => row.contact_id))
  return contactIds.filter((id) => !seen.has(id))
}

async function* seenLongestAgo(tenant: Tenant, agentId: string): AsyncGenerator<string[]> {
  for (let offset = 0; ; offset += AT_ONCE) {
    const rows = await tenant.db
      .selectFrom('agent_run_contacts')
      .innerJoin('agent_runs', 'agent_runs.run_id', 'agent_run_contacts.run_id')
      .select('agent_run_contacts.contact_id')
      .where('agent_runs.agent_id', '=', agentId)
      .where('agent_run_contacts.evaluated_at', 'is not', null)
      .groupBy('agent_run_contacts.contact_id')
      .orderBy(({ fn }) => fn.max('agent_run_contacts.evaluated_at'))
      .orderBy('agent_run_contacts.contact_id')
      .offset(offset)
      .limit(AT_ONCE)
      .execute()
    if (rows.length > 0) yield rows.map((row) => row.contact_id)
    if (rows.length < AT_ONCE) return
  }
}

function anyOf(contactIds: readonly string[]) {
  return sql<string>`any(${contactIds}::uuid[])`
}
