import Type from 'typebox'
import { hasMoreCharacters } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { TEXT, WORD } from '../platform/personal.ts'
import { PATH_LENGTH_MAX, parsePath } from './paths.ts'

/** The maximum number of properties, or of data fields, in a mapping. */
const FIELDS_MAX = 100
const KEY_LENGTH_MAX = 128
/** Paths of all fields and conditions: each of them is followed in every body. */
const PATHS_MAX = 300

const Path = Type.String({
  minLength: 1,
  maxLength: PATH_LENGTH_MAX,
  description:
    'The path of the value in the body: `data.object.email`, `answers[0].text`, `answers[*].email` for the first item that has an `email`, `["first name"]` for a name with a dot, a space or a bracket, `$` for the whole body.',
  examples: ['data.object.customer_email'],
  ...WORD,
})
const Scalar = Type.Union([Type.String({ maxLength: 1_000, ...TEXT }), Type.Number(), Type.Boolean()])

const Field = Type.Object(
  {
    path: Type.Optional(
      Type.Union([Path, Type.Array(Path, { minItems: 1, maxItems: 10 })], {
        description: 'A path, or a list of paths. The first path that has a value is used.',
        'x-expected': 'a path, or a list of 1 to 10 paths',
      }),
    ),
    value: Type.Optional(
      Type.Unsafe<string | number | boolean>({
        ...Scalar,
        description: 'A fixed value instead of a path.',
        'x-expected': 'a text of at most 1000 characters, a number, true or false',
      }),
    ),
    starts_with: Type.Optional(
      Type.String({ maxLength: 100, description: 'A text that does not begin with this counts as missing.', ...TEXT }),
    ),
  },
  { title: 'HookField', additionalProperties: false, 'x-expected': 'an object with path or value' },
)
export type Field = Type.Static<typeof Field>

const Fields = Type.Record(Type.String(), Field, { 'x-expected': 'an object of fields' })

const Condition = Type.Object(
  { path: Path, equals: Type.Array(Scalar, { minItems: 1, maxItems: 100 }) },
  { additionalProperties: false, title: 'MappingCondition' },
)

const CompanyMapping = Type.Object(
  { domain: Field, name: Type.Optional(Field), properties: Type.Optional(Fields) },
  {
    additionalProperties: false,
    title: 'CompanyMapping',
    description: 'The company, found or created by its domain. A contact without a company is linked to it.',
  },
)

/** What an answer about a known person fills in. It is a part of a hook's mapping, so that both are written and checked alike. */
export const AnswerMapping = Type.Object(
  {
    only_when: Type.Optional(
      Type.Array(Condition, {
        maxItems: 10,
        description: 'An answer counts as found only if each of these paths has one of the values.',
      }),
    ),
    contact: Type.Optional(Type.Object({ properties: Fields }, { additionalProperties: false })),
    company: Type.Optional(CompanyMapping),
  },
  { additionalProperties: false, title: 'AnswerMapping' },
)
export type AnswerMapping = Type.Static<typeof AnswerMapping>

/** How a hook's bodies are turned into records. */
export const Mapping = Type.Object(
  {
    only_when: Type.Optional(
      Type.Array(Condition, {
        maxItems: 10,
        description: 'A body is recorded only if each of these paths has one of the values.',
      }),
    ),
    event: Type.Optional(
      Type.Object(
        {
          name: Field,
          timestamp: Type.Optional(Field),
          id: Type.Optional(Field),
          url: Type.Optional(Field),
          data: Type.Optional(Fields),
        },
        {
          additionalProperties: false,
          description:
            'The event to record. `id`: an event with the same name and id is recorded only once. `timestamp`: ISO 8601 with an offset, or seconds or milliseconds since 1970. Default: the time when the body arrived.',
        },
      ),
    ),
    contact: Type.Optional(
      Type.Object(
        {
          email: Type.Optional(Field),
          user_id: Type.Optional(Field),
          external_id: Type.Optional(Field),
          properties: Type.Optional(Fields),
        },
        {
          additionalProperties: false,
          description:
            "The contact, found or created by `email` or `user_id` (your own id of the person). `external_id` is the sender's id. Once a body has linked it to a contact, later bodies can identify the contact by it alone. It never creates a contact.",
        },
      ),
    ),
    company: Type.Optional(CompanyMapping),
  },
  { additionalProperties: false, title: 'HookMapping' },
)
export type Mapping = Type.Static<typeof Mapping>

/** Checks rules that the schema of a mapping cannot express. @throws ServiceError 400 that lists every problem. */
export function requireMapping(mapping: Mapping): void {
  const details: ErrorDetail[] = []
  for (const [index, { path }] of (mapping.only_when ?? []).entries()) {
    checkPath(path, `mapping.only_when[${index}].path`, details)
  }
  for (const [place, field] of fieldsOf(mapping)) checkField(field, `mapping.${place}`, details)
  for (const [place, fields] of groupsOf(mapping)) checkKeys(fields, `mapping.${place}`, details)
  const fields = fieldsOf(mapping).flatMap(([, { path }]) => path ?? [])
  const paths = (mapping.only_when ?? []).length + fields.length
  if (paths > PATHS_MAX) details.push({ path: 'mapping', message: `has ${paths} paths. The maximum is ${PATHS_MAX}` })
  if (details.length > 0) throw validationError(details)
}

/** Every field of a mapping with its place, such as `contact.properties.plan`. */
function fieldsOf(mapping: Mapping): [string, Field][] {
  const { event, contact, company } = mapping
  const named = (part: string, fields: object = {}) =>
    Object.entries(fields).flatMap(([name, field]): [string, Field][] =>
      name === 'data' || name === 'properties' || field === undefined ? [] : [[`${part}.${name}`, field as Field]],
    )
  const grouped = groupsOf(mapping).flatMap(([place, fields]) =>
    Object.entries(fields).map(([key, field]): [string, Field] => [`${place}.${key}`, field]),
  )
  return [...named('event', event), ...named('contact', contact), ...named('company', company), ...grouped]
}

function groupsOf({ event, contact, company }: Mapping): [string, Record<string, Field>][] {
  return [
    ['event.data', event?.data ?? {}],
    ['contact.properties', contact?.properties ?? {}],
    ['company.properties', company?.properties ?? {}],
  ]
}

function checkField({ path, value }: Field, place: string, details: ErrorDetail[]): void {
  if ((path === undefined) === (value === undefined)) {
    details.push({ path: place, message: 'must have either path or value' })
  }
  for (const each of [path ?? []].flat()) checkPath(each, `${place}.path`, details)
}

function checkPath(path: string, place: string, details: ErrorDetail[]): void {
  if (parsePath(path) !== null) return
  const message = 'is not a valid path. Use the form data.object.email, answers[0].text or ["first name"]'
  details.push({ path: place, message })
}

function checkKeys(fields: Record<string, Field>, place: string, details: ErrorDetail[]): void {
  const keys = Object.keys(fields)
  if (keys.length > FIELDS_MAX)
    details.push({ path: place, message: `has ${keys.length} fields; at most ${FIELDS_MAX}` })
  for (const key of keys) {
    if (key.trim() === '' || key === '__proto__' || hasMoreCharacters(key, KEY_LENGTH_MAX)) {
      details.push({
        path: place,
        message: `a name must have 1 to ${KEY_LENGTH_MAX} characters and must not be __proto__`,
      })
    }
  }
  if (place === 'mapping.contact.properties' && keys.includes('email')) {
    details.push({ path: `${place}.email`, message: 'is mapped as contact.email. Remove it here' })
  }
}
