import Type from 'typebox'
import { isScoreOfContacts } from '../../computed/scores/find.ts'
import { nameDays } from '../../conditions/bounds.ts'
import type { ConditionOnEvent } from '../../conditions/language.ts'
import { parseWhere } from '../../conditions/parse.ts'
import { ConditionOnEventSchema } from '../../conditions/schema.ts'
import { EVENT_NAME_LENGTH_MAX } from '../../journal/event-record.ts'
import type { ErrorDetail } from '../../platform/errors.ts'
import { Id } from '../../platform/http/responses.ts'
import { LABEL } from '../../platform/personal.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { findSegment } from '../../segments/segments.ts'

export const TRIGGERS_MAX = 20
export const COOLDOWN_HOURS = { min: 1, max: 720, default: 24 }

/**
 * What has an agent look at a contact: an event of the contact that meets all conditions, its entry into a segment, or a
 * score of it that rises to a value.
 */
export type Trigger =
  | { event: string; where?: ConditionOnEvent[] }
  | { segment_entered: string }
  | { score: { name: string; gte: number } }

/** What noticed the contacts of a run. */
export type TriggerKind = 'event' | 'segment_entered' | 'score'

export function kindOf(trigger: Trigger): TriggerKind {
  if ('event' in trigger) return 'event'
  return 'score' in trigger ? 'score' : 'segment_entered'
}

export const AgentTrigger = Type.Unsafe<Trigger>(
  Type.Object(
    {
      event: Type.Optional(
        Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, examples: ['page_view'], ...LABEL }),
      ),
      where: Type.Optional(
        Type.Array(ConditionOnEventSchema, {
          description: 'Conditions on the event alone; all must be true.',
          examples: [[{ property: 'url_path', operator: 'starts_with', value: '/pricing' }]],
        }),
      ),
      segment_entered: Type.Optional({ ...Id, description: 'The id of a segment of contacts.' }),
      score: Type.Optional(
        Type.Object(
          {
            name: Type.String({ examples: ['lead_score'], ...LABEL }),
            gte: Type.Number({ description: 'The score rises from below this to at least this.', examples: [50] }),
          },
          { additionalProperties: false, description: 'A score of contacts, which is a computed property.' },
        ),
      ),
    },
    {
      title: 'AgentTrigger',
      additionalProperties: false,
      description:
        'What has an agent look at a contact: `event`, with `where` if not every such event counts, `segment_entered`, or `score`.',
    },
  ),
)

/** An agent would react to itself, and the others are of no contact. */
const NEVER_EVENTS = [
  'agent_action_proposed',
  'agent_action_executed',
  'agent_action_failed',
  'alert_triggered',
  'contact_deleted',
]

/** Checks what the schema of triggers cannot express. @returns them in their stored form. */
export async function checkTriggers(
  tenant: Tenant,
  triggers: readonly Trigger[],
  details: ErrorDetail[],
): Promise<Trigger[]> {
  const checked: Trigger[] = []
  for (const [index, trigger] of triggers.entries()) {
    const path = `monitoring.triggers[${index}]`
    const found = await checkTrigger(tenant, trigger, path, details)
    if (found) checked.push(found)
  }
  return checked
}

async function checkTrigger(
  tenant: Tenant,
  sent: Trigger,
  path: string,
  details: ErrorDetail[],
): Promise<Trigger | undefined> {
  const {
    event,
    where,
    segment_entered: segmentId,
    score,
  } = sent as Partial<{
    event: string
    where: unknown
    segment_entered: string
    score: { name: string; gte: number }
  }>
  if ([event, segmentId, score].filter((each) => each !== undefined).length !== 1) {
    details.push({ path, message: 'must have exactly one of event, segment_entered and score' })
    return undefined
  }
  if (event === undefined && where !== undefined) {
    details.push({ path: `${path}.where`, message: 'is only for an event; remove it' })
  }
  if (score !== undefined) {
    if (await isScoreOfContacts(tenant, score.name)) return { score: { name: score.name, gte: score.gte } }
    details.push({ path: `${path}.score.name`, message: 'is not the name of one of your scores of contacts' })
    return undefined
  }
  if (segmentId !== undefined) {
    const segment = await findSegment(tenant, segmentId)
    if (segment) return { segment_entered: segment.segment_id }
    details.push({ path: `${path}.segment_entered`, message: 'is not the id of one of your segments of contacts' })
    return undefined
  }
  const name = event ?? ''
  if (name.trim() === '') details.push({ path: `${path}.event`, message: 'must not be blank' })
  if (NEVER_EVENTS.includes(name)) {
    details.push({ path: `${path}.event`, message: `cannot be ${name}: no agent can react to it` })
  }
  const conditions = where === undefined ? [] : checkWhere(where, `${path}.where`, details)
  return conditions && (conditions.length === 0 ? { event: name } : { event: name, where: conditions })
}

/** The conditions on an event that an agent's settings name; undefined if they are invalid. */
export function checkWhere(where: unknown, path: string, details: ErrorDetail[]): ConditionOnEvent[] | undefined {
  try {
    const conditions = parseWhere(where, { path, contacts: null })
    // Which day a date alone means would change with the time zone of the tenant.
    if (nameDays(conditions)) {
      details.push({ path, message: 'must have a time with each date, such as 2026-05-01T00:00:00Z' })
    }
    return conditions
  } catch (error) {
    // Problems in other fields are reported in the same response.
    details.push(...((error as { details?: ErrorDetail[] }).details ?? []))
    return undefined
  }
}
