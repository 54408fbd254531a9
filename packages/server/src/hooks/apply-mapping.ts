import { parseCompanyDomain } from '../companies/domain.ts'
import { checkProperties, type Properties } from '../contacts/properties.ts'
import {
  EVENT_DATA_BYTES_MAX,
  EVENT_EARLIEST_MS,
  EVENT_NAME_LENGTH_MAX,
  EVENT_TEXT_LENGTH_MAX,
} from '../journal/event-record.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { parseEmail } from '../platform/email.ts'
import { type ErrorDetail, ServiceError } from '../platform/errors.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { type IgnoredIds, unlessNobody } from '../platform/ids-of-nobody.ts'
import { parseTimestamp, sinceEpoch } from '../platform/time.ts'
import { MalformedAddress } from '../sources/incoming-record.ts'
import type { AnswerMapping, Field, Mapping } from './mapping.ts'
import { type Body, openBody, type ParsedPaths } from './paths.ts'

const NAME_LENGTH_MAX = 1_000

export interface MappedEvent {
  name: string
  /** ISO 8601; null: the time when the body arrived. */
  timestamp: string | null
  id: string | null
  url: string | null
  data: Record<string, unknown>
}

/** The person of a body, with at least one key. */
export interface MappedContact {
  /** Normalized, see platform/email.ts. */
  email: string | null
  user_id: string | null
  external_id: string | null
  properties: Properties
}

export interface MappedCompany {
  /** Normalized, see companies/domain.ts. */
  domain: string
  name: string | null
  properties: Properties
}

/** The records that a mapping creates from a body. */
export interface Mapped {
  event: MappedEvent | null
  contact: MappedContact | null
  company: MappedCompany | null
  /** The ids that name nobody, which were ignored. */
  warnings: string[]
}

/** A body that the mapping skips. */
export interface Skipped {
  skipped: { code: string; message: string }
}

type Kind = 'text' | 'id' | 'time'
/** Returns an id unless it names nobody. */
type Named = (target: string, id: string | null) => string | null
type Problem = (field: Field, target: string, message: string) => void

/**
 * Applies a mapping to a body. If a value is missing, its field is left out.
 * @throws ServiceError 400 `hook_body_not_mapped` with the path of every unusable value, or `hook_no_person` if the body
 * does not identify the person of its event. Messages never contain values, which may be personal data, except ids
 * that name nobody.
 */
export function applyMapping(mapping: Mapping, content: unknown, ignored: IgnoredIds): Mapped | Skipped {
  if (!mapping.event && !mapping.contact && !mapping.company) {
    return skipped('hook_not_mapped', 'The hook has no mapping yet. Create one, then run this body again.')
  }
  const body = openBody(content, pathsOf(mapping))
  const unmet = unmetCondition(mapping, body)
  if (unmet) return skipped('hook_condition_not_met', `${unmet.path} has none of the values that the mapping requires.`)
  const details: ErrorDetail[] = []
  const targets = new Set<string>()
  const problem: Problem = (field, target, message) => {
    targets.add(target)
    details.push({ path: pathOf(field, target), message })
  }
  const warnings: string[] = []
  const named: Named = (target, id) => unlessNobody(target, id, ignored, warnings)
  const mapped = {
    event: mapping.event ? eventOf(mapping.event, body, problem, named) : null,
    contact: mapping.contact ? contactOf(mapping.contact, body, problem, named) : null,
    company: mapping.company ? companyOf(mapping.company, body, problem) : null,
    warnings,
  }
  if (details.length > 0) {
    const isForAddress = targets.size === 1 && targets.has('contact.email')
    throw isForAddress && mapped.contact ? malformedAddress(details, mapped.contact) : notMapped(details)
  }
  if (mapped.contact === null && (mapping.event || mapped.company === null)) throw noPerson(mapping, warnings)
  return mapped
}

/** What a mapping finds about a person and their company in the answer to a question about them. */
export interface MappedAnswer {
  properties: Properties
  company: MappedCompany | null
  /** Values of the wrong kind, which were left out, by their paths. */
  problems: ErrorDetail[]
}

/**
 * Applies a mapping to an answer about a known person. Unlike in a body of a hook, one unusable value does not spoil the others.
 * @returns null if the answer does not meet the conditions of the mapping.
 * @throws ServiceError 400 `hook_body_not_mapped` if the paths visit too many items.
 */
