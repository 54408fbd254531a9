import Type from 'typebox'
import { dateOf } from './dates.ts'
import { itemsOf } from './lists.ts'
import { type Decimal, numberOf } from './numbers.ts'
import { readablePhone } from './phones.ts'

/** How the cells of a column are stored. */
export const ValueType = Type.Enum(['text', 'number', 'boolean', 'date', 'list', 'phone'], {
  description:
    '`number`: also of money, without its currency. `date`: a text as in ISO 8601, such as `2026-12-31`; a time without an offset is in UTC. `list`: the parts of each cell. `phone`: a text, with `+` in place of `00`.',
})
export type ValueType = Type.Static<typeof ValueType>

/** How the cells of a column are written, where their type allows several ways; the first way of a type is the default. */
export const FORMATS = {
  number: ['decimal_point', 'decimal_comma'],
  date: ['day_first', 'month_first'],
  list: ['commas', 'semicolons'],
} as const
export const CellFormat = Type.Enum([...FORMATS.number, ...FORMATS.date, ...FORMATS.list], {
  description:
    'How cells are written. Numbers: `decimal_point` (`1,250.5`) or `decimal_comma` (`1.250,5`); the default depends on the delimiter of the file. Dates: `day_first` (`31/12/2026`, the default) or `month_first` (`12/31/2026`). Lists: `commas` (the default) or `semicolons`, if the parts have commas themselves.',
})
export type CellFormat = Type.Static<typeof CellFormat>

/** The formats that a type has. */
export function formatsOf(type: ValueType): readonly CellFormat[] {
  return Object.hasOwn(FORMATS, type) ? FORMATS[type as keyof typeof FORMATS] : []
}

/** The format of a column without one. Files with semicolons come from where the comma is the decimal separator. */
export function defaultFormat(type: ValueType, delimiter: string): CellFormat | null {
  if (type === 'number' && delimiter === ';') return 'decimal_comma'
  return formatsOf(type)[0] ?? null
}

export const decimalIn = (format: CellFormat | null): Decimal => (format === 'decimal_comma' ? ',' : '.')

const BOOLEANS = new Map<string, boolean>([
  ...['true', 'yes', 'y', 'ja', 'oui', 'vrai', 'wahr', 'sí', 'verdadero', 'да', 'はい', '是'].map(
    (word) => [word, true] as const,
  ),
  ...['false', 'no', 'n', 'nein', 'non', 'faux', 'falsch', 'falso', 'nee', 'nej', 'нет', 'いいえ', '否'].map(
    (word) => [word, false] as const,
  ),
])

/** Whether a cell says yes or no. */
export function saysYesOrNo(cell: string): boolean {
  return BOOLEANS.has(cell.toLowerCase())
}

export type CellValue = string | number | boolean | string[]

/** A cell as a value of a type; null if it is none. A number that would lose digits is kept as text: `isKept`. */
export function parseCell(
  cell: string,
  type: ValueType,
  format: CellFormat | null,
): { value: CellValue; isKept?: true } | null {
  switch (type) {
    case 'number': {
      const number = numberOf(cell, decimalIn(format))
      if (number === null) return null
      return number === 'code' ? { value: cell, isKept: true } : { value: number }
    }
    case 'boolean': {
      const value = BOOLEANS.get(cell.toLowerCase())
      return value === undefined ? null : { value }
    }
    case 'date': {
      const value = dateOf(cell, format === 'month_first' ? format : 'day_first')
      return value === null ? null : { value }
    }
    case 'list':
      return { value: itemsOf(cell, format === 'semicolons' ? format : 'commas') }
    case 'phone':
      return { value: readablePhone(cell) }
    default:
      return { value: cell }
  }
}

/** What other systems call some lifecycle stages. */
const STAGES = new Map([
  ['marketing qualified lead', 'mql'],
  ['marketingqualifiedlead', 'mql'],
  ['sales qualified lead', 'sql'],
  ['salesqualifiedlead', 'sql'],
])

/** People write files, so `Lead` means `lead`. */
export function stageOf(cell: string): string {
  const stage = cell.toLowerCase()
  return STAGES.get(stage) ?? stage
}
