import { checkProperties } from '../contacts/properties.ts'
import { plainName, propertyNameOf } from '../contacts/property-names.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import type { IncomingRecord } from '../sources/apply-records.ts'
import { parseCompany } from '../sources/requests.ts'
import { parseCell, stageOf, type ValueType } from './values.ts'

/** The meaning of one column of a file. */
export type Column =
  | { target: 'email' | 'external_id' | 'ignore' }
  | { target: 'property'; property: string; type: ValueType }

export const COLUMNS_MAX = 500
export const NAME_LENGTH_MAX = 128

/** The meaning of each column from the header alone. @returns the columns, or the problem with them. */
export function columnsOf(header: readonly string[] | undefined): Column[] | string {
  if (!header) return 'is empty. The first line must name the columns'
  if (header.length > COLUMNS_MAX) return tooManyColumns(header)
  const names = header.map(propertyNameOf)
  const seen = new Map<string, number>()
  for (const [index, name] of names.entries()) {
    const place = `column ${index + 1}`
    if (name === '') return `${place} has no name. The first line must name every column`
    if (hasMoreCharacters(name, NAME_LENGTH_MAX))
      return `the name of ${place} is longer than ${NAME_LENGTH_MAX} characters`
    if (name === '__proto__') return `${place} has the reserved name __proto__; rename it`
    const first = seen.get(name)
    if (first !== undefined) return `columns ${first + 1} and ${index + 1} are both '${name}'. Remove or rename one`
    seen.set(name, index)
  }
  const idColumn = ['externalid', 'id'].map((id) => header.findIndex((name) => plainName(name) === id))
  const externalId = idColumn.find((at) => at >= 0)
  if (externalId === undefined && !seen.has('email')) {
    return 'has neither an email nor an external_id column. The first line must name the columns, separated by commas'
  }
  return names.map((property, index) => {
    if (index === externalId) return { target: 'external_id' }
    return property === 'email' ? { target: 'email' } : { target: 'property', property, type: 'text' }
  })
}

/** The error for a header with too many columns. */
export function tooManyColumns(header: readonly string[]): string {
  return `has ${header.length} columns; at most ${COLUMNS_MAX} are allowed`
}

/** Whether rows can be found by both keys. */
export function hasBothKeys(columns: readonly Column[]): boolean {
  return ['email', 'external_id'].every((key) => columns.some(({ target }) => target === key))
}

/** Parses a row. Blank cells are ignored. @returns the record, or its error. */
export function recordOf(columns: readonly Column[], cells: readonly string[]): IncomingRecord | ServiceError {
  if (cells.length !== columns.length) {
    return new ServiceError(400, 'validation_error', `has ${cells.length} cells; the first line has ${columns.length}`)
  }
  const values = new Map<string, string | number | boolean>()
  const details: ErrorDetail[] = []
  let sentEmail: string | undefined
  let externalId: string | null = null
  for (const [index, column] of columns.entries()) {
    const cell = contentOf(cells[index] ?? '')
    if (cell === '') continue
    if (column.target === 'email') sentEmail = cell
    if (column.target === 'external_id') externalId = cell
    if (column.target !== 'property') continue
    const { value, problem } = parseCell(cell, column.type)
    if (problem !== undefined) details.push({ path: `properties.${column.property}`, message: problem })
    else values.set(column.property, column.property === 'lifecyclestage' ? stageOf(String(value)) : value)
  }
  const properties = Object.fromEntries(values)
  const email = sentEmail === undefined ? null : firstEmail(sentEmail)
  if (sentEmail !== undefined && email === null)
    details.push({ path: 'email', message: 'is not a valid email address' })
  if (sentEmail === undefined && externalId === null) {
    details.push({ path: 'email', message: 'is empty, and there is no external_id to find the contact by' })
  }
  if (externalId !== null && hasMoreCharacters(externalId, ID_LENGTH_MAX)) {
    details.push({ path: 'external_id', message: `is longer than ${ID_LENGTH_MAX} characters` })
  }
  details.push(...checkProperties(properties))
  const { domain, detail } = parseCompany(properties.company_domain)
  if (detail) details.push(detail)
  if (details.length > 0) return validationError(details)
  return { externalId, email, properties, at: null, companyDomain: domain }
}

/** Downloads put an apostrophe before texts that a spreadsheet would evaluate; here it is removed again. */
function contentOf(cell: string): string {
  return cell.trim().replace(/^'(?=[=+\-@])/, '')
}

/** Some exports list all addresses of a person in one cell; the first is the main one. */
function firstEmail(text: string): string | null {
  return parseEmail(text) ?? parseEmail(text.split(/[,;]/, 1)[0] ?? '')
}
