import Type from 'typebox'
import { idInput } from '../../platform/http/inputs.ts'
import { ROWS_MAX } from '../results.ts'

const TIME = 'ISO 8601, or a date alone (UTC).'

/** The number of rows of a result, and where it continues. */
export const pageInput = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: ROWS_MAX, description: 'Rows, 10 by default.' })),
  cursor: Type.Optional(Type.String({ maxLength: 20, description: 'The next_cursor of the previous result.' })),
}
export const ROWS = 10

export const contactId = idInput({ description: 'contact_id' })
export const companyId = Type.Optional(idInput({ description: 'company_id' }))

export const since = Type.Optional(Type.String({ maxLength: 40, description: `From this time on. ${TIME}` }))
export const until = Type.Optional(Type.String({ maxLength: 40, description: `Up to this time. ${TIME}` }))

/** A segment filter. The operation checks it, with messages that say what to change. */
export const segmentFilter = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description:
    'Segment filter, e.g. {"match":"all","conditions":[{"property":"country","operator":"equals","value":"FR"},' +
    '{"event":{"type":"page_view","url_contains":"/pricing","within_days":7,"min_count":2},"operator":"did"}]}. ' +
    'match: all or any. Property operators: equals, not_equals, contains, not_contains, in, not_in, is_set, is_not_set, ' +
    'gt, gte, lt, lte, before, after, within_days. Event operators: did, did_not; event fields: type, text, ' +
    'text_contains, url_contains, class_contains, element_id, within_days, min_count. Conditions can nest.',
})
