import type { TBoolean, TOptional, TSchema, TUnsafe } from 'typebox'
import Type from 'typebox'
import { hasFewerCharacters, hasMoreCharacters, shown } from '../characters.ts'
import { type ErrorDetail, validationError } from '../errors.ts'
import { ID_LENGTH_MAX } from '../ids.ts'
import { nearestName } from '../nearest-name.ts'
import { parseTimestamp } from '../time.ts'
import { isStorableText } from './json-body.ts'

/** The format of a timestamp in a request. */
export const TIMESTAMP_FORM = 'an ISO 8601 timestamp with an offset (2026-01-31T08:00:00Z) or a date (2026-01-31)'

/** An optional timestamp as an inclusive bound, as `requiredBound`. */
export function timestampBound(bound: 'lower' | 'upper', description: string) {
  return Type.Optional(requiredBound(bound, description))
}

/** A timestamp as an inclusive bound: a date alone means the start or the end of that day (UTC). Parsed to a Date. */
export function requiredBound(bound: 'lower' | 'upper', description: string) {
  return Type.Unsafe<Date>({
    type: 'string',
    format: 'date-time',
    description: `${description} ISO 8601 with an offset, or a date alone (UTC). Inclusive.`,
    examples: ['2026-01-31'],
    'x-bound': bound,
  })
}

/** A comma-separated list of words from `allowed`. Parsed to an array. */
export function wordList<const Word extends string>(allowed: readonly Word[], description: string) {
  return Type.Optional(
    Type.Unsafe<Word[]>({
      type: 'string',
      description: `${description} Comma-separated list of: ${allowed.join(', ')}.`,
      'x-words': allowed,
    }),
  )
}

/**
 * A parameter that a caller may omit, although an operation always gets a value: `parseQuery` fills in the `default` of
 * its schema. A field of a body gets no default.
 */
export function withDefault<Schema extends TSchema>(schema: Schema): Schema {
  return Type.Optional(schema) as TSchema as Schema
}

/** One word from `allowed`. */
export function oneOf<const Word extends string>(
  allowed: readonly Word[],
  description: string,
): TOptional<TUnsafe<Word>>
export function oneOf<const Word extends string>(
  allowed: readonly Word[],
  description: string,
  fallback: NoInfer<Word>,
): TUnsafe<Word>
export function oneOf(allowed: readonly string[], description: string, fallback?: string): TSchema {
  const word = { type: 'string', enum: allowed, description }
  return fallback === undefined
    ? Type.Optional(Type.Unsafe<string>(word))
    : withDefault(Type.Unsafe<string>({ ...word, default: fallback }))
}

/** true, false, 1 or 0. */
export function flag(description: string): TOptional<TBoolean>
export function flag(description: string, fallback: boolean): TBoolean
export function flag(description: string, fallback?: boolean): TSchema {
  return fallback === undefined
    ? Type.Optional(Type.Boolean({ description }))
    : withDefault(Type.Boolean({ description, default: fallback }))
}

/** A filter text: not empty, at most `maxLength` characters. */
export function filterText(description: string, maxLength = 1_000) {
  return Type.Optional(Type.String({ description, minLength: 1, maxLength }))
}

/** A filter by an id. */
export function filterId(description: string) {
  return filterText(description, ID_LENGTH_MAX)
}

/** A filter in the language of segments. */
export function filterJson(description: string) {
  return Type.Optional(
    Type.String({
      description: `A filter of segments as JSON. ${description}`,
      minLength: 1,
      maxLength: 10_000,
      examples: ['{"match":"all","conditions":[{"property":"country","operator":"equals","value":"FR"}]}'],
    }),
  )
}

const IDS_MAX = 100

/** A comma-separated list of ids; `idsIn` reads it. */
export function idList(description: string) {
  return filterText(`${description} A comma-separated list of at most ${IDS_MAX}.`, IDS_MAX * 40)
}

/** The ids of an `idList`; an invalid one matches nothing. @throws ServiceError 400 for too many. */
export function idsIn(text: string, path: string): string[] {
  const ids = [...new Set(text.split(',').map((id) => id.trim().toLowerCase()))].filter((id) => id !== '')
  if (ids.length > IDS_MAX) throw validationError([{ path, message: `has ${ids.length} ids; at most ${IDS_MAX}` }])
  return ids
}

/** Search words. Without any, there is no filter. */
export function searchText(description: string) {
  return Type.Optional(
    Type.String({ maxLength: 1_000, description: `${description} At most ${WORDS_MAX} words.`, 'x-search': true }),
  )
}

type Parsed = { value: Record<string, unknown> } | { details: ErrorDetail[] }