export function applyToAnswer(mapping: AnswerMapping, content: unknown): MappedAnswer | null {
  const body = openBody(content, pathsOf(mapping))
  if (unmetCondition(mapping, body)) return null
  const problems: ErrorDetail[] = []
  const problem: Problem = (field, target, message) => void problems.push({ path: pathOf(field, target), message })
  const usable = (properties: Properties) =>
    Object.fromEntries(
      Object.entries(properties).filter(([key, value]) => checkProperties({ [key]: value }).length === 0),
    )
  const { contact, company } = mapping
  const properties = usable(propertiesOf(contact?.properties, 'contact.properties', body, problem))
  const found = company ? companyOf(company, body, problem) : null
  return { properties, company: found && { ...found, properties: usable(found.properties) }, problems }
}

/** A hook's mapping is applied to many bodies: its paths are parsed once. */
const parsedPaths = new WeakMap<object, ParsedPaths>()

function pathsOf(mapping: object): ParsedPaths {
  const known = parsedPaths.get(mapping)
  if (known) return known
  const parsed: ParsedPaths = new Map()
  parsedPaths.set(mapping, parsed)
  return parsed
}

/** The first condition of a mapping that a body does not meet. */
function unmetCondition({ only_when: conditions = [] }: Pick<Mapping, 'only_when'>, body: Body) {
  return conditions.find(({ path, equals }) => {
    const value = body.valueAt(path)
    return !equals.some((each) => each === value || String(each) === value)
  })
}

function skipped(code: string, message: string): Skipped {
  return { skipped: { code, message } }
}

function eventOf(event: NonNullable<Mapping['event']>, body: Body, problem: Problem, named: Named): MappedEvent {
  const name = textOf(event.name, 'event.name', body, problem, EVENT_NAME_LENGTH_MAX)
  if (name === null && find(event.name, body) === undefined)
    problem(event.name, 'event.name', 'is missing, and the event needs a name')
  const data = valuesOf(event.data, body)
  if (isLargeData(data)) {
    problem(
      { path: 'event.data' },
      'event.data',
      `has more than ${EVENT_DATA_BYTES_MAX} bytes of JSON. Map fewer fields`,
    )
  }
  return {
    name: name ?? '',
    timestamp: event.timestamp ? timeOf(event.timestamp, body, problem) : null,
    id: event.id ? named('event.id', idOf(event.id, 'event.id', body, problem)) : null,
    url: event.url ? textOf(event.url, 'event.url', body, problem, EVENT_TEXT_LENGTH_MAX) : null,
    data,
  }
}

/** Stops as soon as the data is too large: a hundred fields may each contain the whole body. */
function isLargeData(data: Record<string, unknown>): boolean {
  let bytes = 0
  return Object.entries(data).some((entry) => {
    // An entry is one byte longer as `["name",value]` than as `"name":value,` in the object.
    bytes += Buffer.byteLength(JSON.stringify(entry)) - 1
    return bytes + 1 > EVENT_DATA_BYTES_MAX
  })
}

function contactOf(
  contact: NonNullable<Mapping['contact']>,
  body: Body,
  problem: Problem,
  named: Named,
): MappedContact | null {
  const { email: emailField } = contact
  const address = emailField ? textOf(emailField, 'contact.email', body, problem, ID_LENGTH_MAX * 2) : null
  const email = address === null ? null : parseEmail(address)
  if (emailField && address !== null && email === null) {
    problem(emailField, 'contact.email', 'is not a valid email address')
  }
  const keys = {
    email,
    user_id: contact.user_id ? named('contact.user_id', idOf(contact.user_id, 'contact.user_id', body, problem)) : null,
    external_id: contact.external_id
      ? named('contact.external_id', idOf(contact.external_id, 'contact.external_id', body, problem))
      : null,
  }
  const properties = propertiesOf(contact.properties, 'contact.properties', body, problem)
  return Object.values(keys).every((key) => key === null) ? null : { ...keys, properties }
}

function companyOf(company: NonNullable<Mapping['company']>, body: Body, problem: Problem): MappedCompany | null {
  const address = textOf(company.domain, 'company.domain', body, problem, EVENT_TEXT_LENGTH_MAX)
  const domain = address === null ? null : parseCompanyDomain(address)
  if (address !== null && domain === null) problem(company.domain, 'company.domain', 'is not a domain like example.com')
  const name = company.name ? textOf(company.name, 'company.name', body, problem, NAME_LENGTH_MAX) : null
  const properties = propertiesOf(company.properties, 'company.properties', body, problem)
  return domain === null ? null : { domain, name, properties }
}

