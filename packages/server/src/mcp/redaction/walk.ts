import type { Values } from '../../operations/declare.ts'
import { fieldRule, passesOn, ruleOfValues } from '../../personal/fields.ts'
import type { KindOfName } from '../../personal/personal-names.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Bag, FieldKind, Kind, Mark, Mentions } from '../../platform/personal.ts'
import {
  fieldOf,
  hasFormOfService,
  isFree,
  isNamed,
  isOwnWord,
  itemsOf,
  markOf,
  type Schema,
  type Stated,
  statedBy,
} from './declared.ts'
import { isRedacted, withheld } from './pseudonyms.ts'

/** Where a value is in an output. */
export interface Place {
  /** The contact that the surrounding object is about. */
  owner: string | null
  /** Whether the value is one of that contact's, and not only one that was sent about it. */
  isOwn: boolean
  /** The item of the output's list that the value is in; empty outside of lists. */
  item: string
  /** The name of the field. */
  name: string
  /** Which known words are replaced in texts. */
  words: Mentions
}

/** What a walk does with what it finds. */
export interface Rules {
  kindOfName: KindOfName
  personal(kind: Kind, value: string, place: Place): string
  text(value: string, place: Place): string
  /** A text that a person wrote or said. */
  freeText(value: string): string
  /** The name of a field. */
  key(name: string): string
  /** An id that may be a contact's. */
  id(id: string): void
}

/** An object, and those around it. */
interface Around {
  object: Values
  outer: Around | null
}

/** Where the walk is. */
interface State extends Place {
  depth: number
  /** The key of the record that the value is in. */
  key: string
  /** The place of the value in the innermost list. */
  index: number
  around: Around | null
  /** Within names that the tenant or its visitors chose; null where the schema says what a field is. */
  bag: Bag | null
  /** In a bag, the kind of everything within an object under a personal name, such as an address. */
  kind: FieldKind | null
}

const TOP: State = {
  owner: null,
  isOwn: false,
  item: '',
  words: 'all',
  depth: 0,
  name: '',
  key: '',
  index: 0,
  around: null,
  bag: null,
  kind: null,
}

/** Deeper values are withheld: nobody reads them, and the walk must not exhaust the stack. */
const DEPTH_MAX = 100
const COUNT_MAX = 999

/**
 * Applies the rules to every personal value and every text of a value, as its schema says what they are, and leaves out what
 * the schema withholds. Where it says nothing, the names of fields decide.
 */
export function redactJson(values: Values, schema: Schema, rules: Rules): Values {
  return redactStated(values, statedBy(schema), undefined, TOP, rules) as Values
}

/** @param passed the mark of the list that the value is an item of */
function redactStated(value: unknown, stated: Stated, passed: Mark | undefined, state: State, rules: Rules): unknown {
  const mark = resolved(markOf(stated) ?? passed, state)
  const free = freeState(value, mark, stated, state, rules)
  if (free !== null) return redactFree(value, free, rules)
  if (typeof value === 'string') return redactDeclaredText(value, mark, stated, state, rules)
  if (value === null || typeof value !== 'object') return value
  if (state.depth >= DEPTH_MAX) return withheld('')
  const below = { ...state, depth: state.depth + 1 }
  if (!Array.isArray(value)) return redactDeclared(value as Values, stated, below, rules)
  const items = itemsOf(stated)
  return value.map((each, index) => redactStated(each, items, mark, inItem(below, index), rules))
}

/** The state within a value that the schema says no more about; null if it does. */
function freeState(value: unknown, mark: Mark | undefined, stated: Stated, state: State, rules: Rules): State | null {
  if (mark === undefined) return isFree(stated) ? { ...state, bag: 'any', isOwn: false } : null
  if ('bag' in mark) {
    const name = NAMES_OF_BAGS[mark.bag] ?? state.name
    return { ...state, bag: mark.bag, name, isOwn: mark.bag === 'contact', words: 'all' }
  }
  if ('namedBy' in mark) {
    const of = namedAround(mark.namedBy, state)
    return { ...state, bag: 'any', ...(of === undefined ? {} : ruleOfValues(of, rules.kindOfName)) }
  }
  // A number, or an object of which everything is personal.
  if ('kind' in mark) return typeof value === 'string' ? null : { ...state, bag: 'any', kind: mark.kind }
  if (!('is' in mark) || mark.is !== 'value-of-key') return null
  const properties: State = { ...state, bag: 'contact', name: 'properties', isOwn: true }
  return { ...inField(state.key, { [state.key]: value }, properties, rules), isOwn: true }
}

/** What the vocabulary of names calls the object that a bag is. */
const NAMES_OF_BAGS: Partial<Record<Bag, string>> = { contact: 'properties', company: 'properties', person: 'person' }

/** A mark that depends on another field of the object, or of one around it, by that field's value. */
function resolved(mark: Mark | undefined, at: Pick<State, 'around' | 'index'>): Mark | undefined {
  if (mark === undefined || !('when' in mark)) return mark
  const value = namedAround(mark.when, at)
  return resolved(value !== undefined && mark.has.includes(value) ? mark.mark : mark.otherwise, at)
}

/** The text of a field of the object, or of the nearest one around it that has the field; of a list, the item at the same place. */
function namedAround(field: string, { around, index }: Pick<State, 'around' | 'index'>): string | undefined {
  for (let at = around; at !== null; at = at.outer) {
    const value = at.object[field]
    const name = Array.isArray(value) ? value[index] : value
    if (typeof name === 'string') return name
  }
  return undefined
}

