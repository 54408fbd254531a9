import Type from 'typebox'
import { eventFilterSchemas } from '../events/filters.ts'
import { includeSystemInBody } from '../events/requests.ts'

const IDS_MAX = 25

function ids(description: string) {
  return Type.Array(Type.String(), { minItems: 1, maxItems: IDS_MAX, description })
}

/** Fields of POST /v1/batch/details. */
export const DETAILS_FIELDS = {
  entity_type: Type.Unsafe<'contacts' | 'companies'>({ type: 'string', enum: ['contacts', 'companies'] }),
  ids: ids('Unknown ids are omitted; a repeated id is returned once.'),
}

/** Fields of POST /v1/batch/activity. */
export const ACTIVITY_FIELDS = {
  contact_ids: ids('Unknown contacts are omitted.'),
  events_limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 20, default: 5, description: 'Maximum number of events per contact.' }),
  ),
  ...eventFilterSchemas('date_after', 'date_before'),
  include: includeSystemInBody,
}
