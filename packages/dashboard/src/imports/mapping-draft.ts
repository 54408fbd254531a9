import type { ColumnMapping, Import } from '../api/types.ts'
import { text } from './text.ts'

/** Every column of the file with a mapping, also those that the service does not list. */
export function draftOf({ columns, mapping }: Import): ColumnMapping[] {
  const known = new Map(mapping.map((each) => [each.column, each]))
  return columns.map((_, column) => known.get(column) ?? { column, target: 'ignore' })
}

/** The value of a column in the choice of targets. */
export function choiceOf({ target, property = '' }: ColumnMapping, known: ReadonlySet<string>): string {
  if (target !== 'property') return target
  return known.has(property) ? `property:${property}` : 'new'
}

/** A column after another target was chosen for it. */
export function withChoice(before: ColumnMapping, choice: string, header: string): ColumnMapping {
  const { column, type = 'text', format } = before
  if (choice === 'email' || choice === 'external_id' || choice === 'full_name' || choice === 'ignore')
    return { column, target: choice }
  const property = choice === 'new' ? header : choice.slice('property:'.length)
  return { column, target: 'property', property, type, ...(format ? { format } : {}) }
}

/** What is wrong with each column, by index. */
export function problemsOf(draft: readonly ColumnMapping[], nameOf: (column: number) => string): Map<number, string> {
  const first = new Map<string, number>()
  const problems = new Map<number, string>()
  for (const { column, target, property = '' } of draft) {
    if (target === 'ignore') continue
    const name = property.trim()
    if (target === 'property' && name === '') problems.set(column, text.mapping.problems.noName)
    if (['email', '__proto__'].includes(name)) problems.set(column, text.mapping.problems.reserved)
    const key = target === 'property' ? `property:${name}` : target
    const other = first.get(key)
    if (other === undefined) first.set(key, column)
    else problems.set(column, text.mapping.problems.taken(nameOf(other)))
  }
  return problems
}

/** Whether contacts can be found by the file. */
export function hasKey(draft: readonly ColumnMapping[]): boolean {
  return draft.some(({ target }) => target === 'email' || target === 'external_id')
}

/** The mapping to send. */
export function toMapping(draft: readonly ColumnMapping[]): ColumnMapping[] {
  return draft.map(({ column, target, property = '', type = 'text', format }) =>
    target === 'property'
      ? { column, target, property: property.trim(), type, ...(format ? { format } : {}) }
      : { column, target },
  )
}

/** Each type with each of its formats, as one choice. `date` alone is for dates whose order is clear, such as `5 May 2026`. */
export const FORMATS = [
  'text',
  'date',
  'date:day_first',
  'date:month_first',
  'number:decimal_point',
  'number:decimal_comma',
  'boolean',
  'phone',
  'list:commas',
  'list:semicolons',
] as const
export type FormatName = (typeof FORMATS)[number]

/** The choice of a column's type and format. @param delimiter files with semicolons usually have decimal commas. */
export function formatOf({ type = 'text', format }: ColumnMapping, delimiter: string): FormatName {
  const given = FORMATS.find((each) => each === `${type}:${format}`)
  const usual = type === 'number' && delimiter === ';' ? 'number:decimal_comma' : undefined
  return given ?? usual ?? FORMATS.find((each) => each.split(':')[0] === type) ?? 'text'
}

/** A column with another type and format. */
export function withFormat({ column, target, property = '' }: ColumnMapping, chosen: FormatName): ColumnMapping {
  const [type, format] = chosen.split(':') as [ColumnMapping['type'], ColumnMapping['format']]
  return { column, target, property, ...(type ? { type } : {}), ...(format ? { format } : {}) }
}
