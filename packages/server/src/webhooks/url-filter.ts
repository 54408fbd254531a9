import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'

const CONDITIONS_MAX = 50
const VALUE_LENGTH_MAX = 2_000

const Condition = Type.Object(
  {
    operator: Type.Union([
      Type.Literal('contains'),
      Type.Literal('not_contains'),
      Type.Literal('equals'),
      Type.Literal('starts_with'),
      Type.Literal('ends_with'),
    ]),
    value: Type.String({ minLength: 1, maxLength: VALUE_LENGTH_MAX }),
  },
  { additionalProperties: false },
)

/** Which URLs an event must have to be delivered. */
export const UrlFilter = Type.Object(
  {
    match: Type.Union([Type.Literal('all'), Type.Literal('any')]),
    conditions: Type.Array(Condition, { minItems: 1, maxItems: CONDITIONS_MAX }),
  },
  { additionalProperties: false },
)

export type UrlFilter = Type.Static<typeof UrlFilter>

const validator = Compile(UrlFilter)
const FORM =
  'must be like {"match":"all","conditions":[{"operator":"contains","value":"/pricing"}]}; match is all or any; operators are contains, not_contains, equals, starts_with, ends_with'

/** Checks a filter that a user gave. @throws ServiceError 400 naming the place. */
export function checkUrlFilter(filter: unknown): UrlFilter {
  if (!validator.Check(filter)) {
    const [first] = validator.Errors(filter)
    const path = (first?.instancePath ?? '').replace(/^\//, '.').replaceAll('/', '.')
    throw validationError([{ path: `url_filter${path}`, message: FORM }])
  }
  if (!filter.conditions.every(({ value }) => isStorableText(value))) {
    throw validationError([{ path: 'url_filter', message: 'contains a NUL character or a lone surrogate' }])
  }
  return filter
}

/** Whether an event with this URL ('' for none) passes. Upper and lower case differ, as they do in URLs. */
export function passes(filter: UrlFilter | null, url: string): boolean {
  if (filter === null) return true
  const holds = ({ operator, value }: UrlFilter['conditions'][number]) => {
    if (operator === 'contains') return url.includes(value)
    if (operator === 'not_contains') return !url.includes(value)
    if (operator === 'starts_with') return url.startsWith(value)
    if (operator === 'ends_with') return url.endsWith(value)
    return url === value
  }
  return filter.match === 'all' ? filter.conditions.every(holds) : filter.conditions.some(holds)
}
