import type { CompanyRow } from '../companies/company-object.ts'
import type { CompanyFilters } from '../companies/list.ts'
import { companyPages } from '../companies/pages.ts'
import { consentOf } from '../contacts/consent.ts'
import type { ContactRowInSegments } from '../contacts/contact-object.ts'
import { propertiesOf } from '../contacts/contact-row.ts'
import { contactPages } from '../contacts/pages.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty, namesOf } from '../contacts/property-catalogue.ts'
import type { EventWithContact } from '../events/event-object.ts'
import { eventPages } from '../events/pages.ts'
import { joinContacts, type People } from '../events/people.ts'
import { firstCharacters } from '../platform/characters.ts'
import { type CsvFile, columnsOf } from '../platform/http/csv.ts'
import type { Tenant } from '../platform/tenant.ts'

const isUsual = (property: KnownProperty) => property.isUsual
const CONTACT_USUAL = ['contact_id', ...namesOf(CONTACT_PROPERTIES, isUsual), 'creation_source', 'created_at']
const COMPANY_USUAL = ['company_id', ...namesOf(COMPANY_PROPERTIES, isUsual), 'created_at']
const EVENT_USUAL = ['timestamp', 'event', 'url', 'contact_email', 'visitor_id', 'browser', 'os', 'device_type', 'data']

const ORDER = ['page', 'limit', 'sort_by', 'sort_property', 'sort_dir', 'count_only', 'fields']
const NO_FILTERS = [...ORDER, 'columns', 'include']

/** A list as a file named after it. */
export type ListFile<Row> = Omit<CsvFile<Row>, 'beforeSending'>

/**
 * @param filters null if no contact can match.
 * @param columns fields and properties, separated by commas; undefined for the usual ones.
 */
export function contactsFile(
  tenant: Tenant,
  filters: Parameters<typeof contactPages>[1] | null,
  columns: string | undefined,
): ListFile<ContactRowInSegments> {
  const names = columnsOf(columns, CONTACT_USUAL)
  return {
    name: 'contacts',
    columns: names,
    pages: filters ? contactPages(tenant, filters) : nothing(),
    cellsOf: (row) => {
      const fields: Record<string, unknown> = {
        contact_id: row.contact_id,
        company_id: row.company_id,
        segment_ids: row.segment_ids,
        creation_source: row.creation_source,
        first_seen_at: row.first_seen_at.toISOString(),
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      }
      const properties = propertiesOf(row)
      // Which property decides that the contact is not written to, unless a property has the name.
      if (names.includes('consent')) fields.consent = own(properties, 'consent') ?? consentOf(properties)?.property
      return names.map((name) => own(fields, name) ?? own(properties, name))
    },
  }
}

/** @param columns as for `contactsFile`. */
export function companiesFile(
  tenant: Tenant,
  filters: CompanyFilters,
  columns: string | undefined,
): ListFile<CompanyRow> {
  const names = columnsOf(columns, COMPANY_USUAL)
  return {
    name: 'companies',
    columns: names,
    pages: companyPages(tenant, filters),
    cellsOf: (row) => {
      const fields: Record<string, unknown> = {
        company_id: row.company_id,
        name: row.name,
        domain: row.domain,
        created_at: row.created_at.toISOString(),
        updated_at: row.updated_at.toISOString(),
      }
      const properties = row.properties as Record<string, unknown>
      return names.map((name) => own(fields, name) ?? own(properties, name))
    },
  }
}

/** @param columns fields, and `data.` with a key of the data, separated by commas; undefined for the usual ones. */
export function eventsFile(
  tenant: Tenant,
  people: People,
  filters: Parameters<typeof eventPages>[1],
  columns: string | undefined,
): ListFile<EventWithContact> {
  const names = columnsOf(columns, EVENT_USUAL)
  return {
    name: 'events',
    columns: names,
    pages: withContacts(tenant, people, filters),
    cellsOf: ({ contact, company, ...event }) => {
      const fields: Record<string, unknown> = {
        ...event,
        contact_id: event.internal_contact_id,
        contact_email: contact?.email,
        company_name: company?.name,
      }
      return names.map((name) =>
        name.startsWith('data.') ? own(event.data, name.slice('data.'.length)) : own(fields, name),
      )
    },
  }
}

async function* withContacts(tenant: Tenant, people: People, filters: Parameters<typeof eventPages>[1]) {
  for await (const events of eventPages(tenant, filters)) yield await joinContacts(tenant, people, events)
}

async function* nothing(): AsyncGenerator<never[]> {}

/** Reads own properties only: a column may be named `constructor`. */
function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Of the columns that a caller asked for: an entry is kept for ever. */
const COLUMNS_LOGGED_MAX = 50
const COLUMN_CHARACTERS_LOGGED_MAX = 40

/**
 * The audit log records the list, its columns and the names of its filters. It omits filter values: a search may name a
 * person, and erasure does not reach the log.
 */
export function exportEntry(
  { name, columns }: { name: string; columns: readonly string[] },
  query: object,
  url: string,
) {
  // Leaves out filters that were not sent. The router also starts the query at `#`.
  const sent = new URLSearchParams(url.replace(/^[^?#]*[?#]/, ''))
  const filters = Object.keys(query).filter((key) => sent.has(key) && !NO_FILTERS.includes(key))
  const shown = columns
    .slice(0, COLUMNS_LOGGED_MAX)
    .map((column) => firstCharacters(column, COLUMN_CHARACTERS_LOGGED_MAX))
  const omitted = columns.length - shown.length
  const details = { name, columns: shown, ...(omitted > 0 ? { columns_omitted: omitted } : {}), filters }
  return { action: 'list.exported', subjectKind: 'export', subjectId: null, details }
}

/** A file has every record, in a fixed order. */
export function withoutOrder<Query extends object>(query: Query) {
  return Object.fromEntries(Object.entries(query).filter(([name]) => !ORDER.includes(name))) as Omit<
    Query,
    'page' | 'limit' | 'sort_by' | 'sort_property' | 'sort_dir' | 'count_only' | 'fields'
  >
}
