import { checkProperties } from '../contacts/properties.ts'
import { propertyNameOf } from '../contacts/property-names.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { parseCompany } from '../sources/requests.ts'
import type { IncomingRecord } from '../sources/write-records.ts'

/** The meaning of a file's columns. */
export interface Columns {
  /** The property of each column. */
  properties: string[]
  /** Index of the column with the external id; -1 if there is none. */
  externalId: number
}

const COLUMNS_MAX = 500
const NAME_LENGTH_MAX = 128
const EXTERNAL_ID_LENGTH_MAX = 200

/** Parses the header. @returns the columns, or what is wrong with them. */
export function columnsOf(header: readonly string[] | undefined): Columns | string {
  if (!header) return 'is empty. The first line must name the columns'
  if (header.length > COLUMNS_MAX) return `has ${header.length} columns; at most ${COLUMNS_MAX} are allowed`
  const properties = header.map(propertyNameOf)
  const seen = new Map<string, number>()
  for (const [index, name] of properties.entries()) {
    const place = `column ${index + 1}`
    if (name === '') return `${place} has no name. The first line must name every column`
    if (hasMoreCharacters(name, NAME_LENGTH_MAX))
      return `the name of ${place} is longer than ${NAME_LENGTH_MAX} characters`
    if (name === '__proto__') return `${place} has the reserved name __proto__; rename it`
    const first = seen.get(name)
    if (first !== undefined) return `columns ${first + 1} and ${index + 1} are both '${name}'. Remove or rename one`
    seen.set(name, index)
  }
  const externalId =
    [externalIdColumn(header, 'externalid'), externalIdColumn(header, 'id')].find((at) => at >= 0) ?? -1
  if (externalId < 0 && !seen.has('email')) {
    return 'has neither a column email nor external_id. The first line must name the columns, separated by commas'
  }
  return { properties, externalId }
}

function externalIdColumn(header: readonly string[], spelling: string): number {
  return header.findIndex((name) => name.toLowerCase().replace(/[\s_-]+/g, '') === spelling)
}

/** Parses a row. Blank cells are ignored. @returns the record, or its error. */
export function recordOf(
  { properties: names, externalId: idColumn }: Columns,
  cells: string[],
): IncomingRecord | ServiceError {
  if (cells.length !== names.length) {
    return new ServiceError(400, 'validation_error', `has ${cells.length} cells; the first line has ${names.length}`)
  }
  const values = new Map<string, string>()
  for (const [index, name] of names.entries()) {
    const value = cells[index]?.trim() ?? ''
    if (value !== '' && index !== idColumn) values.set(name, value)
  }
  const externalId = cells[idColumn]?.trim() || null
  const sentEmail = values.get('email')
  values.delete('email')
  const stage = values.get('lifecyclestage')
  // Files are written by people: `Lead` is `lead`.
  if (stage !== undefined) values.set('lifecyclestage', stage.toLowerCase())
  const properties = Object.fromEntries(values)
  const email = sentEmail === undefined ? null : parseEmail(sentEmail)
  const details: ErrorDetail[] = []
  if (sentEmail !== undefined && email === null)
    details.push({ path: 'email', message: 'is not a valid e-mail address' })
  if (sentEmail === undefined && externalId === null) {
    details.push({ path: 'email', message: 'is empty, and there is no external_id to find the contact by' })
  }
  if (externalId !== null && hasMoreCharacters(externalId, EXTERNAL_ID_LENGTH_MAX)) {
    details.push({ path: 'external_id', message: `is longer than ${EXTERNAL_ID_LENGTH_MAX} characters` })
  }
  details.push(...checkProperties(properties))
  const { domain, detail } = parseCompany(properties.company_domain)
  if (detail) details.push(detail)
  if (details.length > 0) return validationError(details)
  return { externalId, email, properties, at: null, companyDomain: domain }
}
