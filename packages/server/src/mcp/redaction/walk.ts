import type { Values } from '../../operations/declare.ts'
import { isUuid } from '../../platform/ids.ts'
import { fieldRule, isOfPerson, passesOn, type Words } from './fields.ts'
import type { FieldKind, Kind, KindOfName } from './personal-names.ts'
import { isRedacted, withheld } from './pseudonyms.ts'

/** Where a value is in an output. */
export interface Place {
  /** The contact that the surrounding object is about. */
  owner: string | null
  /** Whether the value is one of that contact's, and not only one that was sent about it. */
  isOwn: boolean
  /** The item of the output's list that the value is in; empty outside of lists. */
  item: string
  /** Which known words are replaced in texts. */
  words: Words
}

/** What a walk does with what it finds. */
export interface Rules {
  kindOfName: KindOfName
  isContact(id: string): boolean
  personal(kind: Kind, value: string, place: Place): string
  text(value: string, place: Place): string
  /** The name of a field. */
  key(name: string): string
  /** An id that may be a contact's. */
  id(id: string): void
}

/** Where the walk is. */
interface State extends Place {
  depth: number
  /** The name of the object or list. */
  name: string
  /** Within names that the tenant or its visitors chose: properties, an event's data, an action's params. */
  isBag: boolean
  isCompany: boolean
  /** Within texts that the tenant wrote for all contacts. */
  isTemplate: boolean
  /** Within a unified profile: its fields, or one of them. */
  profile: 'fields' | 'field' | null
  /** The kind of everything within an object under a personal name, such as an address. */
  kind: FieldKind | null
}

const TOP: State = {
  owner: null,
  isOwn: false,
  item: '',
  words: 'all',
  depth: 0,
  name: '',
  isBag: false,
  isCompany: false,
  isTemplate: false,
  profile: null,
  kind: null,
}

const BAGS = new Set(['properties', 'profile', 'data', 'params', 'result', 'details', 'query', 'traits'])
const COMPANIES = new Set(['company', 'companies'])
const CONTACTS = new Set(['contact', 'contacts', 'sample', 'sender'])
const TEMPLATES = new Set(['playbook', 'playbooks', 'templates'])
/** Deeper values are withheld: nobody reads them, and the walk must not exhaust the stack. */
const DEPTH_MAX = 100
const COUNT_MAX = 999

/** Applies the rules to every personal value and every text of an output, and removes raw data. */
export function redactJson(values: Values, rules: Rules): Values {
  return redactObject(values, TOP, rules)
}

function redactValue(value: unknown, state: State, rules: Rules): unknown {
  if (typeof value === 'string') return redactText(value, state, rules)
  if (typeof value === 'number' || typeof value === 'boolean') {
    if (hides(value, state)) return personal(String(value), state, rules)
    return isLong(value, state) ? scrubbedNumber(value, state, rules) : value
  }
  if (value === null || typeof value !== 'object') return value
  if (state.depth >= DEPTH_MAX) return withheld('')
  const below = { ...state, depth: state.depth + 1 }
  if (!Array.isArray(value)) return redactObject(value as Values, below, rules)
  const isList = !state.isBag && state.item === ''
  return value.map((each, index) =>
    redactValue(each, isList ? { ...below, item: `${state.name} ${index}` } : below, rules),
  )
}

/**
 * A phone number or a latitude may be a JSON number. Small integers are counts, even under names such as `emails`. True and
 * false are personal only if the tenant marks the property.
 */
function hides(value: number | boolean, { kind, isBag }: State): boolean {
  if (!isBag || kind === null || kind === 'free-text') return false
  if (kind === 'value') return true
  return typeof value === 'number' && !(Number.isInteger(value) && Math.abs(value) <= COUNT_MAX)
}

/** Whether a number may be a phone number although the name of its field does not say so. */
function isLong(value: number | boolean, { isBag }: State): value is number {
  return isBag && typeof value === 'number' && Number.isInteger(value) && Math.abs(value) >= 1e6
}

function scrubbedNumber(value: number, state: State, rules: Rules): number | string {
  const scrubbed = rules.text(String(value), state)
  return scrubbed === String(value) ? value : scrubbed
}

function redactText(value: string, state: State, rules: Rules): string {
  if (state.kind !== null) return personal(value, state, rules)
  const json = parseContainer(value)
  if (json === null) return rules.text(value, state)
  // A webhook's payload has the service's field names. Another text may have any names.
  const within = { ...state, isBag: state.name !== 'payload', depth: state.depth + 1 }
  return JSON.stringify(redactValue(json, within, rules))
}

