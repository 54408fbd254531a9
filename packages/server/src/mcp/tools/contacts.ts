import Type from 'typebox'
import type { Values } from '../../operations/declare.ts'
import { idInput } from '../../platform/http/inputs.ts'
import { contactOfPseudonym } from '../redaction/redactor.ts'
import { compactRecord, listResult, pick, placeOf } from '../results.ts'
import { type Tool, tool } from '../tool.ts'
import { checkComparisons, requireSortable, SORT_DESCRIPTION } from './comparisons.ts'
import { companyId, contactId, pageInput, ROWS, segmentFilter, since, until } from './inputs.ts'
import { bag, contactRow, count, listOf, number, pageOf, record, text, texts } from './outputs.ts'

const ROW = ['contact_id', 'properties', 'company_id', 'created_at']
const WHOLE = [...ROW, 'consent', 'segment_ids', 'first_seen_at', 'updated_at', 'notes']

const NOTE = { note_id: text, contact_id: text, content: text, created_at: text, updated_at: text }
const VISIT = [
  'started_at',
  'duration_seconds',
  'page_views',
  'event_count',
  'event_names',
  'entry_url',
  'entry_title',
  'exit_url',
  'referring_domain',
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'country',
  'device_type',
  'session_id',
]
const EVENT = ['timestamp', 'event', 'url', 'data', 'event_id']