interface PropertySchema {
  type?: string
  enum?: readonly string[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  default?: unknown
  'x-bound'?: 'lower' | 'upper'
  'x-words'?: readonly string[]
  'x-search'?: boolean
}

/**
 * Parses a query string by its schema, strictly: values are not clamped or guessed. Unknown parameters are ignored with
 * a warning in the response.
 */
export function parseQuery(schema: TSchema, raw: Record<string, unknown>): Parsed {
  const properties = propertiesOf(schema)
  const { required = [] } = schema as { required?: string[] }
  const value: Record<string, unknown> = {}
  const details: ErrorDetail[] = []
  for (const [name, property] of Object.entries(properties)) {
    const text = raw[name]
    if (text === undefined) {
      if (property.default !== undefined) value[name] = property.default
      else if (required.includes(name)) details.push({ path: name, message: 'is required' })
      continue
    }
    const result =
      typeof text === 'string' ? parseValue(property, text) : { problem: 'was given more than once; send it once' }
    if ('problem' in result) details.push({ path: name, message: result.problem })
    else value[name] = result.value
  }
  for (const [name, text] of Object.entries(raw)) {
    if (name in properties || typeof text === 'string') continue
    details.push({ path: shown(name), message: 'was given more than once; send it once' })
  }
  return details.length > 0 ? { details } : { value }
}

const WARNINGS_MAX = 20

/** The unknown names in `raw`, each with the nearest known name if there is one. */
export function unknownParameters(schema: TSchema | undefined, raw: Record<string, unknown>): string[] {
  const known = schema ? Object.keys(propertiesOf(schema)) : []
  return Object.keys(raw)
    .filter((name) => !known.includes(name))
    .slice(0, WARNINGS_MAX)
    .map((sent) => {
      const name = shown(sent)
      const near = nearestName(name, known)
      return `unknown query parameter '${name}' was ignored${near ? `; did you mean '${near}'?` : ''}`
    })
}

function propertiesOf(schema: TSchema): Record<string, PropertySchema> {
  return (schema as { properties?: Record<string, PropertySchema> }).properties ?? {}
}

type Result = { value: unknown } | { problem: string }

function parseValue(property: PropertySchema, text: string): Result {
  if (!isStorableText(text)) return { problem: 'contains a NUL character or a lone surrogate; remove it' }
  if (property['x-bound']) {
    const date = parseTimestamp(text, property['x-bound'] === 'upper' ? 'end' : 'start')
    return date ? { value: date } : { problem: `must be ${TIMESTAMP_FORM}` }
  }
  if (property['x-words']) return parseWords(property['x-words'], text)
  if (property.enum) {
    return property.enum.includes(text) ? { value: text } : { problem: `must be one of ${property.enum.join(', ')}` }
  }
  if (property.type === 'integer') return parseInteger(property, text)
  if (property.type === 'number') return parseNumber(property, text)
  if (property.type === 'boolean') {
    if (text === 'true' || text === '1') return { value: true }
    if (text === 'false' || text === '0') return { value: false }
    return { problem: 'must be true or false (or 1 or 0)' }
  }
  if (hasFewerCharacters(text, property.minLength ?? 0)) return { problem: 'must not be empty; omit it for no filter' }
  if (hasMoreCharacters(text, property.maxLength ?? Number.POSITIVE_INFINITY)) {
    return { problem: `must be at most ${property.maxLength} characters` }
  }
  if (property['x-search'] && wordsOf(text).length > WORDS_MAX) {
    return { problem: `must be at most ${WORDS_MAX} words` }
  }
  return { value: text }
}

function parseWords(allowed: readonly string[], text: string): Result {
  const words = text.split(',').map((word) => word.trim())
  const wrong = words.find((word) => !allowed.includes(word))
  return wrong === undefined
    ? { value: words }
    : {
        problem: `has the unknown value '${shown(wrong)}'; must be a comma-separated list of ${allowed.join(', ')}`,
      }
}

function parseInteger(property: PropertySchema, text: string): Result {
  const min = property.minimum ?? 0
  const max = property.maximum ?? Number.MAX_SAFE_INTEGER
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? { value } : { problem: `must be a whole number from ${min} to ${max}` }
}

function parseNumber(
  { minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER }: PropertySchema,
  text: string,
): Result {
  const value = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : Number.NaN
  return value >= min && value <= max ? { value } : { problem: `must be a number from ${min} to ${max}` }
}

/** Each word is compared with every record that no index rules out, so each adds to the cost of a search. */
export const WORDS_MAX = 10

/** The words of a search, all of which must occur. */
export function wordsOf(search: string | undefined): string[] {
  return search?.split(/\s+/u).filter(Boolean) ?? []
}