/** The state within an item of the output's list; lists within it do not count. */
function inItem(state: State, index: number): State {
  return { ...state, index, ...(state.item === '' ? { item: `${state.name} ${index}` } : {}) }
}

function redactDeclared(object: Values, stated: Stated, outer: State, rules: Rules): Values {
  const around = { object, outer: outer.around }
  const own = contactIn(object, stated, around)
  const state = { ...outer, around, owner: own ?? outer.owner, isOwn: own !== null }
  return mapFields(object, rules, (name, value) => {
    const field = fieldOf(stated, name)
    const mark = markOf(field)
    if (mark !== undefined && 'is' in mark && mark.is === 'withheld') return LEFT_OUT
    // A field that the schema does not name is one of any names.
    if (field.length === 0) return redactField(name, value, object, { ...state, bag: 'any', isOwn: false }, rules)
    return redactStated(
      value,
      field,
      undefined,
      { ...state, name, key: isNamed(stated, name) ? state.key : name },
      rules,
    )
  })
}

/** The contact that an object is about: the id that its schema marks. */
function contactIn(object: Values, stated: Stated, around: Around): string | null {
  for (const [name, value] of Object.entries(object)) {
    if (typeof value !== 'string' || !isUuid(value)) continue
    const mark = resolved(markOf(fieldOf(stated, name)), { around, index: 0 })
    if (mark !== undefined && 'is' in mark && mark.is === 'contact') return value
  }
  return null
}

function redactDeclaredText(value: string, mark: Mark | undefined, stated: Stated, state: State, rules: Rules): string {
  if (isOwnWord(stated, value)) return value
  if (mark !== undefined && 'kind' in mark) return personal(value, { ...state, kind: mark.kind }, rules)
  if (isUuid(value)) {
    if (mark !== undefined ? 'is' in mark : !hasFormOfService(stated)) rules.id(value)
    return value
  }
  const words = mark !== undefined && 'mentions' in mark ? mark.mentions : hasFormOfService(stated) ? 'none' : 'all'
  return redactText(value, { ...state, words }, rules)
}

function redactFree(value: unknown, state: State, rules: Rules): unknown {
  if (typeof value === 'string')
    return state.kind === null ? redactText(value, state, rules) : personal(value, state, rules)
  if (typeof value === 'number' || typeof value === 'boolean') {
    if (hides(value, state)) return unlessSame(value, personal(String(value), state, rules))
    return isLong(value) ? scrubbedNumber(value, state, rules) : value
  }
  if (value === null || typeof value !== 'object') return value
  if (state.depth >= DEPTH_MAX) return withheld('')
  const below = { ...state, depth: state.depth + 1 }
  if (Array.isArray(value)) return value.map((each) => redactFree(each, below, rules))
  return mapFields(value as Values, rules, (name, field) => redactField(name, field, value as Values, below, rules))
}

/**
 * A phone number or a latitude may be a JSON number. Small integers are counts, even under names such as `emails`. True and
 * false are personal only if the tenant marks the property.
 */
function hides(value: number | boolean, { kind }: State): boolean {
  if (kind === null || kind === 'free-text') return false
  if (kind === 'value') return true
  return typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) <= COUNT_MAX)
}

/** Whether a number may be a phone number although the name of its field does not say so. */
function isLong(value: number | boolean): value is number {
  return typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= 1e6
}

function scrubbedNumber(value: number, state: State, rules: Rules): number | string {
  return unlessSame(value, rules.text(String(value), state))
}

/** A value that nothing replaced keeps its type. */
function unlessSame<Value extends number | boolean>(value: Value, replaced: string): Value | string {
  return replaced === String(value) ? value : replaced
}

function redactText(value: string, state: State, rules: Rules): string {
  if (isUuid(value)) rules.id(value)
  const json = parseContainer(value)
  if (json === null) return rules.text(value, state)
  return JSON.stringify(redactFree(json, { ...state, bag: state.bag ?? 'any', depth: state.depth + 1 }, rules))
}

function personal(value: string, state: State, rules: Rules): string {
  const { kind } = state
  if (kind !== null && kind !== 'free-text') return rules.personal(kind, value, state)
  return value.trim() === '' || isRedacted(value) ? value : rules.freeText(value)
}

/** A text that is a JSON object or list, such as a webhook's payload. */
function parseContainer(text: string): object | null {
  if (!/^\s*[[{]/.test(text) || isRedacted(text)) return null
  try {
    return JSON.parse(text) as object
  } catch {
    return null
  }
}

const LEFT_OUT = Symbol('left out')

/** Replaces the values of an object's fields, and names that have a person's address or number. */
function mapFields(object: Values, rules: Rules, change: (name: string, value: unknown) => unknown): Values {
  const names = new Set<string>()
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    const changed = change(name, value)
    if (changed === LEFT_OUT) return []
    const redacted = freeName(/@|%40|\d{5}/.test(name) ? rules.key(name) : name, names)
    names.add(redacted)
    return [[redacted, changed]]
  })
  return Object.fromEntries(entries)
}

/** Numbers a name that another field already has after redaction, so that no value is lost. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} (${number})`
  return free
}

/** A field of a bag. */
function redactField(name: string, value: unknown, object: Values, state: State, rules: Rules): unknown {
  return redactFree(value, inField(name, object, state, rules), rules)
}

/** The state within a field of a bag. */
function inField(name: string, object: Values, state: State, rules: Rules): State {
  const value = object[name]
  const isNested = value !== null && typeof value === 'object'
  const { kind, words } = fieldRule(name, object, { ...state, bag: state.bag ?? 'any', kindOfName: rules.kindOfName })
  return { ...state, name, words, kind: isNested && !passesOn(name, value) ? null : kind }
}
