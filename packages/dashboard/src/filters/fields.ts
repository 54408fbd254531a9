import { useQuery } from '@tanstack/react-query'
import { queryOf } from '../api/operation.ts'
import type { Entity, Property, SegmentFilter } from '../api/types.ts'
import { useMay } from '../session/may.ts'
import { failureOf } from '../ui/picker-failure.tsx'
import { allSegmentsQuery, segmentsOf } from './all-segments.ts'
import type { Scalar } from './draft.ts'
import type { FieldType, FieldTypes } from './draft-filter.ts'
import { text } from './text.ts'
import type { FilterNames } from './words.ts'

/** What a filter is about. The events of a contact have no other contact that could be asked for. */
export type Filtered = Entity | 'events' | 'events-of-contact'

/** What a condition can name. */
export interface Field {
  /** As the filter has it. */
  name: string
  label: string
  /** Undefined if its values are of several kinds, or nothing is known of them. */
  type: FieldType | undefined
  group?: string
  /** Its most frequent values. */
  values?: readonly Scalar[] | undefined
}

/** The property with which a filter of contacts or companies names segments. */
export const SEGMENT = 'segment'

/**
 * Everything that conditions can name, with its labels and types.
 * @param event the name of the events; empty for all
 */
export function useFields(filtered: Filtered, event = '') {
  const isOfEvents = filtered === 'events' || filtered === 'events-of-contact'
  const read = useProperties({
    contacts: filtered !== 'companies',
    companies: true,
    events: true,
    event,
  })
  const segments = useQuery({ ...allSegmentsQuery, enabled: useMay('segments:read') && !isOfEvents })
  const ofCompanies = read.companies.map((property) => ({
    ...property,
    name: `company.${property.name}`,
    label: text.sentence.ofCompany(property.label),
    group: text.groups.company,
  }))
  const list: Field[] = []
  if (filtered === 'contacts' || filtered === 'companies') {
    // Those that could not be read are read again where they are chosen.
    const hasSome = segments.isLoadingError || segmentsOf(segments.data, filtered).length > 0
    if (hasSome) list.push({ name: SEGMENT, label: text.segment, type: 'text' })
    list.push(...(filtered === 'companies' ? read.companies : [...read.contacts, ...ofCompanies]))
  }
  if (isOfEvents) list.push(...read.events)
  if (filtered === 'events') {
    const ofContacts = read.contacts.map((property) => ({
      ...property,
      name: `contact.${property.name}`,
      label: text.sentence.ofContact(property.label),
      group: text.groups.contact,
    }))
    list.push(...ofContacts, ...ofCompanies)
  }
  const records = filtered === 'companies' ? read.companies : [...read.contacts, ...ofCompanies]
  const types: FieldTypes = { records: typesOf(records), events: typesOf(read.events) }
  return { list, types, failure: failureOf(text.failures.properties, read.queries) }
}

/** The names of what some filters mention; reads only what they need. */
export function useFilterNames(
  filtered: Filtered,
  filters: readonly (SegmentFilter | object | undefined)[],
): FilterNames {
  const written = JSON.stringify(filters)
  const mentions = (part: string) => written.includes(part)
  const read = useProperties({
    contacts: filtered !== 'companies',
    companies: filtered === 'companies' || mentions('"company.'),
    events: filtered === 'events' || mentions('"where"') || mentions('"measure"'),
  })
  const { data: segments } = useQuery({
    ...allSegmentsQuery,
    enabled: useMay('segments:read') && mentions(`"${SEGMENT}"`),
  })
  const ofCompanies = read.companies.map(
    ({ name, label }) => [`company.${name}`, text.sentence.ofCompany(label)] as const,
  )
  const own = filtered === 'companies' ? read.companies : read.contacts
  return {
    ...(filtered === 'companies' ? { entity: filtered } : {}),
    labels: new Map([...ofCompanies, ...own.map(({ name, label }) => [name, label] as const)]),
    ofEvents: new Map(read.events.map(({ name, label }) => [name, label])),
    segments: segments && new Map([...segments].map(([id, { name }]) => [id, name])),
  }
}

/** The properties of each kind of record that is needed, and that the person may read. */
function useProperties(needed: Record<Entity | 'events', boolean> & { event?: string }) {
  const contacts = useQuery({ ...queryOf('listProperties', { entity: 'contacts' }), enabled: needed.contacts })
  const companies = useQuery({
    ...queryOf('listProperties', { entity: 'companies' }),
    enabled: useMay('companies:read') && needed.companies,
  })
  const events = useQuery({
    ...queryOf('listProperties', { entity: 'events', event: needed.event || undefined }),
    enabled: useMay('events:read') && needed.events,
  })
  return {
    queries: [contacts, companies, events],
    contacts: fieldsOf(contacts.data?.properties),
    companies: fieldsOf(companies.data?.properties),
    events: fieldsOf(events.data?.properties).map((field) => ({
      ...field,
      group: field.name.startsWith(DATA) ? text.groups.data : text.groups.event,
    })),
  }
}

const DATA = 'data.'

function fieldsOf(properties: readonly Property[] = []): Field[] {
  return properties.map((property) => {
    const { name, label, choices, top_values: values } = property
    return { name: inFilter(name), label, type: typeOf(property), values: choices ?? values }
  })
}

/** What tells the text "5" from the number 5: the kind of the stored values. */
function typeOf({ name, type, kinds: [kind, ...others] }: Property): FieldType | undefined {
  if (kind === undefined || others.length > 0) return name.startsWith(DATA) ? undefined : type
  return kind === 'time' ? 'date' : kind
}

/** Words of the language that are also the name of a property. */
function inFilter(name: string): string {
  return name === SEGMENT || /^(company|properties)\./.test(name) ? `properties.${name}` : name
}

function typesOf(fields: readonly Field[]): Map<string, FieldType> {
  return new Map(fields.flatMap(({ name, type }) => (type === undefined ? [] : [[name, type]])))
}
