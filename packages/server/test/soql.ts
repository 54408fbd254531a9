/** A query in the part of SOQL that tests need. */
export interface Soql {
  sobject: string
  fields: string[]
  where: Condition
  orderBy: string | null
  /** The fields of the conditions. */
  compared: string[]
}

type Value = string | number | boolean | null
type Row = Readonly<Record<string, Value>>
type Condition =
  | { all: Condition[] }
  | { any: Condition[] }
  | { field: string; operator: string; value: Value }
  | { field: string; values: Value[] }

const QUERY = /^SELECT (?<fields>[\w., ]+) FROM (?<sobject>\w+)(?: WHERE (?<where>.+?))?(?: ORDER BY (?<orderBy>\w+))?$/

/** @returns null if it is malformed. */
export function parseSoql(text: string): Soql | null {
  const { fields = '', sobject = '', where, orderBy = null } = QUERY.exec(text.trim())?.groups ?? {}
  if (sobject === '') return null
  try {
    const compared: string[] = []
    const condition = where === undefined ? { all: [] } : parseConditions(tokensOf(where), compared)
    return { sobject, fields: fields.split(',').map((field) => field.trim()), where: condition, orderBy, compared }
  } catch {
    return null
  }
}

export function matches(condition: Condition, row: Row): boolean {
  if ('all' in condition) return condition.all.every((each) => matches(each, row))
  if ('any' in condition) return condition.any.some((each) => matches(each, row))
  const stored = row[condition.field] ?? null
  // Texts are equal regardless of case.
  if ('values' in condition) return condition.values.map(folded).includes(folded(stored))
  const { operator, value } = condition
  if (operator === '=') return comparable(stored) === comparable(value)
  if (operator === '!=') return comparable(stored) !== comparable(value)
  if (stored === null || value === null) return false
  const [a, b] = [Number(comparable(stored)), Number(comparable(value))]
  return { '>=': a >= b, '<=': a <= b, '>': a > b, '<': a < b }[operator] ?? false
}

function folded(value: Value): Value {
  return typeof value === 'string' ? value.toLowerCase() : value
}

/** Times as numbers. */
function comparable(value: Value): Value {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : value
}

function tokensOf(text: string): string[] {
  return text.match(/\(|\)|[<>!]?=|[<>]|'(?:[^'\\]|\\.)*'|,|[^\s()<>=!,]+/g) ?? []
}

/** As in SOQL, AND and OR cannot be mixed without parentheses. */
function parseConditions(tokens: string[], compared: string[]): Condition {
  const conditions = [parseCondition(tokens, compared)]
  let operator: string | null = null
  while (tokens[0] === 'AND' || tokens[0] === 'OR') {
    const next = tokens.shift() ?? ''
    operator ??= next
    if (next !== operator) throw new Error('AND and OR are mixed')
    conditions.push(parseCondition(tokens, compared))
  }
  if (tokens.length > 0 && tokens[0] !== ')') throw new Error(`unexpected ${tokens[0]}`)
  return operator === 'OR' ? { any: conditions } : { all: conditions }
}

function parseCondition(tokens: string[], compared: string[]): Condition {
  const [field = '', operator = '', literal = ''] = tokens
  if (field === '(') {
    tokens.shift()
    const inner = parseConditions(tokens, compared)
    if (tokens.shift() !== ')') throw new Error('a parenthesis is not closed')
    return inner
  }
  if (/^\w+$/.test(field) && operator === 'IN') {
    tokens.splice(0, 2)
    compared.push(field)
    return { field, values: parseList(tokens) }
  }
  if (!/^\w[\w.]*$/.test(field) || !/^([<>!]?=|[<>])$/.test(operator)) throw new Error('not a condition')
  tokens.splice(0, 3)
  compared.push(field)
  return { field, operator, value: literalValue(literal) }
}

function parseList(tokens: string[]): Value[] {
  const values: Value[] = []
  for (let before = tokens.shift(); before !== ')'; before = tokens.shift()) {
    if (before !== '(' && before !== ',') throw new Error('not a list')
    values.push(literalValue(tokens.shift() ?? ''))
  }
  return values
}

function literalValue(literal: string): Value {
  if (literal === 'true' || literal === 'false') return literal === 'true'
  if (literal === 'null') return null
  if (literal.startsWith("'")) return literal.slice(1, -1).replace(/\\(.)/g, '$1')
  if (/^\d{4}-\d\d-\d\dT/.test(literal) && Number.isFinite(Date.parse(literal))) return literal
  if (/^-?\d+(\.\d+)?$/.test(literal)) return Number(literal)
  throw new Error(`not a literal: ${literal}`)
}
