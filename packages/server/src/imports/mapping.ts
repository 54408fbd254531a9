import Type from 'typebox'
import { firstCharacters, hasMoreCharacters } from '../platform/characters.ts'
import { type ErrorDetail, validationError } from '../platform/errors.ts'
import { isStorableText } from '../platform/http/json-body.ts'
import { COLUMNS_MAX, type Column, NAME_LENGTH_MAX } from './columns.ts'
import { isSecondChoice, type Recognized, targetOf } from './known-exports.ts'
import { typeOfSamples, ValueType } from './values.ts'

/** Where one column of a file goes. */
export const ColumnMapping = Type.Object(
  {
    column: Type.Integer({ minimum: 0, maximum: COLUMNS_MAX - 1, description: 'Index of the column, from 0.' }),
    target: Type.Enum(['email', 'external_id', 'property', 'ignore']),
    property: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: NAME_LENGTH_MAX,
        description: 'The property, with the target `property`. `company` and `company_domain` name the company.',
      }),
    ),
    type: Type.Optional(ValueType),
  },
  { title: 'ColumnMapping', additionalProperties: false },
)
export type ColumnMapping = Type.Static<typeof ColumnMapping>

/** A proposal for every column. If two would have the same target, the first one gets it. */
export function proposedMapping(
  header: readonly string[],
  samples: readonly (readonly string[])[],
  source: Recognized | null,
): ColumnMapping[] {
  const taken = new Set<string>()
  const propose = (name: string, column: number): ColumnMapping => {
    const target = targetOf(name, source)
    if (target === 'ignore') return { column, target }
    if (typeof target === 'string' && !taken.has(target)) {
      taken.add(target)
      return { column, target }
    }
    const wanted = typeof target === 'string' ? name.trim() : target.property
    const property = [wanted, name.trim(), ...numbered(name.trim())].find((each) => !taken.has(each) && isUsable(each))
    if (property === undefined) return { column, target: 'ignore' }
    taken.add(property)
    return { column, target: 'property', property, type: typeOf(property, samples[column] ?? []) }
  }
  const named = header.map((name, column) => ({ name, column, isLast: isSecondChoice(name) }))
  const inOrder = named.sort((a, b) => Number(a.isLast) - Number(b.isLast))
  return inOrder.map(({ name, column }) => propose(name, column)).sort((a, b) => a.column - b.column)
}

function numbered(name: string): string[] {
  return Array.from({ length: 9 }, (_, index) => `${firstCharacters(name, NAME_LENGTH_MAX - 2)} ${index + 2}`)
}

const RESERVED = ['email', '__proto__', '']

function isUsable(property: string): boolean {
  return !RESERVED.includes(property) && !hasMoreCharacters(property, NAME_LENGTH_MAX) && isStorableText(property)
}

/** Ids, phone numbers and postal codes may consist of digits, but are not quantities. */
const CODES = /phone|mobile|fax|zip|postal|postcode|(^|[\s_])ids?$/i

function typeOf(property: string, samples: readonly string[]): ValueType {
  if (property === 'lifecyclestage' || CODES.test(property)) return 'text'
  return typeOfSamples(samples)
}

/** Why a mapping cannot be used to import; empty if it can. */
export function problemsOf(mapping: readonly ColumnMapping[], columnCount: number): ErrorDetail[] {
  const details: ErrorDetail[] = []
  const columns = new Map<number, number>()
  const targets = new Map<string, number>()
  for (const [index, { column, target, property, type }] of mapping.entries()) {
    const path = `columns[${index}]`
    if (column >= columnCount) details.push({ path: `${path}.column`, message: `the file has ${columnCount} columns` })
    if (columns.has(column)) details.push({ path: `${path}.column`, message: 'is mapped twice' })
    columns.set(column, index)
    if (target === 'property' && property === undefined) {
      details.push({ path: `${path}.property`, message: 'is required with the target property' })
    }
    if (target !== 'property' && (property !== undefined || type !== undefined)) {
      details.push({ path, message: `property and type belong to the target property, not to ${target}` })
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
export function mappedColumns(mapping: readonly ColumnMapping[], columnCount: number): Column[] {
  const columns = Array.from({ length: columnCount }, (): Column => ({ target: 'ignore' }))
  for (const { column, target, property = '', type = 'text' } of mapping) {
    columns[column] = target === 'property' ? { target, property, type } : { target }
  }
  return columns
}
