import { plainName } from '../../contacts/property-names.ts'
import type { Values } from '../../operations/declare.ts'
import { type FieldKind, isOfGroup, type KindOfName, listOf, PERSON_PARENTS } from './personal-names.ts'

/**
 * Which known words are replaced in a text. `full-names`: not single words, because a company may be named after a family.
 * `none`: a name that the tenant's systems chose; email addresses and phone numbers are still replaced.
 */
export type Words = 'all' | 'full-names' | 'none'

interface FieldRule {
  kind: FieldKind | null
  words: Words
}

/** The place of a field, which decides about it together with its name. */
interface Surroundings {
  /** The name of the object or list that the field is in. */
  name: string
  isBag: boolean
  isCompany: boolean
  isTemplate: boolean
  kind: FieldKind | null
  words: Words
  kindOfName: KindOfName
}

/** Fields of the API whose values are the service's own words, times, or names in the tenant's systems. */
const OF_SERVICE = listOf(`
  action all_sources at browser by_domain by_type capabilities capability channel code columns content_type creation_source
  currency date delimiter device_type direction domain element_type encoding entity fields from
  group_by header_names host kind label match method metric model operator os outcome page page_host personal_properties
  property provider reason recognized_as referring_domain role rule schedule_cron scopes screen source state status
  subject_kind target time_zone to trigger type`)
const COMPANY_FACTS = listOf('company companyname companydomain domain organization organisation')
const PERSONAL_SUBJECTS = listOf('action contact identity invitation suppression user')
const OTHER_ACTORS = listOf('agent api_key command_line service')

/** How the value of a field is redacted. */
export function fieldRule(name: string, object: Values, around: Surroundings): FieldRule {
  const beside = ruleBeside(name, object, around)
  if (beside) return beside
  const plain = plainName(name)
  const words = wordsOf(name, plain, around)
  if (around.isTemplate) return { kind: null, words }
  const kind = kindOf(name, plain, object, around)
  const passed = around.kind !== 'value' && isOfGroup(plain) ? null : around.kind
  return { kind: kind ?? passed, words }
}

function kindOf(name: string, plain: string, object: Values, around: Surroundings): FieldKind | null {
  const { isBag, isCompany, kindOfName } = around
  if (isPropertyName(name, around)) return null
  if (plain === 'name') {
    const isName = isBag && object[name] !== null && typeof object[name] === 'object'
    return !isCompany && (isName || isPerson(object, around)) ? 'name' : null
  }
  const isMessage = 'message_id' in object || ('subject' in object && 'html' in object)
  if (isMessage && (name === 'text' || name === 'html')) return 'free-text'
  // Elsewhere, they are the ends of a range or of a path.
  if (isMessage && isBag && (name === 'from' || name === 'to')) return 'name'
  const kind = kindOfName(name)
  // Elsewhere, a message is an error's.
  if (kind === 'free-text' && !isBag && !/^(content|body|subject)$/.test(name)) return null
  if (isCompany) return isCompanyFact(kind, plain) ? null : kind
  return kind
}

/** How the values of a property of contacts or of companies are redacted. */
export function kindOfProperty(
  name: string,
  entity: 'contacts' | 'companies',
  kindOfName: KindOfName,
): FieldKind | null {
  const isCompany = entity === 'companies'
  const around = { name: 'properties', isBag: true, isCompany, isTemplate: false, kind: null, words: 'all' as const }
  return fieldRule(name, { [name]: '' }, { ...around, kindOfName }).kind
}

/** A company's name, its addresses and its description of itself are public. */
function isCompanyFact(kind: FieldKind | null, plain: string): boolean {
  if (kind === 'free-text') return /^(bio|about|content|body)$/.test(plain)
  return kind === 'address' || kind === 'url'
}

