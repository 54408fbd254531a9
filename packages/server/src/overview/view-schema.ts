import Type from 'typebox'
import { NamedActor } from '../operations/audit.ts'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { bag, TEXT, WORD } from '../platform/personal.ts'

export const NAME_LENGTH_MAX = 100
const COLUMNS_MAX = 100
const PARAMETERS_MAX = 60
/** A filter may be long. */
const VALUE_LENGTH_MAX = 6_000

const Value = Type.Union([
  Type.String({ maxLength: VALUE_LENGTH_MAX }),
  Type.Number(),
  Type.Boolean(),
  Type.Array(Type.String({ maxLength: VALUE_LENGTH_MAX }), { maxItems: 100 }),
])

/** A view in a request. */
export const ViewBody = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
    page: Type.Unsafe<'contacts' | 'companies' | 'events'>({
      type: 'string',
      enum: ['contacts', 'companies', 'events'],
    }),
    query: Type.Record(Type.String({ maxLength: 200 }), Value, {
      maxProperties: PARAMETERS_MAX,
      'x-expected': `an object of at most ${PARAMETERS_MAX} parameters whose values are strings, numbers, booleans or lists of strings`,
    }),
    columns: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), { maxItems: COLUMNS_MAX }),
  },
  { additionalProperties: false },
)
export type ViewBody = Type.Static<typeof ViewBody>

/** A list of the dashboard with filters and columns, saved for all members of the tenant. */
export const SavedView = Type.Object(
  {
    view_id: Id,
    name: Type.String(TEXT),
    page: ViewBody.properties.page,
    query: { ...ViewBody.properties.query, ...bag('query') },
    columns: Type.Array(Type.String(WORD)),
    created_by: Nullable(NamedActor),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SavedView' },
)
export type SavedView = Type.Static<typeof SavedView>
