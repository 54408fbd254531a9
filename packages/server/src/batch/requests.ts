import Type from 'typebox'
import { eventFilterSchemas } from '../events/filters.ts'
import { includeSystemInBody } from '../events/requests.ts'
import { asBodyFields } from '../platform/http/body-bounds.ts'

const IDS_MAX = 25

function ids(description: string) {
  return Type.Array(Type.String(), { minItems: 1, maxItems: IDS_MAX, description })
}

/** Body of POST /v1/batch/details. */
export const DetailsBody = Type.Object(
  {
    entity_type: Type.Unsafe<'contacts' | 'companies'>({ type: 'string', enum: ['contacts', 'companies'] }),
    ids: ids('Unknown ids are left out; an id sent twice comes once.'),
  },
  { additionalProperties: false },
)

/** The bounds in time of an activity. */
export const ActivityWindow = asBodyFields(eventFilterSchemas('date_after', 'date_before'))

/** Body of POST /v1/batch/activity. */
export const ActivityBody = Type.Object(
  {
    contact_ids: ids('Unknown contacts are left out.'),
    events_limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'At most so many events of each contact.' }),
    ),
    ...ActivityWindow,
    include: includeSystemInBody,
  },
  { additionalProperties: false },
)
