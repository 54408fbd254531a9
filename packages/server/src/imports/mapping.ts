import Type from 'typebox'
import { maySilence } from '../contacts/consent.ts'
import { firstCharacters, hasMoreCharacters, shown } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { WORD } from '../platform/personal.ts'
import { isAddressColumn } from './column-names.ts'
import { COLUMNS_MAX, type Column } from './columns.ts'
import { CellFormat, defaultFormat, formatsOf, ValueType } from './values.ts'

export const NAME_LENGTH_MAX = 128

/** Where one column of a file goes. */
export const ColumnMapping = Type.Object(
  {
    column: Type.Integer({ minimum: 0, maximum: COLUMNS_MAX - 1, description: 'Index of the column, from 0.' }),
    target: Type.Enum(['email', 'external_id', 'full_name', 'property', 'ignore'], {
      description:
        '`full_name`: the name of a person, which is divided into `firstname` and `lastname`, `salutation` and `name_suffix`. Columns with these properties win.',
    }),
    property: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
        description: 'The property, with the target `property`. `company` and `company_domain` name the company.',
        ...WORD,
      }),
    ),
    type: Type.Optional(ValueType),
    format: Type.Optional(CellFormat),
  },
  { title: 'ColumnMapping', additionalProperties: false },
)
export type ColumnMapping = Type.Static<typeof ColumnMapping>

const RESERVED = ['email', '__proto__', '']

/** Whether a property may have the name. */
export function isUsable(property: string): boolean {
  return !RESERVED.includes(property) && !hasMoreCharacters(property, NAME_LENGTH_MAX) && isStorableText(property)
}

/** Why a mapping cannot be used to import; empty if it can. */
export function problemsOf(mapping: readonly ColumnMapping[], columnCount: number): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const columns = new Map<number, number>()
  const targets = new Map<string, number>()
  for (const [index, { column, target, property, type, format }] of mapping.entries()) {
    const path = `columns[${index}]`
    if (column >= columnCount) details.push({ path: `${path}.column`, message: `the file has ${columnCount} columns` })
    if (columns.has(column)) details.push({ path: `${path}.column`, message: 'is mapped twice' })
    columns.set(column, index)
    if (target === 'property' && property === undefined) {
      details.push({ path: `${path}.property`, message: 'is required with the target property' })
    }
    if (target !== 'property' && (property !== undefined || type !== undefined || format !== undefined)) {
      details.push({ path, message: `property, type and format belong to the target property, not to ${target}` })
    }
    const formats = formatsOf(type ?? 'text')
    if (target === 'property' && format !== undefined && !formats.includes(format)) {
      const allowed = formats.length === 0 ? 'has no formats' : `has the formats ${formats.join(' and ')}`
      details.push({ path: `${path}.format`, message: `the type ${type ?? 'text'} ${allowed}` })
    }
    if (property !== undefined && property.trim() !== property) {
      details.push({ path: `${path}.property`, message: 'must not start or end with a space' })
    }
    if (property !== undefined && !isUsable(property)) {
      details.push({ path: `${path}.property`, message: 'is reserved; choose another name, or the target email' })
    }
    if (target === 'ignore') continue
    const key = target === 'property' ? `property ${property}` : target
    if (targets.has(key)) details.push({ path, message: `two columns have the target ${key}` })
    targets.set(key, index)
  }
  if (!targets.has('email') && !targets.has('external_id')) {
    details.push({ path: 'columns', message: 'one column must be the email or the external_id' })
  }
  return details
}

/** @throws ServiceError 400 naming each problem. */
export function requireMapping(mapping: readonly ColumnMapping[], columnCount: number): void {
  const details = problemsOf(mapping, columnCount)
  if (details.length > 0) throw validationError(details)
}

/** The meaning of each column of the file. */
export function mappedColumns(
  mapping: readonly ColumnMapping[],
  headers: readonly string[],
  delimiter: string,
): Column[] {
  const columns = headers.map((header, column): Column => ignored(header, column))
  for (const each of mapping) {
    const header = headers[each.column] ?? ''
    columns[each.column] = columnOf(each, header, delimiter)
  }
  return columns
}

function columnOf(
  { column, target, property = '', type = 'text', format }: ColumnMapping,
  header: string,
  delimiter: string,
): Column {
  const name = nameOf(header, column)
  if (target === 'ignore') return ignored(header, column)
  if (target !== 'property') return { target, name }
  return {
    target,
    name,
    property,
    type,
    format: format ?? defaultFormat(type, delimiter),
    ...(isAddressColumn(header) ? { addresses: header } : {}),
  }
}

/** What errors call a column. */
function nameOf(header: string, column: number): string {
  const name = header.replace(/\s+/g, ' ').trim()
  return name === '' ? `column ${column + 1}` : shown(name)
}

/** A name that is too long for a property is judged by its beginning, like the one that a proposal gives it. */
function ignored(header: string, column: number): Column {
  const consent = firstCharacters(header, NAME_LENGTH_MAX)
  const name = nameOf(header, column)
  return maySilence(consent) ? { target: 'ignore', name, consent } : { target: 'ignore', name }
}
