import type { ColumnMapping } from '../api/imports.ts'

/** Each type with each of its formats, as one choice. */
export const FORMATS = [
  'text',
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