export const CONTACT_TOOLS: readonly Tool[] = [
  tool({
    name: 'search_contacts',
    title: 'Search contacts',
    description:
      'Find and count contacts by words, properties, behavior or segment. All conditions must match. Returns the total and short rows. ' +
      'For questions such as "who looked at pricing twice this week", use filter with event conditions.',
    uses: ['listContacts'],
    input: {
      query: Type.Optional(
        Type.String({
          maxLength: 1_000,
          description: 'Words in name, email, company or job title; or a pseudonym such as email:019a….',
        }),
      ),
      filter: Type.Optional(segmentFilter),
      segment_id: Type.Optional(idInput()),
      company_id: companyId,
      created_after: since,
      created_before: until,
      sort_by: Type.Optional(
        Type.Enum(['createdate', 'email', 'firstname', 'lastname', 'company'], { description: SORT_DESCRIPTION }),
      ),
      sort_dir: Type.Optional(Type.Enum(['asc', 'desc'])),
      fields: Type.Optional(
        Type.String({
          maxLength: 1_000,
          description: 'Properties to return, separated by commas; default: the usual few.',
        }),
      ),
      count_only: Type.Optional(Type.Boolean({ description: 'Return only the total.' })),
      ...pageInput,
    },
    output: pageOf('contacts', contactRow),
    async run(call, { query, filter, fields, limit = ROWS, cursor, ...rest }) {
      const place = placeOf(cursor, limit)
      const contact = query === undefined ? null : contactOfPseudonym(query.trim())
      const words = contact === null ? { search: query } : { contact_ids: contact }
      await checkComparisons(call, 'contacts', filter)
      requireSortable(call, rest.sort_by)
      const sought = await call.reveal({ ...words, filter })
      const result = await call.operate('listContacts', { ...rest, ...sought, fields: fieldsOf(fields), ...place })
      if (rest.count_only) return { total: result.count }
      return listResult('contacts', rowsOf(result.contacts, ROW), place, totalOf(result))
    },
  }),
  tool({
    name: 'get_contact',
    title: 'Get a contact',
    description:
      'All properties of one contact, its company, segments, latest notes and latest events. For more of its events, use contact_timeline.',
    uses: ['getContact'],
    input: {
      contact_id: contactId,
      include_sources: Type.Optional(
        Type.Boolean({ description: 'Add where each value came from (unified profile). Default: false.' }),
      ),
    },
    output: {
      contact: record({
        ...contactRow,
        consent: bag,
        segment_ids: texts,
        first_seen_at: text,
        updated_at: text,
        notes: listOf(record(NOTE)),
      }),
      unified_profile: bag,
      total_events: count,
      latest_events: listOf(record({ event_id: text, event: text, timestamp: text, url: text, title: text })),
    },
    async run(call, { contact_id, include_sources: withSources = false }) {
      const result = await call.operate('getContact', { contact_id: idOf(contact_id), events_limit: '10' })
      return compactRecord({
        contact: pick(result.contact, WHOLE),
        ...(withSources ? { unified_profile: result.unified_profile } : {}),
        total_events: result.total_events,
        latest_events: result.events,
      })
    },
  }),
  tool({
    name: 'contact_timeline',
    title: "A contact's timeline",
    description:
      'What one contact did, newest first: visits to the website (with pages, duration, origin and the names of their events) and single events such as forms, mails and changes.',
    uses: ['getTimeline'],
    input: { contact_id: contactId, after: since, before: until, ...pageInput },
    output: {
      ...pageOf('items', {
        kind: Type.Optional(Type.String({ description: 'visit or event' })),
        ...Object.fromEntries(VISIT.map((name) => [name, text])),
        duration_seconds: number,
        page_views: count,
        event_count: count,
        event_names: texts,
        timestamp: text,
        event: text,
        url: text,
        data: bag,
        event_id: text,
      }),
      next: text,
    },
    async run(call, { contact_id, after, before, limit = ROWS, cursor }) {
      const place = placeOf(cursor, limit)
      const sent = { contact_id: idOf(contact_id), date_after: after, date_before: before, include: 'system', ...place }
      const result = await call.operate('getTimeline', sent)
      const items = (result.items as { kind: string; visit?: Values; event?: Values }[]).map(
        ({ kind, visit, event }) => ({
          kind,
          ...pick(visit ?? event, visit ? VISIT : EVENT),
        }),
      )
      const list = listResult('items', items, place, totalOf(result))
      return items.length > 0 ? list : { ...list, next: NOTHING_FOUND }
    },
  }),
  tool({
    name: 'add_note',
    title: 'Add a note',
    description: 'Add a note (Markdown) to a contact. People see it on the contact’s page.',
    uses: ['createNote'],
    input: { contact_id: contactId, content: Type.String({ minLength: 1, maxLength: 20_000 }) },
    output: { note: record({ note_id: text, contact_id: text, created_at: text }) },
    async run(call, { contact_id, content }) {
      const id = idOf(contact_id)
      const result = await call.operate('createNote', { contact_id: id, content: await call.reveal(content, id) })
      return { note: pick(result.note, ['note_id', 'contact_id', 'created_at']) }
    },
  }),
  tool({
    name: 'update_contact',
    title: 'Update a contact',
    description:
      'Set properties of a contact; null removes one. Properties that are not named stay as they are. Write real values, not pseudonyms. Names and types: describe_schema.',
    uses: ['updateContact'],
    input: {
      contact_id: contactId,
      properties: Type.Optional(
        Type.Object({}, { additionalProperties: true, description: 'e.g. {"lifecyclestage":"customer","plan":null}' }),
      ),
      company_id: Type.Optional(Type.Union([idInput(), Type.Null()])),
    },
    output: { contact: record(contactRow) },
    async run(call, { contact_id, ...change }) {
      call.refusePseudonyms(change)
      const result = await call.operate('updateContact', { contact_id: idOf(contact_id), ...change })
      return compactRecord({ contact: pick(result.contact, ROW) })
    },
  }),
]

/** The contact may not exist: a caller with access to events may not be allowed to learn that. */
const NOTHING_FOUND = 'No events. Check contact_id with search_contacts, or leave out after and before.'

/** A contact's id, also from a pseudonym of the contact. */
export function idOf(text: string): string {
  return contactOfPseudonym(text) ?? text
}

/** The rows of a list, each with these fields. */
export function rowsOf(rows: unknown, names: readonly string[]): Values[] {
  return (rows as Values[]).map((row) => pick(row, names))
}

/** The total of the list that a result is a page of. */
export function totalOf({ pagination }: Values): number | undefined {
  return (pagination as { total_items: number } | undefined)?.total_items
}

function fieldsOf(fields: string | undefined): string {
  return fields === undefined ? 'summary' : `${fields},company_id,created_at`
}