function personal(value: string, state: State, rules: Rules): string {
  const { kind } = state
  if (kind !== null && kind !== 'free-text') return rules.personal(kind, value, state)
  return value.trim() === '' || isRedacted(value) ? value : withheld(value)
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

function redactObject(object: Values, outer: State, rules: Rules): Values {
  const state = { ...outer, owner: ownerIn(object, outer, rules) ?? outer.owner }
  const names = new Set<string>()
  const entries = Object.entries(object).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'raw_data') return []
    const redacted = freeName(/@|%40|\d{5}/.test(name) ? rules.key(name) : name, names)
    names.add(redacted)
    return [[redacted, redactField(name, value, object, state, rules)]]
  })
  return Object.fromEntries(entries)
}

/** Numbers a name that another field already has after redaction, so that no value is lost. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number++) free = `${name} (${number})`
  return free
}

function redactField(name: string, value: unknown, object: Values, state: State, rules: Rules): unknown {
  const inside = inField(name, object, state, rules)
  if (typeof value === 'string' && isUuid(value)) {
    if (mayBeContact(name, value, object)) rules.id(value)
    if (inside.kind === null) return value
  }
  if (state.profile === 'field' && isProfileField(object))
    return name === 'unique_values' ? profileValues(value, state, rules) : value
  return redactValue(value, inside, rules)
}

function isProfileField({ unique_values: values, all_sources: sources, ...rest }: Values): boolean {
  if (!Array.isArray(values) || !Array.isArray(sources) || !sources.every((each) => typeof each === 'string'))
    return false
  const others = Object.entries(rest).every(([name, value]) => name === 'has_conflict' && typeof value === 'boolean')
  return others && values.every((each) => each !== null && typeof each === 'object' && 'value' in each)
}

/** The values of a field of a unified profile; the names of their sources stay beside them. */
function profileValues(values: unknown, state: State, rules: Rules): unknown {
  return (values as { value: unknown }[]).map((each) => {
    const inside = inField(
      state.name,
      { [state.name]: each.value },
      { ...state, name: 'profile', profile: null },
      rules,
    )
    return { ...each, value: redactValue(each.value, inside, rules) }
  })
}

/** The state within a field. */
function inField(name: string, object: Values, state: State, rules: Rules): State {
  const value = object[name]
  const isNested = value !== null && typeof value === 'object'
  const { kind, words } = fieldRule(name, object, { ...state, kindOfName: rules.kindOfName })
  const isOwnBag = !state.isBag && (name === 'properties' || name === 'profile') && !state.isCompany
  const isContact = isNested && CONTACTS.has(name)
  const profile = { fields: 'field', field: null, none: null } as const
  return {
    ...state,
    name: name === 'details' && isOfPerson(object) ? 'person' : name,
    isBag: state.isBag || (BAGS.has(name) && !(name === 'properties' && Array.isArray(value))),
    isCompany: !isContact && (state.isCompany || (isNested && COMPANIES.has(name))),
    isTemplate: state.isTemplate || TEMPLATES.has(name),
    profile: name === 'profile' && !state.isBag ? 'fields' : profile[state.profile ?? 'none'],
    isOwn:
      isOwnBag || (name === 'contact' && !state.isBag) || (state.isOwn && (state.isBag || state.name === 'contact')),
    words,
    kind: isNested && (state.profile === 'fields' || !passesOn(name, value, state.isBag)) ? null : kind,
  }
}

/** The contact that an object is about: its own id, or that of the contact in it. */
function ownerIn(object: Values, { isBag, name }: State, rules: Rules): string | null {
  if (isBag) return null
  const { contact_id, internal_contact_id, _id, contact, subject_kind, subject_id } = object
  const inside = contact as Values | null | undefined
  const subject = subject_kind === 'contact' ? subject_id : null
  const named = [contact_id, internal_contact_id, inside?.contact_id, inside?._id, subject].find(isId)
  const own = [_id, name].find(isId)
  return named ?? (own !== undefined && rules.isContact(own) ? own : null)
}

function isId(value: unknown): value is string {
  return typeof value === 'string' && isUuid(value)
}

const OTHER_IDS =
  /^(company|event|note|segment|agent|run|identity|source|key|view|import|export|erasure|entry|thread|subscription|delivery|tenant|user|problem|domain|invitation)_ids?$/

/** Whether an id may be a contact's: others need not be looked up. */
function mayBeContact(name: string, id: string, object: Values): boolean {
  if (OTHER_IDS.test(name)) return false
  return name !== '_id' || !Object.entries(object).some(([other, value]) => value === id && OTHER_IDS.test(other))
}
