import { pathOf } from '../conditions/event-property.ts'
import { COMPANY_PROPERTIES, CONTACT_PROPERTIES, type KnownProperty } from '../contacts/property-catalogue.ts'
import { plainName } from '../contacts/property-names.ts'
import type { Values } from '../operations/declare.ts'
import type { Bag, FieldKind, Mentions } from '../platform/personal.ts'
import { isOfGroup, type KindOfName, listOf, PERSON_PARENTS } from './personal-names.ts'

/*
 * Names of fields that the tenant, its visitors or its systems chose. What the fields of the service are is said by their
 * schemas.
 */

/** How a value is redacted. */
export interface FieldRule {
  kind: FieldKind | null
  words: Mentions
}

/** The place of a field, which decides about it together with its name. */
interface Surroundings {
  /** The name of the object or list that the field is in. */
  name: string
  bag: Bag
  /** The kind of everything within an object under a personal name, such as an address. */
  kind: FieldKind | null
  kindOfName: KindOfName
}

const COMPANY_FACTS = listOf('company companyname companydomain domain organization organisation')

/** How the value of a field is redacted. */
export function fieldRule(name: string, object: Values, around: Surroundings): FieldRule {
  const { property } = object
  // A condition, or a change: a value beside the name of its property.
  if (typeof property === 'string' && /^(value|values|before|after)$/.test(name)) {
    return ruleOfValues(property, around.kindOfName)
  }
  const plain = plainName(name)
  const words = wordsOf(plain, around.bag)
  if (around.bag === 'template') return { kind: null, words }
  if (around.bag === 'query' && (name === 'search' || name === 'q')) return { kind: 'value', words }
  const kind = kindOf(name, plain, object, around)
  const passed = around.kind !== 'value' && isOfGroup(plain) ? null : around.kind
  return { kind: kind ?? passed, words }
}

/**
 * How values of a property, a header or a dimension are redacted where they stand beside its name. They are replaced, not
 * withheld, even those of a property of free text.
 */
export function ruleOfValues(of: string, kindOfName: KindOfName): FieldRule {
  const { name, around } = partsOf(of)
  const kind =
    kindOfName(name) ?? around.map((each) => kindAround(each, kindOfName)).find((each) => each !== null) ?? null
  return { kind: kind === 'free-text' || name === 'name' ? 'value' : kind, words: wordsOf(plainName(name), 'any') }
}

/** What names of properties begin with that say whose they are: `company.phone`, `data.order.total`, `properties.plan`. */
const OWNERS = /^(?:(?:contact|company)\.)?(?:properties\.)?/

/** The name of a property without its owner, and those of the objects around it. */
function partsOf(of: string): { name: string; around: string[] } {
  if (!of.startsWith('data.')) return { name: of.replace(OWNERS, ''), around: [] }
  const around = pathOf(of.slice('data.'.length))
  return { name: around.pop() ?? '', around }
}

/** What an object's name says about everything in it, such as `address`. */
function kindAround(name: string, kindOfName: KindOfName): FieldKind | null {
  if (PERSON_PARENTS.has(plainName(name))) return null
  return plainName(name) === 'name' ? 'name' : kindOfName(name)
}

/** The properties that the service knows, each of which says what it is. */
const KNOWN: Partial<Record<Bag, Readonly<Record<string, KnownProperty>>>> = {
  contact: CONTACT_PROPERTIES,
  company: COMPANY_PROPERTIES,
}

function kindOf(name: string, plain: string, object: Values, around: Surroundings): FieldKind | null {
  const { bag, kindOfName } = around
  const isCompany = bag === 'company'
  if (plain === 'name') {
    const isName = object[name] !== null && typeof object[name] === 'object'
    return !isCompany && (isName || isPerson(object, around)) ? 'name' : null
  }
  const known = around.name === 'properties' ? KNOWN[bag] : undefined
  if (known && Object.hasOwn(known, name))
    return known[name]?.personal ?? (kindOfName(name) === 'value' ? 'value' : null)
  const isMessage = 'message_id' in object || ('subject' in object && 'html' in object)
  if (isMessage && (name === 'text' || name === 'html')) return 'free-text'
  // Elsewhere, they are the ends of a range or of a path.
  if (isMessage && (name === 'from' || name === 'to')) return 'name'
  const kind = kindOfName(name)
  if (isCompany) return isCompanyFact(kind, plain) ? null : kind
  return kind
}

/** Where the values of a property stand, by its entity. */
const PLACES = {
  contacts: { name: 'properties', bag: 'contact' },
  companies: { name: 'properties', bag: 'company' },
  events: { name: 'data', bag: 'any' },
} as const

/** How the values of a property, or of a field of events, are redacted. */
export function kindOfProperty(name: string, entity: keyof typeof PLACES, kindOfName: KindOfName): FieldKind | null {
  const { name: own, around } = partsOf(name)
  if (own !== name || around.length > 0) return ruleOfValues(name, kindOfName).kind
  return fieldRule(name, { [name]: '' }, { ...PLACES[entity], kind: null, kindOfName }).kind
}

/** A company's name, its addresses and its description of itself are public. */
function isCompanyFact(kind: FieldKind | null, plain: string): boolean {
  if (kind === 'free-text') return /^(bio|about|content|body)$/.test(plain)
  return kind === 'address' || kind === 'url'
}

/** Whether the `name` of an object is a person's, and not that of an agent, a page or a segment. */
function isPerson(object: Values, { name: parent }: Surroundings): boolean {
  if (PERSON_PARENTS.has(parent) || parent === 'properties') return true
  return Object.keys(object).some((name) =>
    /^(e?mail|emailaddress|phone|firstname|lastname|userid|address)$/.test(plainName(name)),
  )
}

/**
 * Whether everything in an object or list under a personal name is personal, such as the street of an address. A person has
 * fields of other kinds too.
 */
export function passesOn(name: string, value: unknown): boolean {
  return Array.isArray(value) || !PERSON_PARENTS.has(name)
}

function wordsOf(plain: string, bag: Bag): Mentions {
  if (isOfGroup(plain)) return 'none'
  return COMPANY_FACTS.has(plain) || (bag === 'company' && plain === 'name') ? 'full-names' : 'all'
}