/** The value of a field: the fixed value, or the value of the first path that has one. */
function find({ path, value, starts_with: prefix }: Field, body: Body): unknown {
  if (value !== undefined) return value
  for (const each of [path ?? []].flat()) {
    const found = body.valueAt(each)
    const fits = prefix === undefined || (typeof found === 'string' && found.startsWith(prefix))
    if (found !== undefined && fits) return found
  }
  return undefined
}

/** The path for a problem: the first path that has a value, or else the field's place in the mapping. */
function pathOf({ path }: Field, target: string): string {
  return path === undefined ? target : [path].flat().join(', ') || target
}

function textOf(field: Field, target: string, body: Body, problem: Problem, lengthMax: number): string | null {
  const value = find(field, body)
  if (value === undefined) return null
  if (typeof value !== 'string') return wrong(field, target, 'text', value, problem)
  if (!hasMoreCharacters(value, lengthMax)) return value.trim()
  problem(field, target, `has more than ${lengthMax} characters, which is too long for ${target}`)
  return null
}

/** Accepts numbers too, because many systems number their records. */
function idOf(field: Field, target: string, body: Body, problem: Problem): string | null {
  const value = find(field, body)
  if (value === undefined) return null
  if (typeof value !== 'string' && typeof value !== 'number') return wrong(field, target, 'id', value, problem)
  const id = String(value)
  if (!hasMoreCharacters(id, ID_LENGTH_MAX)) return id
  problem(field, target, `has more than ${ID_LENGTH_MAX} characters, which is too long for ${target}`)
  return null
}

function timeOf(field: Field, body: Body, problem: Problem): string | null {
  const target = 'event.timestamp'
  const value = find(field, body)
  if (value === undefined) return null
  // A form sends numbers as text.
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d{9,13}(\.\d+)?$/.test(value))
  const at = isNumber ? sinceEpoch(Number(value)) : typeof value === 'string' ? parseTimestamp(value) : null
  if (at === null) return wrong(field, target, 'time', value, problem)
  if (at.getTime() < EVENT_EARLIEST_MS || at.getUTCFullYear() > 9999) {
    problem(field, target, 'is a time before the year 2000 or after 9999')
    return null
  }
  return at.toISOString()
}

const EXPECTED: Record<Kind, string> = {
  text: 'a text',
  id: 'a text or a number',
  time: 'an ISO 8601 timestamp with an offset, or seconds or milliseconds since 1970',
}

function wrong(field: Field, target: string, kind: Kind, value: unknown, problem: Problem): null {
  problem(field, target, `must be ${EXPECTED[kind]} for ${target}, but is ${nameOfType(value)}`)
  return null
}

function nameOfType(value: unknown): string {
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'string') return 'another text'
  return typeof value === 'number' ? 'a number' : 'true or false'
}

/** The values of a group of fields. Fields without a value are left out. */
function valuesOf(fields: Record<string, Field> | undefined, body: Body): Record<string, unknown> {
  const found = Object.entries(fields ?? {}).map(([name, field]) => [name, find(field, body)] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}

function propertiesOf(
  fields: Record<string, Field> | undefined,
  place: string,
  body: Body,
  problem: Problem,
): Properties {
  const values = valuesOf(fields, body)
  for (const [name, value] of Object.entries(values)) {
    const [detail] = checkProperties({ [name]: value })
    const field = fields?.[name]
    if (detail && field) problem(field, `${place}.${name}`, `${detail.message}, to become ${place}.${name}`)
  }
  return values as Properties
}

function notMapped(details: ErrorDetail[]): ServiceError {
  const [first] = details
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  return new ServiceError(400, 'hook_body_not_mapped', `${first?.path}: ${first?.message}${more}`, { details })
}

function malformedAddress(details: ErrorDetail[], contact: MappedContact): MalformedAddress {
  const { external_id: externalId, user_id: userId, properties } = contact
  const said = { externalId, email: null, properties, at: null, companyDomain: null }
  return new MalformedAddress(notMapped(details), said, userId)
}

function noPerson({ contact }: Mapping, warnings: readonly string[]): ServiceError {
  const paths = [contact?.email, contact?.user_id, contact?.external_id].flatMap((field) => field?.path ?? []).flat()
  const missing = paths.length === 0 ? 'The mapping names none.' : `None of these has a value: ${paths.join(', ')}.`
  const where = warnings.length > 0 ? warnings.join(' ') : missing
  const message = `The body names no person. ${where} Map contact.email, contact.user_id or contact.external_id.`
  return new ServiceError(400, 'hook_no_person', message)
}