/** The rule that another field of the object sets, such as the property of a condition. */
function ruleBeside(name: string, object: Values, { kindOfName, name: parent, words }: Surroundings): FieldRule | null {
  const { property, header, group_by: dimension } = object
  // A value in a comparison is replaced, not withheld, even for a property of free text.
  const compared = (of: string): FieldRule => {
    const kind = kindOfName(of)
    return { kind: kind === 'free-text' || of === 'name' ? 'value' : kind, words: wordsOfValues(of) }
  }
  if (typeof property === 'string' && /^(value|values|before|after)$/.test(name)) return compared(property)
  if (typeof header === 'string' && name === 'samples') return compared(header)
  // The first lines and words of a file that was uploaded: anything may be in them.
  if (('line' in object && name === 'cells') || ('encoding' in object && name === 'words')) {
    return { kind: 'free-text', words }
  }
  // The words that a property may have, such as stages, which the service or the tenant chose.
  if (typeof object.name === 'string' && name === 'choices') return { kind: null, words: 'none' }
  if (typeof dimension === 'string' && name === 'buckets') return compared(dimension)
  if (name === 'subject_name') return { kind: isOfPerson(object) ? 'name' : null, words }
  return parent === 'query' && (name === 'search' || name === 'q') ? { kind: 'value', words } : null
}

/** Whether an entry of the audit log is about a person, whose name it has. */
export function isOfPerson({ subject_kind: kind }: Values): boolean {
  return typeof kind === 'string' && PERSONAL_SUBJECTS.has(kind)
}

/** Whether the `name` of an object is a person's, and not that of an agent, a page or a segment. */
function isPerson(object: Values, { name: parent, isBag }: Surroundings): boolean {
  if (typeof object.kind === 'string' && OTHER_ACTORS.has(object.kind)) return false
  if (object.kind === 'user' || PERSON_PARENTS.has(parent)) return true
  if (isBag && (parent === 'properties' || parent === 'profile')) return true
  return Object.keys(object).some((name) =>
    /^(e?mail|emailaddress|phone|firstname|lastname|userid|address)$/.test(plainName(name)),
  )
}

/**
 * Whether everything in an object or list under a personal name is personal, such as the street of an address. Outside of
 * bags, that is true of lists only. A person has fields of other kinds too.
 */
export function passesOn(name: string, value: unknown, isBag: boolean): boolean {
  return Array.isArray(value) || (isBag && !PERSON_PARENTS.has(name))
}

/** Whether a field has the name of a property, in the list of a workspace's properties. */
function isPropertyName(name: string, { name: parent, isBag }: Surroundings): boolean {
  return !isBag && parent === 'properties' && name === 'name'
}

/**
 * Names of events, which stay legible: of names of people, only full ones are replaced. A site that names an event after a
 * person usually does so by accident.
 */
const EVENT_NAMES = listOf('event event_name event_names event_type event_types types')

function isEventName(name: string, parent: string): boolean {
  return EVENT_NAMES.has(name) || (name === 'type' && (parent === 'by_type' || parent === 'event'))
}

function wordsOf(name: string, plain: string, around: Surroundings): Words {
  const { isBag, isCompany, name: parent, words } = around
  if (parent === 'buckets' || parent === 'values') return words
  if (isPropertyName(name, around)) return 'none'
  if (!isBag && isEventName(name, parent)) return 'full-names'
  if (isBag ? isOfGroup(plain) : OF_SERVICE.has(name)) return 'none'
  return COMPANY_FACTS.has(plain) || (isCompany && plain === 'name') ? 'full-names' : 'all'
}

const DIMENSIONS_OF_SERVICE = listOf('lifecycle_stage lead_status day week month created_day')

/** Which words are replaced in values of a property or a dimension. */
function wordsOfValues(name: string): Words {
  const plain = plainName(name)
  if (isEventName(name, '')) return 'full-names'
  if (isOfGroup(plain) || OF_SERVICE.has(name) || DIMENSIONS_OF_SERVICE.has(name)) return 'none'
  return COMPANY_FACTS.has(plain) ? 'full-names' : 'all'
}
