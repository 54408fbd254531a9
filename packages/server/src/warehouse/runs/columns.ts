/** The tables of an export. `append`: a run adds rows. `snapshot`: its files contain all rows and replace earlier files. */
export const TABLES = {
  events: 'append',
  identity_links: 'append',
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
const flag = (column: string): Column => ({ type: 'bool', expression: `found.${column}` })
const time = (expression: string): Column => ({ type: 'timestamp[ms]', expression })
const NOBODY = "toUUID('00000000-0000-0000-0000-000000000000')"
const CONTACT = `multiIf(links.contact_id != ${NOBODY}, links.contact_id, found.is_anonymous, ${NOBODY}, found.owner_id)`
const idOrNull = (expression: string) => text(`nullIf(toString(${expression}), toString(${NOBODY}))`)

const EVENTS: Record<string, Column> = {
  event_id: text('toString(found.event_id)'),
  event: text('toString(found.event)'),
  is_system: flag('is_system'),
  timestamp: time('found.timestamp'),
  received_at: time('found.received_at'),
  owner_id: idOrNull('found.owner_id'),
  contact_id: idOrNull(CONTACT),
  is_anonymous: flag('is_anonymous'),
  visitor_id: optional('visitor_id'),
  session_id: optional('session_id'),
  url: optional('url'),
  path: optional('url_path'),
  domain: optional('domain'),
  title: optional('title'),
  text: optional('text'),
  class: optional('class'),
  element_id: optional('element_id'),
  element_type: optional('element_type'),
  referrer: optional('referrer'),
  referring_domain: optional('referring_domain'),
  browser: optional('browser'),
  os: optional('os'),
  device_type: optional('device_type'),
  is_bot: flag('is_bot'),
  screen: optional('screen'),
  language: optional('language'),
  timezone: optional('timezone'),
  analytics_user_id: optional('analytics_user_id'),
  user_agent: optional('user_agent'),
  origin_mismatch: flag('origin_mismatch'),
  data: text("if(found.data = '', '{}', found.data)"),
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
  identity_links: LINKS,
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
