import { isConsent, ruleBrokenBy } from '../contacts/consent.ts'
import { checkProperties, type Properties } from '../contacts/properties.ts'
import { hasMoreCharacters, shown } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { type IgnoredIds, ignoredId, namesNobody } from '../platform/ids-of-nobody.ts'
import { type IncomingRecord, MalformedAddress } from '../sources/incoming-record.ts'
import { parseCompany } from '../sources/requests.ts'
import { contentOf, emailOf } from './cells.ts'
import { type FileRow, fits, type RowSize } from './contact-rows.ts'
import { partsOfName } from './full-name.ts'
import { type CellProblem, cellProblem, propertyProblem } from './row-problems.ts'
import type { Warning } from './row-warnings.ts'
import { type CellFormat, type CellValue, parseCell, stageOf, type ValueType } from './values.ts'

/** The meaning of one column of a file. */
export type Column = {
  /** What errors call it. */
  name: string
} & (
  | { target: 'email' }
  | { target: 'external_id' }
  | { target: 'full_name' }
  /** `consent`: its name, if it says whether people may be written to. */
  | { target: 'ignore'; consent?: string }
  | PropertyColumn
)

export interface PropertyColumn {
  target: 'property'
  property: string
  type: ValueType
  format: CellFormat | null
  /** Its name, if it has further addresses of a person. */
  addresses?: string
}

export const COLUMNS_MAX = 500

/** The error for a header with too many columns. */
export function tooManyColumns(header: readonly string[]): string {
  return `has ${header.length} columns; at most ${COLUMNS_MAX} are allowed`
}

/** Whether rows can be found by both keys. */
export function hasBothKeys(columns: readonly Column[]): boolean {
  return ['email', 'external_id'].every((key) => columns.some(({ target }) => target === key))
}

/** A row of the file as a record, or its error, and what was left out of it. */
export interface ParsedRow {
  record: IncomingRecord | ServiceError
  warnings: Warning[]
}

/** What the cells of a row say, before it is checked as a whole. */
interface Said {
  email?: string
  id?: string
  /** The first address in a column with further ones. */
  other?: { address: string; header: string }
  name: Properties
  properties: Properties
  problems: CellProblem[]
  warnings: Warning[]
}

/** Parses a row. Blank cells are ignored. */
export function parseRow(
  columns: readonly Column[],
  { cells, problem, line }: FileRow,
  { size, ignoredIds }: { size: RowSize; ignoredIds: IgnoredIds },
): ParsedRow {
  if (problem !== undefined) return { record: failed([asSentence(problem)]), warnings: [] }
  if (!fits(cells, size)) {
    const count = `Line ${line} has ${cells.length} cells, but the header has ${size.most}.`
    return { record: failed([`${count} Check its quotation marks and separators.`]), warnings: [] }
  }
  const said: Said = { name: {}, properties: {}, problems: [], warnings: [] }
  for (const [index, column] of columns.entries()) {
    const cell = contentOf(cells[index] ?? '')
    if (cell !== '') readCell(column, cell, said)
  }
  const { warnings, problems } = said
  const email = addressOf(columns, said)
  const externalId = idOf(columns, said, ignoredIds)
  const isKeyless = email === null && said.email === undefined && externalId === null
  if (isKeyless && !problems.some(({ isOfKey }) => isOfKey)) problems.push(withoutKey(columns, said.id))
  // A column with a part of the name wins.
  const properties = { ...said.name, ...said.properties }
  problems.push(...propertyProblems(columns, properties))
  const { domain, detail } = parseCompany(properties.company_domain)
  if (detail) problems.push(propertyProblem(columns, 'company_domain', properties.company_domain, 'domain'))
  const record = { externalId, email, properties, at: null, companyDomain: domain }
  if (problems.length === 0) return { record, warnings }
  const error = failed(problems.map(({ sentence }) => sentence))
  const isForAddress = externalId !== null && problems.every(({ isOfEmail }) => isOfEmail)
  return { record: isForAddress ? new MalformedAddress(error, record) : error, warnings: [] }
}

