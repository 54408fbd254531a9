import Type from 'typebox'

/** How the cells of a column are stored. */
export const ValueType = Type.Enum(['text', 'number', 'boolean'])
export type ValueType = Type.Static<typeof ValueType>

/** The decimal separator: files with semicolons come from where the comma is one. */
export type Decimal = '.' | ','
export const decimalOf = (delimiter: string): Decimal => (delimiter === ';' ? ',' : '.')

const NUMBERS = { '.': /^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/, ',': /^-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/ } as const
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/
/** With more digits, a JSON number would not be exact. */
const DIGITS_MAX = 15
const BOOLEANS = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

/** A cell as a value of a type, or why it is none. A number that would lose digits is kept as text: `isKept`. */
export function parseCell(
  cell: string,
  type: ValueType,
  decimal: Decimal,
): { value: string | number | boolean; problem?: string; isKept?: true } {
  if (type === 'number') {
    const number = numberOf(cell, decimal)
    if (number === null)
      return { value: cell, problem: `must be a number, such as 1250 or ${decimal === ',' ? '1.250,5' : '1,250.5'}` }
    return number === 'code' ? { value: cell, isKept: true } : { value: number }
  }
  if (type === 'boolean') {
    const value = BOOLEANS.get(cell.toLowerCase())
    return value === undefined ? { value: cell, problem: 'must be true, false, yes or no' } : { value }
  }
  return { value: cell }
}

/** The number in a cell; null if there is none. A number that starts with a zero is a `code`, and so is a long one. */
function numberOf(cell: string, decimal: Decimal): number | 'code' | null {
  const isGrouped = NUMBERS[decimal].test(cell)
  if (!isGrouped && !PLAIN_NUMBER.test(cell)) return null
  if (/^-?0\d/.test(cell) || cell.replace(/\D/g, '').length > DIGITS_MAX) return 'code'
  if (!isGrouped) return Number(cell)
  const [group, point] = decimal === ',' ? ['.', ','] : [',', '.']
  return Number(cell.replaceAll(group, '').replace(point, '.'))
}

/** With semicolons, `1,250` and `1.250` may be either: a person has to say that they are numbers. */
const AMBIGUOUS = /^-?\d{1,3}[.,]\d{3}$/

/**
 * The type that fits all samples of a column. Numbers that start with a zero are codes, and so are long ones: they stay
 * texts.
 */
export function typeOfSamples(samples: readonly string[], decimal: Decimal): ValueType {
  if (samples.length === 0) return 'text'
  if (samples.every((sample) => BOOLEANS.has(sample.toLowerCase()))) return 'boolean'
  const isQuantity = (sample: string) =>
    typeof numberOf(sample, decimal) === 'number' && !(decimal === ',' && AMBIGUOUS.test(sample))
  return samples.every(isQuantity) ? 'number' : 'text'
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
