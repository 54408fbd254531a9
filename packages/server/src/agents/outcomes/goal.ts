import Type from 'typebox'
import type { ConditionOnEvent } from '../../conditions/language.ts'
import { ConditionOnEventSchema } from '../../conditions/schema.ts'
import { EVENT_NAME_LENGTH_MAX } from '../../journal/event-record.ts'
import type { ErrorDetail } from '../../platform/errors.ts'
import { LABEL } from '../../platform/personal.ts'
import { checkWhere } from '../triggers/trigger.ts'

/** The event that counts as success after a message of the agent. */
export interface Goal {
  event: string
  where?: ConditionOnEvent[]
}

export const AgentGoal = Type.Unsafe<Goal>(
  Type.Object(
    {
      event: Type.String({ minLength: 1, maxLength: EVENT_NAME_LENGTH_MAX, examples: ['demo_booked'], ...LABEL }),
      where: Type.Optional(
        Type.Array(ConditionOnEventSchema, { description: 'Conditions on the event alone; all must be true.' }),
      ),
    },
    {
      title: 'AgentGoal',
      additionalProperties: false,
      description: 'The event that counts as success in the outcomes of the agent.',
    },
  ),
)

/** Checks what the schema of a goal cannot express. @returns its stored form; null if it is invalid. */
export function checkGoal({ event, where }: Goal, details: ErrorDetail[]): Goal | null {
  if (event.trim() === '') details.push({ path: 'goal.event', message: 'must not be blank' })
  const conditions = where === undefined ? [] : checkWhere(where, 'goal.where', details)
  if (conditions === undefined) return null
  return conditions.length === 0 ? { event } : { event, where: conditions }
}
