import type { Tenant } from '../../platform/tenant.ts'
import { knownSegments } from '../../segments/segments.ts'
import type { Trigger } from './trigger.ts'

/** A sentence that says what has an agent look at a contact now. */
export async function whyNow(tenant: Tenant, trigger: Trigger): Promise<string> {
  if ('event' in trigger) return `Noticed because of the event “${trigger.event}”.`
  const segment = (await knownSegments(tenant, [trigger.segment_entered])).get(trigger.segment_entered)
  return segment ? `Noticed because they entered the segment “${segment.name}”.` : ''
}
