import { isConsent, ruleBrokenBy } from '../contacts/consent.ts'
import { checkProperties, type Properties } from '../contacts/properties.ts'
import { hasMoreCharacters, shown } from '../platform/characters.ts'
import { type ErrorDetail, ServiceError, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { type IgnoredIds, ignoredId, namesNobody } from '../platform/ids-of-nobody.ts'
import { type IncomingRecord, MalformedAddress } from '../sources/incoming-record.ts'
import { parseCompany } from '../sources/requests.ts'
import { contentOf, emailOf } from './cells.ts'
import { type FileRow, fits, type RowSize } from './contact-rows.ts'
import { partsOfName } from './full-name.ts'
import type { Warning } from './row-warnings.ts'
import { type Decimal, parseCell, stageOf, type ValueType } from './values.ts'

/** The meaning of one column of a file. */
export type Column =
  | { target: 'email' }
  | { target: 'external_id' }
  | { target: 'full_name' }
  /** `consent`: its name, if it says whether people may be written to. */
  | { target: 'ignore'; consent?: string }
  /** `addresses`: its name, if it has further addresses of a person. */
  | { target: 'property'; property: string; type: ValueType; decimal: Decimal; addresses?: string }

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

/** Parses a row. Blank cells are ignored. */
export function parseRow(
  columns: readonly Column[],
  { cells, problem, line }: FileRow,
  { size, ignoredIds }: { size: RowSize; ignoredIds: IgnoredIds },
): ParsedRow {
  const warnings: Warning[] = []
  const failed = (message: string) => ({ record: new ServiceError(400, 'validation_error', message), warnings: [] })
  if (problem !== undefined) return failed(problem)
  if (!fits(cells, size)) {
    return failed(
      `line ${line} has ${cells.length} cells; the header has ${size.most}. Check its quotation marks and delimiters`,
    )
  }
  const said: Properties = {}
  const details: ErrorDetail[] = []
  let sentEmail: string | undefined
  let other: { address: string; header: string } | undefined
  let sentId: string | undefined
  let name: Properties = {}
  for (const [index, column] of columns.entries()) {
    const cell = contentOf(cells[index] ?? '')
    if (cell === '') continue
    if (column.target === 'ignore') {
      const { consent = '' } = column
      if (consent !== '' && ruleBrokenBy(consent, cell) !== null) warnings.push(ignoredConsent(consent))
      continue
    }
    if (!isStorableText(cell)) {
      details.push({ path: pathOf(column), message: UNSTORABLE })
    } else if (column.target === 'email') sentEmail = cell
    else if (column.target === 'external_id') sentId = cell
    else if (column.target === 'full_name') name = propertiesOfName(cell)
    else {
      const address = column.addresses === undefined ? null : emailOf(cell)
      if (address !== null) other ??= { address, header: column.addresses ?? '' }
      const { value, warning, detail } = toValue(column, cell)
      if (warning) warnings.push(warning)
      if (detail) details.push(detail)
      else said[column.property] = value
    }
  }
  let email = sentEmail === undefined ? null : emailOf(sentEmail)
  if (email === null && other && columns.some(({ target }) => target === 'email')) {
    email = other.address
    warnings.push(otherAddress(other.header))
  } else if (sentEmail !== undefined && email === null) {
    details.push({ path: 'email', message: 'is not a valid email address' })
  }
  const externalId = sentId !== undefined && namesNobody(sentId, ignoredIds) ? null : (sentId ?? null)
  if (sentId !== undefined && externalId === null) {
    warnings.push({ code: 'ignored_id', message: ignoredId('external_id', sentId) })
  }
  if (
    email === null &&
    sentEmail === undefined &&
    externalId === null &&
    !details.some(({ path }) => KEYS.includes(path))
  ) {
    details.push({ path: 'email', message: noKey(sentId) })
  }
  if (externalId !== null && hasMoreCharacters(externalId, ID_LENGTH_MAX)) {
    details.push({ path: 'external_id', message: `is longer than ${ID_LENGTH_MAX} characters` })
  }
  // A column with one of its parts wins.
  const properties = { ...name, ...said }
  details.push(...checkProperties(properties))
  const { domain, detail } = parseCompany(properties.company_domain)
  if (detail) details.push(detail)
  const record = { externalId, email, properties, at: null, companyDomain: domain }
  if (details.length === 0) return { record, warnings }
  const error = validationError(details)
  const isForAddress = externalId !== null && details.every(({ path }) => path === 'email')
  return { record: isForAddress ? new MalformedAddress(error, record) : error, warnings: [] }
}

/** The properties of a cell with a whole name. One that is not a person's, such as a company's, stays whole. */
function propertiesOfName(cell: string): Properties {
  return { ...(partsOfName(cell) ?? { name: cell }) }
}

const KEYS = ['email', 'external_id']
const UNSTORABLE =
  'has a NUL character, or bytes that are not text in the encoding of the file. Correct the cell, or choose another encoding'

function otherAddress(header: string): Warning {
  const message = `other_address: the email comes from ${shown(header)}, because the email column has no address.`
  return { code: 'other_address', message }
}

function ignoredConsent(header: string): Warning {
  const message = `consent_ignored: ${shown(header)} says that these contacts opted out, but the column is not imported. Import it as a property.`
  return { code: 'consent_ignored', message }
}

function noKey(sentId: string | undefined): string {
  if (sentId === undefined) return 'is empty, and there is no external_id to find the contact by'
  return `is empty, and the external_id ${JSON.stringify(shown(sentId))} names nobody`
}

function pathOf(column: Column): string {
  return column.target === 'property' ? `properties.${shown(column.property)}` : column.target
}

/** The value of a property's cell. */
function toValue(
  { property, type, decimal }: Extract<Column, { target: 'property' }>,
  cell: string,
): { value: string | number | boolean; warning?: Warning; detail?: ErrorDetail } {
  if (property === 'lifecyclestage') return { value: stageOf(cell) }
  const { value, problem, isKept } = parseCell(cell, type, decimal)
  if (isKept) {
    const message = `kept_as_text: ${shown(property)} has numbers that begin with 0 or have more than 15 digits. They are kept as text, so that no digit is lost.`
    return { value, warning: { code: 'kept_as_text', message } }
  }
  // What says that a person must not get mail is stored in whatever words.
  if (problem === undefined || isConsent(property) || ruleBrokenBy(property, value) !== null) return { value }
  return { value, detail: { path: `properties.${shown(property)}`, message: problem } }
}