/** Adds what a cell says that is not blank. */
function readCell(column: Column, cell: string, said: Said): void {
  if (column.target === 'ignore') {
    const { consent = '' } = column
    if (consent !== '' && ruleBrokenBy(consent, cell) !== null) said.warnings.push(ignoredConsent(consent))
    return
  }
  if (!isStorableText(cell)) said.problems.push(cellProblem(column, cell, 'unstorable'))
  else if (column.target === 'email') said.email = cell
  else if (column.target === 'external_id') said.id = cell
  else if (column.target === 'full_name') said.name = propertiesOfName(cell)
  else {
    const address = column.addresses === undefined ? null : emailOf(cell)
    if (address !== null) said.other ??= { address, header: column.addresses ?? '' }
    const value = cellValue(column, cell, said.warnings)
    if (value === null) said.problems.push(cellProblem(column, cell, column.type))
    else said.properties[column.property] = value
  }
}

/** What a column makes of a cell that is not blank; null if the cell does not fit. */
export function propertiesOfCell(column: Column, cell: string): Properties | null {
  if (column.target === 'full_name') return propertiesOfName(cell)
  if (column.target !== 'property') return {}
  const value = cellValue(column, cell, [])
  return value === null ? null : { [column.property]: value }
}

/** The properties of a cell with a whole name. One that is not a person's, such as a company's, stays whole. */
function propertiesOfName(cell: string): Properties {
  return { ...(partsOfName(cell) ?? { name: cell }) }
}

/** The value of a property's cell; null if it does not fit the type. */
function cellValue({ property, type, format }: PropertyColumn, cell: string, warnings: Warning[]): CellValue | null {
  if (property === 'lifecyclestage') return stageOf(cell)
  const parsed = parseCell(cell, type, format)
  if (parsed?.isKept) {
    const message = `kept_as_text: ${shown(property)} has numbers that begin with 0 or have more than 15 digits. They are kept as text, so that no digit is lost.`
    warnings.push({ code: 'kept_as_text', message })
  }
  if (parsed !== null) return parsed.value
  // What says that a person must not get mail is stored in whatever words.
  return isConsent(property) || ruleBrokenBy(property, cell) !== null ? cell : null
}

function addressOf(columns: readonly Column[], said: Said): string | null {
  const column = columns.find(({ target }) => target === 'email')
  const email = said.email === undefined ? null : emailOf(said.email)
  if (email !== null || column === undefined) return email
  if (said.other !== undefined) {
    said.warnings.push(otherAddress(said.other.header))
    return said.other.address
  }
  if (said.email !== undefined) said.problems.push(cellProblem(column, said.email, 'email'))
  return null
}

function idOf(columns: readonly Column[], said: Said, ignoredIds: IgnoredIds): string | null {
  const { id, warnings } = said
  const column = columns.find(({ target }) => target === 'external_id')
  if (id === undefined || column === undefined) return null
  if (namesNobody(id, ignoredIds)) {
    warnings.push({ code: 'ignored_id', message: ignoredId('external_id', id) })
    return null
  }
  if (hasMoreCharacters(id, ID_LENGTH_MAX)) said.problems.push(cellProblem(column, id, 'long_id'))
  return id
}

function withoutKey(columns: readonly Column[], id: string | undefined): CellProblem {
  const email = columns.find(({ target }) => target === 'email')
  const external = columns.find(({ target }) => target === 'external_id')
  return cellProblem(email ?? external ?? { name: 'The row' }, id ?? '', id === undefined ? 'blank' : 'nobody')
}

function propertyProblems(columns: readonly Column[], properties: Properties): CellProblem[] {
  return checkProperties(properties).map(({ path, message }) => {
    const property = Object.keys(properties).find((key) => path === `properties.${shown(key)}`)
    if (property === undefined) return { sentence: `The row ${message}.` }
    const kind = property === 'lifecyclestage' ? 'stage' : 'long'
    return propertyProblem(columns, property, properties[property], kind)
  })
}

function asSentence(problem: string): string {
  return `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
}

function failed(sentences: readonly string[]): ServiceError {
  return new ServiceError(400, 'validation_error', sentences.join(' '))
}

function otherAddress(header: string): Warning {
  const message = `other_address: the email comes from ${shown(header)}, because the email column has no address.`
  return { code: 'other_address', message }
}

function ignoredConsent(header: string): Warning {
  const message = `consent_ignored: ${shown(header)} says that these contacts opted out, but the column is not imported. Import it as a property.`
  return { code: 'consent_ignored', message }
}
