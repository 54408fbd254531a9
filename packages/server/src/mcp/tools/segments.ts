import Type from 'typebox'
import { idInput } from '../../platform/http/inputs.ts'
import { NAME_LENGTH_MAX } from '../../platform/names.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { checkComparisons } from './comparisons.ts'
import { rowsOf, totalOf } from './contacts.ts'
import { pageInput, ROWS, segmentFilter } from './inputs.ts'
import { contactRow, count, flag, listOf, pageOf, record, segmentRow, text } from './outputs.ts'

const ROW = ['segment_id', 'name', 'description', 'entity', 'contact_count', 'company_count', 'counting', 'filter']

export const SEGMENT_TOOLS: readonly Tool[] = [
  tool({
    name: 'list_segments',
    title: 'List segments',
    description: 'The saved segments with their filters and numbers of members: contacts, or companies.',
    uses: ['listSegments'],
    input: pageInput,
    output: pageOf('segments', segmentRow),
    async run(call, { limit = 25, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listSegments', { ...place })
      return listResult('segments', rowsOf(result.segments, ROW), place, totalOf(result))
    },
  }),
  tool({
    name: 'segment_members',
    title: 'Members of a segment',
    description: 'The contacts in a segment.',
    uses: ['listSegmentContacts'],
    input: { segment_id: idInput(), ...pageInput },
    output: { segment_name: text, counting: flag, ...pageOf('contacts', contactRow) },
    async run(call, { segment_id, limit = ROWS, cursor }) {
      const place = placeOf(cursor, limit)
      const result = await call.operate('listSegmentContacts', { segment_id, ...place })
      const rows = rowsOf(result.contacts, ['contact_id', 'properties', 'company_id'])
      return { ...pick(result, ['segment_name', 'counting']), ...listResult('contacts', rows, place, totalOf(result)) }
    },
  }),
  tool({
    name: 'preview_segment',
    title: 'Preview a segment',
    description:
      'Count the contacts that a filter matches, and return a few of them, without saving anything. Use it before create_segment.',
    uses: ['previewSegment'],
    input: { filter: segmentFilter },
    output: { count, sample: listOf(record(contactRow)) },
    async run(call, { filter }) {
      await checkComparisons(call, 'contacts', filter)
      const result = await call.operate('previewSegment', await call.reveal({ filter }))
      return compactRecord({ count: result.count, sample: rowsOf(result.sample, ['contact_id', 'properties']) })
    },
  }),
  tool({
    name: 'create_segment',
    title: 'Create a segment',
    description:
      'Save a filter as a segment that the service keeps up to date. People see it in the dashboard. It cannot contain pseudonyms: filter by other properties.',
    uses: ['createSegment'],
    input: {
      name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
      description: Type.Optional(Type.String({ maxLength: 1_000 })),
      filter: segmentFilter,
    },
    output: { segment: record(segmentRow) },
    async run(call, sent) {
      await checkComparisons(call, 'contacts', sent.filter)
      call.refusePseudonyms(sent)
      const { segment } = await call.operate('createSegment', sent)
      return compactRecord({ segment: pick(segment, ROW) })
    },
  }),
]
