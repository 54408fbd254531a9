import { sql } from 'kysely'
import { labelOf } from '../../conditions/describe.ts'
import type { ScoreChange } from '../../contacts/writing/events.ts'
import { contactsOf, ownersOf } from '../../owners/owners.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { knownSegments } from '../../segments/segments.ts'
import type { Trigger } from './trigger.ts'

/** A sentence that says what has an agent look at a contact now; null if no trigger did. */
export type WhyNow = (contactId: string) => string | null

export const NOTHING_NOTICED: WhyNow = () => null

/** What a run says of its contacts. @param agentId the agent whose trigger noticed them */
export async function whyNow(
  tenant: Tenant,
  agentId: string,
  trigger: Trigger,
  contactIds: readonly string[],
): Promise<WhyNow> {
  if ('event' in trigger) return () => `Noticed because of the event “${trigger.event}”.`
  if ('score' in trigger) {
    const changes = await changesOf(tenant, agentId, trigger, contactIds)
    return (contactId) => riseWords(trigger.score.name, changes.get(contactId))
  }
  const segment = (await knownSegments(tenant, [trigger.segment_entered])).get(trigger.segment_entered)
  const why = segment ? `Noticed because they entered the segment “${segment.name}”.` : null
  return () => why
}

/** Without a change, the contact was merged with one whose score rose, or the look is too old to be known. */
function riseWords(name: string, change: ScoreChange | undefined): string {
  const label = labelOf(name)
  return change ? `${label} rose to ${change.to} (from ${change.from}).` : `${label} rose.`
}

/** How the scores rose that have an agent look at some contacts: the last rise of each. */
async function changesOf(
  tenant: Tenant,
  agentId: string,
  trigger: Trigger,
  contactIds: readonly string[],
): Promise<Map<string, ScoreChange>> {
  if (contactIds.length === 0) return new Map()
  const rows = await tenant.db
    .selectFrom('agent_looks')
    .select(['owner_id', 'is_anonymous', 'change'])
    .where('agent_id', '=', agentId)
    .where('trigger', '=', sql<never>`${JSON.stringify(trigger)}::jsonb`)
    .where('change', 'is not', null)
    .where('owner_id', '=', sql<string>`any(${await ownersOf(tenant, contactIds)}::uuid[])`)
    .orderBy('seen_at')
    .execute()
  const contacts = await contactsOf(tenant, rows)
  return new Map(
    rows.flatMap(({ owner_id, change }) => {
      const contactId = contacts.get(owner_id)
      return contactId === undefined ? [] : [[contactId, change as unknown as ScoreChange] as const]
    }),
  )
}
