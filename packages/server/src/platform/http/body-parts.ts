import type { TSchema } from 'typebox'
import { shown } from '../characters.ts'
import { type ErrorDetail, validationError } from '../errors.ts'
import { acceptsTextAndNumber, type Fate, type Schema, schemaWithin, statedBy } from './body-part-schemas.ts'
import { isSameNumber, withExactNumbers } from './exact-numbers.ts'
import { isStorableText, parseJson } from './json-body.ts'

/** Deeper than any legitimate body; the limit protects every recursive function. */
const DEPTH_MAX = 32
const WARNINGS_MAX = 20
const FLAWS_MAX = 20
const PATH_LENGTH_MAX = 200
/** Smaller numbers have fewer digits as a double. */
const NORMAL_MIN = 2 ** -1022

const UNSTORABLE = 'contains a NUL character, a lone surrogate or bytes that are not UTF-8, which cannot be stored'
const TOO_DEEP = `is nested deeper than ${DEPTH_MAX} levels`
const RESERVED = 'is a reserved name'
const TOO_LARGE = 'is a number that is too large to be stored'
/** What to do about a flaw, in errors. */
const ADVICE: Readonly<Record<string, string>> = {
  [UNSTORABLE]: '; remove it',
  [RESERVED]: '; rename it',
}

const flaws = new WeakMap<object, ErrorDetail[]>()

/** Why a part that is declared as `fails` cannot be stored; empty if it can. Paths are within the part. */
export function flawsOf(part: unknown): readonly ErrorDetail[] {
  return (isContainer(part) && flaws.get(part)) || []
}

/** Gives a copy of a part the flaws of the original. @returns the copy. */
export function withFlawsOf<Copy extends object>(part: object, copy: Copy): Copy {
  const known = flaws.get(part)
  if (known) flaws.set(copy, known)
  return copy
}

/**
 * Parses a JSON body.
 * - Values that cannot be stored fail their part, see `Fate`.
 * - Numbers that would lose digits as a double become texts of the digits sent where the schema accepts both, with a
 *   warning. A field that must be a text or a number keeps the number, which the schema then checks.
 * - Numbers beyond a double, such as 1e400, are left out where any value is accepted, with a warning.
 * @param schema of the body. By default, it accepts any value.
 * @param warn gets at most 21 warnings.
 * @throws ServiceError 400 `invalid_json`, or `validation_error` naming the path.
 */
export function parseJsonBody(text: string, schema: TSchema = {}, warn: (text: string) => void = () => {}): unknown {
  const body = parseJson(text)
  // JSON in UTF-8 can contain a NUL or a lone surrogate only as an escape, so most bodies need no check of their strings.
  const look: Look = { withStrings: text.includes('\\u') || !text.isWellFormed(), hasZero: false }
  const isWhole = isFlawless(body, 0, look)
  const exact = withExactNumbers(body, text, look.hasZero || !isWhole)
  if (isWhole && exact === body) return body
  const repaired = repair(body, exact, schema, warn)
  if (isContainer(repaired)) texts.set(repaired, text)
  return repaired
}

const texts = new WeakMap<object, string>()

/** What tells a body from others that were sent: its JSON, and its own text if something was left out of it. */
export function identityOf(body: unknown): string {
  return JSON.stringify(body) + ((isContainer(body) && texts.get(body)) || '')
}

/** Treats a value from elsewhere, such as a query, as `parseJsonBody` does. */
export function storableValue(value: unknown, schema: TSchema, warn: (text: string) => void): unknown {
  return isFlawless(value, 0, { withStrings: true, hasZero: false }) ? value : repair(value, value, schema, warn)
}

/** A look at all values of a body. */
interface Look {
  withStrings: boolean
  /** Whether a number is 0, or so small that digits may be lost. */
  hasZero: boolean
}

