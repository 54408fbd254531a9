import { EVENT_COLUMNS } from '../../journal/event-record.ts'
import { CONTACT_OF_OWNER, NOBODY } from '../../platform/clickhouse/owner-links.ts'

/** The tables of an export. `append`: a run adds rows. `snapshot`: its files contain all rows and replace earlier files. */
export const TABLES = {
  events: 'append',
  owner_links: 'append',
  contacts: 'snapshot',
  companies: 'snapshot',
} as const
export type TableName = keyof typeof TABLES

/** A column: its Parquet type, and the expression that computes it. */
interface Column {
  type: 'string' | 'bool' | 'int64' | 'timestamp[ms]'
  expression: string
}

const text = (expression: string): Column => ({ type: 'string', expression })
/** ClickHouse's tables store '' for a missing text. */
const optional = (column: string) => text(`nullIf(toString(found.${column}), '')`)
const time = (expression: string): Column => ({ type: 'timestamp[ms]', expression })
const idOrNull = (expression: string) => text(`nullIf(toString(${expression}), toString(${NOBODY}))`)

/** The columns of an event whose name or expression does not follow from the type. */
const EXCEPTIONS: Partial<Record<string, Record<string, Column>>> = {
  // All files are of one tenant.
  tenant_id: {},
  // Never missing.
  event: { event: text('toString(found.event)') },
  owner_id: { owner_id: idOrNull('found.owner_id'), contact_id: idOrNull(CONTACT_OF_OWNER) },
  url_path: { path: optional('url_path') },
  data: { data: text("if(found.data = '', '{}', found.data)") },
} satisfies Partial<Record<keyof typeof EVENT_COLUMNS, Record<string, Column>>>

/** All columns of the table, so that a new one is exported too. */
const EVENTS: Record<string, Column> = Object.assign(
  {},
  ...Object.entries(EVENT_COLUMNS).map(([name, type]) => EXCEPTIONS[name] ?? { [name]: eventColumn(name, type) }),
)

function eventColumn(name: string, type: string): Column {
  if (type === 'Bool') return { type: 'bool', expression: `found.${name}` }
  if (type.startsWith('DateTime64')) return time(`found.${name}`)
  return type.startsWith('UUID') ? text(`toString(found.${name})`) : optional(name)
}

const LINKS: Record<string, Column> = {
  owner_id: text('toString(owner_id)'),
  contact_id: text('toString(contact_id)'),
  version: { type: 'int64', expression: 'toInt64(newest)' },
}

/** A field that the service sends with the column's name. */
const sent = (name: string) => text(name)
const sentTime = (name: string) => time(`fromUnixTimestamp64Milli(${name}, 'UTC')`)

const CONTACTS: Record<string, Column> = {
  contact_id: sent('contact_id'),
  email: sent('email'),
  external_id: sent('external_id'),
  company_id: sent('company_id'),
  creation_source: sent('creation_source'),
  first_seen_at: sentTime('first_seen_at'),
  created_at: sentTime('created_at'),
  updated_at: sentTime('updated_at'),
  properties: sent('properties'),
}

const COMPANIES: Record<string, Column> = {
  company_id: sent('company_id'),
  name: sent('name'),
  domain: sent('domain'),
  external_id: sent('external_id'),
  created_at: sentTime('created_at'),
  updated_at: sentTime('updated_at'),
  properties: sent('properties'),
}

const COLUMNS: Record<TableName, Record<string, Column>> = {
  events: EVENTS,
  owner_links: LINKS,
  contacts: CONTACTS,
  companies: COMPANIES,
}

/** The expressions of a table's columns, for a SELECT. */
export function selectOf(table: TableName): string {
  return Object.entries(COLUMNS[table])
    .map(([name, { expression }]) => (expression === name ? name : `${expression} AS \`${name}\``))
    .join(', ')
}

/** The names and types of the fields that the service sends for a PostgreSQL table. */
export function structureOf(table: 'contacts' | 'companies'): string {
  return Object.entries(COLUMNS[table])
    .map(([name, { type }]) => `${name} Nullable(${type === 'string' ? 'String' : 'Int64'})`)
    .join(', ')
}

/** A table's columns, for the manifest. */
export function schemaOf(table: TableName): { name: string; type: string }[] {
  return Object.entries(COLUMNS[table]).map(([name, { type }]) => ({ name, type }))
}
