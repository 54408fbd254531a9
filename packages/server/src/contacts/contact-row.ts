import { isDeepStrictEqual } from 'node:util'
import type { Selectable } from 'kysely'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Properties } from './properties.ts'

/** The columns of a contact that are not derived by the database. */
export const CONTACT_COLUMNS = [
  'contact_id',
  'email',
  'external_id',
  'external_id_provisional',
  'properties',
  'properties_provenance',
  'company_id',
  'creation_source',
  'first_seen_at',
  'created_at',
  'updated_at',
  'enriched_at',
] as const

export type ContactRow = Pick<Selectable<TenantTables['contacts']>, (typeof CONTACT_COLUMNS)[number]>

/** The winning values including the email, which is stored only in its own column, so that the two cannot differ. */
export function propertiesOf(row: Pick<ContactRow, 'email' | 'properties'>): Properties {
  const properties = row.properties as Properties
  return row.email === null ? properties : { email: row.email, ...properties }
}

/** The properties and columns of a contact that changed. */
export function changedKeys(before: ContactRow, after: ContactRow): string[] {
  const [from, to] = [before, after].map((row) => row.properties as Properties) as [Properties, Properties]
  const properties = Object.keys({ ...from, ...to }).filter((key) => !isDeepStrictEqual(from[key], to[key]))
  return [...properties, ...CONTACT_COLUMNS.filter((column) => !isDeepStrictEqual(before[column], after[column]))]
}