/** Whether nothing in a value needs a repair, but for digits that a number lost when it was parsed. */
function isFlawless(value: unknown, depth: number, look: Look): boolean {
  if (typeof value === 'string') return !look.withStrings || isStorableText(value)
  if (typeof value === 'object') return value === null || (depth < DEPTH_MAX && areFlawless(value, depth + 1, look))
  if (typeof value !== 'number') return true
  if (value < NORMAL_MIN && value > -NORMAL_MIN) look.hasZero = true
  // A number that is too large for a double is infinite.
  return value <= Number.MAX_VALUE && value >= -Number.MAX_VALUE
}

/** The same of a list's items or an object's fields. Every body passes here, so no function is called for a scalar. */
function areFlawless(container: object, depth: number, look: Look): boolean {
  if (Array.isArray(container)) {
    for (let i = 0; i < container.length; i++) if (!isFlawless(container[i], depth, look)) return false
    return true
  }
  const { withStrings } = look
  for (const key in container) {
    if (key === '__proto__' || (withStrings && !isStorableText(key))) return false
    const value = (container as Record<string, unknown>)[key]
    if ((withStrings || typeof value !== 'string') && !isFlawless(value, depth, look)) return false
  }
  return true
}

/** Where a value is. */
interface Place {
  parent: Place | null
  key: string | number
  depth: number
}

/** A part of the body, or the whole. */
interface Part {
  fate: Fate
  place: Place | null
  flaws: ErrorDetail[]
}

/** A repair of one body. */
interface Repair {
  warn(text: string): void
  warnings: number
}

/** In place of a value that is left out. */
const LEFT_OUT = Symbol('left out')
/** The same, of a value that is too deep: the value of the part that contains it is left out, not only its depths. */
const LEFT_OUT_ABOVE = Symbol('left out above')

function repair(body: unknown, exact: unknown, schema: Schema, warn: (text: string) => void): unknown {
  const run: Repair = { warn, warnings: 0 }
  const repaired = repairValue(run, body, exact, schema, null, { fate: 'rejects', place: null, flaws: [] })
  const more = run.warnings - WARNINGS_MAX
  if (more > 0) warn(`${more} more values were left out or kept as text.`)
  return repaired === LEFT_OUT || repaired === LEFT_OUT_ABOVE ? null : repaired
}

/** @param exact the same value from `withExactNumbers`. */
function repairValue(
  run: Repair,
  value: unknown,
  exact: unknown,
  schema: Schema | undefined,
  place: Place | null,
  outer: Part,
): unknown {
  const fate = schema?.['x-unstorable']
  // What must be an object and is none is invalid, whether it can be stored or not: its own part has nothing to keep.
  const isMisplaced = fate === 'left-out' && schema?.type === 'object' && !isContainer(value)
  if (fate === undefined || isMisplaced) return repairWithin(run, value, exact, schema, place, outer)
  const part: Part = { fate, place, flaws: [] }
  const repaired = repairWithin(run, value, exact, schema, place, part)
  if (part.flaws.length === 0) return repaired
  // A text that is a part has no place for its flaws.
  const known = isContainer(repaired) ? repaired : {}
  flaws.set(known, part.flaws)
  return known
}

