import { conditionsOf } from '../../events/conditions.ts'
import { engagementOfContacts } from '../../events/engagement.ts'
import { EVENT_ID_ORDER } from '../../events/table.ts'
import { filesOfContacts } from '../../imports/origin.ts'
import { latestSegments } from '../../memberships/memberships.ts'
import { queryableGroups } from '../../owners/owners.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { knownSegments } from '../../segments/segments.ts'

/** What the reasons of the template provider say about a person besides the context that models have too. */
export interface PersonFacts {
  /** The number of different sessions. */
  visits: number
  /** The last change of the lifecycle stage. */
  stage: { from: string | null; to: string | null; at: Date } | null
  /** The segment that they entered last. */
  segment: { name: string; createdAt: Date; since: Date } | null
  /** The name of the file of the import that first wrote them. */
  importFile: string | null
}

export const NO_FACTS: PersonFacts = { visits: 0, stage: null, segment: null, importFile: null }

/** Reads the facts of several contacts, in a few queries. */
export async function readPersonFacts(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, PersonFacts>> {
  const [engagement, stages, segments, files] = await Promise.all([
    engagementOfContacts(tenant, contactIds),
    stageChanges(tenant, contactIds),
    latestSegments(tenant, contactIds),
    filesOfContacts(tenant, contactIds),
  ])
  const known = await knownSegments(tenant, [...new Set([...segments.values()].map(({ segmentId }) => segmentId))])
  return new Map(
    contactIds.map((contactId) => {
      const segment = segments.get(contactId)
      const named = segment && known.get(segment.segmentId)
      return [
        contactId,
        {
          visits: engagement.get(contactId)?.visits ?? 0,
          stage: stages.get(contactId) ?? null,
          segment: segment && named ? { ...named, since: segment.since } : null,
          importFile: files.get(contactId) ?? null,
        },
      ]
    }),
  )
}

interface StageRow {
  contact_id: string
  data: string
  last_ms: number
}

/** The latest event that says that a contact's lifecycle stage changed. */
async function stageChanges(
  tenant: Tenant,
  contactIds: readonly string[],
): Promise<Map<string, NonNullable<PersonFacts['stage']>>> {
  const changes = new Map<string, NonNullable<PersonFacts['stage']>>()
  for (const group of await queryableGroups(tenant, contactIds)) {
    const conditions = await conditionsOf(tenant, { contact_ids: group, includeSystem: true })
    const rows = await tenant.events.select<StageRow>({
      name: 'agents.stage_changes',
      lane: 'light',
      columns: `argMaxState(data, (timestamp, ${EVENT_ID_ORDER})) AS latest, max(timestamp) AS last`,
      where: [...conditions.where, "event = 'lifecycle_stage_changed'"],
      parameters: conditions.parameters,
      isPerContact: true,
      outer: {
        columns: `toString(contact_id) AS contact_id, argMaxMerge(latest) AS data,
          toUnixTimestamp64Milli(max(last)) AS last_ms`,
        groupBy: 'contact_id',
      },
    })
    for (const { contact_id, data, last_ms } of rows) {
      const { from, to } = JSON.parse(data) as { from: string | null; to: string | null }
      changes.set(contact_id, { from, to, at: new Date(Number(last_ms)) })
    }
  }
  return changes
}
