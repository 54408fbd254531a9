import Type from 'typebox'
import { TEXT } from '../platform/personal.ts'

const CONDITIONS_MAX = 50
const VALUE_LENGTH_MAX = 2_000

const OPERATORS = ['contains', 'not_contains', 'equals', 'starts_with', 'ends_with'] as const

const Condition = Type.Object(
  {
    operator: Type.Unsafe<(typeof OPERATORS)[number]>({ type: 'string', enum: OPERATORS }),
    value: Type.String({ minLength: 1, maxLength: VALUE_LENGTH_MAX, ...TEXT }),
  },
  { additionalProperties: false },
)

/** Which URLs an event must have to be delivered. */
export const UrlFilter = Type.Object(
  {
    match: Type.Unsafe<'all' | 'any'>({ type: 'string', enum: ['all', 'any'] }),
    conditions: Type.Array(Condition, { minItems: 1, maxItems: CONDITIONS_MAX }),
  },
  {
    title: 'UrlFilter',
    additionalProperties: false,
    description: 'Deliver only events with one of these URLs.',
    examples: [{ match: 'any', conditions: [{ operator: 'contains', value: '/pricing' }] }],
  },
)

export type UrlFilter = Type.Static<typeof UrlFilter>

/** Whether an event with this URL ('' for none) passes. Case matters, as it does in URLs. */
export function passes(filter: UrlFilter | null, url: string): boolean {
  if (filter === null) return true
  const isMet = ({ operator, value }: UrlFilter['conditions'][number]) => {
    if (operator === 'contains') return url.includes(value)
    if (operator === 'not_contains') return !url.includes(value)
    if (operator === 'starts_with') return url.startsWith(value)
    if (operator === 'ends_with') return url.endsWith(value)
    return url === value
  }
  return filter.match === 'all' ? filter.conditions.every(isMet) : filter.conditions.some(isMet)
}
