import Type from 'typebox'

/** How the cells of a column are stored. */
export const ValueType = Type.Enum(['text', 'number', 'boolean'])
export type ValueType = Type.Static<typeof ValueType>

const NUMBER = /^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/
/** With more digits, a JSON number would not be exact. */
const DIGITS_MAX = 15
const BOOLEANS = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

/** A cell as a value of a type, or why it is none. */
export function parseCell(cell: string, type: ValueType): { value: string | number | boolean; problem?: string } {
  if (type === 'number') {
    if (isNumber(cell)) return { value: Number(cell.replaceAll(',', '')) }
    return { value: cell, problem: 'must be a number, such as 1250 or 1,250.5' }
  }
  if (type === 'boolean') {
    const value = BOOLEANS.get(cell.toLowerCase())
    return value === undefined ? { value: cell, problem: 'must be true, false, yes or no' } : { value }
  }
  return { value: cell }
}

function isNumber(cell: string): boolean {
  return NUMBER.test(cell) && cell.replace(/\D/g, '').length <= DIGITS_MAX
}

/**
 * The type that fits all samples of a column. Numbers that start with a zero are codes, and so are long ones: they stay
 * texts.
 */
export function typeOfSamples(samples: readonly string[]): ValueType {
  if (samples.length === 0) return 'text'
  if (samples.every((sample) => BOOLEANS.has(sample.toLowerCase()))) return 'boolean'
  const isQuantity = (sample: string) => isNumber(sample) && !/^-?0\d/.test(sample)
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