function repairWithin(
  run: Repair,
  value: unknown,
  exact: unknown,
  schema: Schema | undefined,
  place: Place | null,
  part: Part,
): unknown {
  if (typeof value === 'string') {
    if (isStorableText(value)) return value
    if (part.fate === 'replaced') return value.toWellFormed().replaceAll('\u0000', '\ufffd')
    return reject(run, place, part, UNSTORABLE)
  }
  if (typeof value === 'number') return repairNumber(run, value, exact, schema, place)
  if (!isContainer(value)) return value
  const depth = (place?.depth ?? -1) + 1
  if (depth >= DEPTH_MAX) return part.fate === 'left-out' ? LEFT_OUT_ABOVE : reject(run, place, part, TOO_DEEP)
  const isTopOfPart = part.place === place
  const inner = (key: string | number, each: unknown) => {
    const at = { parent: place, key, depth }
    const own = (exact as Record<string | number, unknown>)[key]
    const repaired = repairValue(run, each, own, schemaWithin(schema, key), at, part)
    return repaired === LEFT_OUT_ABOVE && isTopOfPart ? reject(run, at, part, TOO_DEEP) : repaired
  }
  if (Array.isArray(value)) {
    const { maxItems = value.length } = statedBy(schema)
    // The schema rejects a list with one item too many; the others need no repair.
    if (value.length > maxItems) value.length = maxItems + 1
    return repairItems(value, inner)
  }
  return repairFields(value as Record<string, unknown>, inner, (key) => {
    const at = { parent: place, key, depth }
    if (key === '__proto__') reject(run, at, part, RESERVED)
    else if (isStorableText(key)) return true
    else reject(run, place, part, UNSTORABLE, 'a key')
    return false
  })
}

type Inner = (key: string | number, value: unknown) => unknown

function repairItems(items: unknown[], inner: Inner): unknown {
  let kept = 0
  for (const [index, item] of items.entries()) {
    const repaired = inner(index, item)
    if (repaired === LEFT_OUT_ABOVE) return repaired
    if (repaired !== LEFT_OUT) items[kept++] = repaired
  }
  items.length = kept
  return items
}

function repairFields(fields: Record<string, unknown>, inner: Inner, isUsable: (key: string) => boolean): unknown {
  for (const key of Object.keys(fields)) {
    const before = fields[key]
    const repaired = isUsable(key) ? inner(key, before) : LEFT_OUT
    if (repaired === LEFT_OUT_ABOVE) return repaired
    if (repaired === LEFT_OUT) delete fields[key]
    else if (repaired !== before) fields[key] = repaired
  }
  return fields
}

function repairNumber(
  run: Repair,
  value: number,
  exact: unknown,
  schema: Schema | undefined,
  place: Place | null,
): unknown {
  if (!acceptsTextAndNumber(schema)) return value
  if (typeof exact === 'string') {
    const isId = schema?.['x-digits'] === true
    // Only its digits would be written in another way.
    if (!isId && isSameNumber(String(value), exact)) return value
    if (!isId) warn(run, place, 'was kept as text: as a number, it would lose digits.')
    return exact
  }
  if (Number.isFinite(value)) return value
  warn(run, place, `was left out: it ${TOO_LARGE}.`)
  return LEFT_OUT
}

/** Rejects a value: the request, the part, or the value alone. */
function reject(run: Repair, place: Place | null, part: Part, message: string, what?: string): typeof LEFT_OUT {
  if (part.fate === 'left-out') {
    const subject = what === undefined ? 'was' : `has ${what} that was`
    warn(run, place, `${subject} left out: it ${message}.`)
    return LEFT_OUT
  }
  if (part.flaws.length === FLAWS_MAX) return LEFT_OUT
  const subject = what === undefined ? '' : `${what} `
  const path = pathOf(place, part.fate === 'fails' ? part.place : null)
  const detail = { path: shown(path, PATH_LENGTH_MAX), message: `${subject}${message}${ADVICE[message] ?? ''}` }
  if (part.fate === 'rejects' || part.fate === 'replaced') throw validationError([detail])
  part.flaws.push(detail)
  return LEFT_OUT
}

function warn(run: Repair, place: Place | null, message: string): void {
  if (++run.warnings <= WARNINGS_MAX)
    run.warn(`${shown(pathOf(place, null), PATH_LENGTH_MAX) || 'the body'} ${message}`)
}

/** The path of a place, within another if it is inside of it. */
function pathOf(place: Place | null, within: Place | null): string {
  const keys: (string | number)[] = []
  for (let at = place; at !== null && at !== within; at = at.parent) keys.unshift(at.key)
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`
    return path === '' ? key : `${path}.${key}`
  }, '')
}

function isContainer(value: unknown): value is object {
  return value !== null && typeof value === 'object'
}
