import { parseCompanyDomain } from '../companies/domain.ts'
import { plainHeader, usualTarget } from '../imports/column-names.ts'
import { parseEmail } from '../platform/email.ts'
import { parseTimestamp, sinceEpoch } from '../platform/time.ts'
import type { Field, Mapping } from './mapping.ts'

const DEPTH_MAX = 6
const LEAVES_MAX = 300
/** A guess is to be read and corrected: more fields would hide what matters. */
const KEPT_MAX = 20
const TEXT_LENGTH_MAX = 500

const EVENT_NAMES = [
  'event',
  'eventtype',
  'eventname',
  'type',
  'action',
  'topic',
  'trigger',
  'triggerevent',
  'kind',
  'name',
]
const EVENT_IDS = ['eventid', 'id', 'uuid', 'messageid', 'deliveryid', 'number']
const TIMES = [
  ...[
    'timestamp',
    'occurredat',
    'createdat',
    'created',
    'submittedat',
    'paidat',
    'sentat',
    'updatedat',
    'datetime',
    'at',
  ],
  ...['time', 'date'],
]
const LINKS = ['url', 'pageurl', 'page', 'link', 'href', 'permalink']
/** Objects around the fields of an event itself. */
const ENVELOPES = ['event', 'meta', 'metadata', 'header', 'webhook']
const COMPANIES = ['company', 'organization', 'organisation', 'account', 'employer', 'business']
const DOMAINS = ['domain', 'website', 'site', 'url', 'companydomain']
/** Names that mean something about a person only beside the address of one. */
const AMBIGUOUS = new Set(['title', 'state', 'stage', 'position', 'cargo', 'funktion', 'id', 'domain', 'name'])
/** Other people than the one whom a body is about. */
const OF_OTHERS = /owner|creat|assign|manager|sales_?rep|referr|assistant|sender|recipient|from$|support|author|host/i
const SECRET = /token|secret|passw|signature|hash|api_?key|checksum|nonce/i
const EVENT_NAME = /^[\p{L}\p{N}][\p{L}\p{N} _.:/-]{0,79}$/u

/** A text, number or true/false of a body. */
interface Leaf {
  /** As a mapping writes it, such as `customer.email`. */
  path: string
  /** The names of the objects around it, then its own, without case and punctuation. */
  names: readonly string[]
  /** Its own name, as sent. */
  key: string
  /** The path of the object that it is in; '' for the body itself. */
  within: string
  value: string | number | boolean
}

/**
 * A first mapping for a body of an unknown sender, from the names and values of its fields: who it is about, what happened,
 * and what else there is to keep. A person checks it before it is used.
 * @param name the hook's: the name of the event, if the body has none
 */
export function guessMapping(body: unknown, name: string): Mapping {
  const leaves = leavesOf(body)
  const used = new Set<Leaf>()
  const take = (leaf: Leaf | undefined): Field | undefined => {
    if (leaf) used.add(leaf)
    return leaf && { path: leaf.path }
  }
  const address = addressIn(leaves)
  const contact = address && contactOf(address, leaves, take)
  const company = companyOf(leaves, used, take)
  const event = eventOf(leaves, used, take, name)
  const isOfPerson = (leaf: Leaf) => address !== undefined && isInOwnObject(address) && isBeside(leaf, address)
  const data = fieldsOf(leaves.filter((leaf) => !used.has(leaf) && isWorthKeeping(leaf) && !isOfPerson(leaf)))
  return {
    event: { ...event, ...(Object.keys(data).length === 0 ? {} : { data }) },
    ...(contact ? { contact } : {}),
    ...(company ? { company } : {}),
  }
}

type Take = (leaf: Leaf | undefined) => Field | undefined

/** The address of the person: by the field's name, then by its value; the one nearest to the top. */
function addressIn(leaves: readonly Leaf[]): Leaf | undefined {
  const addresses = leaves.filter(
    ({ value, path }) => typeof value === 'string' && !OF_OTHERS.test(path) && parseEmail(value.trim()) !== null,
  )
  const isNamed = ({ key }: Leaf) => usualTarget(key)?.target === 'email'
  return addresses.toSorted((a, b) => Number(isNamed(b)) - Number(isNamed(a)) || a.names.length - b.names.length)[0]
}

/** The person with this address: known properties, and, if the body has an object for the person, all that is in it. */
function contactOf(address: Leaf, leaves: readonly Leaf[], take: Take): Mapping['contact'] {
  const email = take(address)
  const isOwn = isInOwnObject(address)
  const near = leaves.filter((leaf) => leaf !== address && isWorthKeeping(leaf) && isBeside(leaf, address))
  const external = isOwn
    ? near.find(({ names, within }) => names.at(-1) === 'id' && within === address.within)
    : undefined
  const properties: Record<string, Field> = {}
  for (const leaf of near) {
    const target = propertyOf(leaf, isOwn)
    const isFull = Object.keys(properties).length >= KEPT_MAX
    if (leaf === external || target === null || Object.hasOwn(properties, target) || isFull) continue
    properties[target] = take(leaf) ?? {}
  }
  const employer = leaves.find(({ names }) => names.at(-1) === 'name' && COMPANIES.includes(names.at(-2) ?? ''))
  if (employer && properties.company === undefined) properties.company = { path: employer.path }
  return {
    ...(email && { email }),
    ...(external && { external_id: take(external) }),
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
  }
}

/** The property of a contact that a value becomes; null if it says nothing about the person. */
function propertyOf({ key, names }: Leaf, isOwn: boolean): string | null {
  const plain = names.at(-1) ?? ''
  const target = AMBIGUOUS.has(plain) && !isOwn ? null : (usualTarget(key)?.target ?? null)
  if (target === 'email' || target === 'external_id' || target === 'ignore') return null
  if (target === 'full_name') return 'name'
  if (target !== null) return target
  const isTime = TIMES.includes(plain)
  return isOwn && !isTime && key !== 'email' ? key : null
}

/** The company, if the body has an object with its domain. */
function companyOf(leaves: readonly Leaf[], used: ReadonlySet<Leaf>, take: Take): Mapping['company'] {
  const ofCompany = leaves.filter(({ names }) => COMPANIES.includes(names.at(-2) ?? ''))
  const domain = ofCompany.find(
    ({ names, value }) =>
      DOMAINS.includes(names.at(-1) ?? '') && typeof value === 'string' && parseCompanyDomain(value) !== null,
  )
  if (!domain) return undefined
  const name = ofCompany.find(
    (leaf) => leaf.names.at(-1) === 'name' && leaf.within === domain.within && !used.has(leaf),
  )
  return { domain: take(domain) ?? {}, ...(name && { name: take(name) }) }
}

function eventOf(leaves: readonly Leaf[], used: ReadonlySet<Leaf>, take: Take, hookName: string) {
  const free = leaves.filter((leaf) => !used.has(leaf))
  const ofEvent = free.filter(
    ({ names }) => names.length === 1 || (names.length === 2 && ENVELOPES.includes(names[0] ?? '')),
  )
  const first = (among: readonly Leaf[], wanted: readonly string[], fits: (leaf: Leaf) => boolean) =>
    wanted.flatMap((each) => among.filter((leaf) => leaf.names.at(-1) === each && fits(leaf)))[0]
  const named = first(
    ofEvent.filter(({ names }) => names.length === 2 || names[0] !== 'name'),
    EVENT_NAMES,
    ({ value }) => typeof value === 'string' && EVENT_NAME.test(value),
  )
  const isId = ({ value }: Leaf) => typeof value !== 'boolean' && String(value).trim() !== ''
  const id = first(ofEvent, EVENT_IDS, isId) ?? first(free, EVENT_IDS, isId)
  const time = first(ofEvent, TIMES, isTime) ?? first(free, TIMES, isTime)
  const url = first(free, LINKS, ({ value }) => typeof value === 'string' && /^https?:\/\//.test(value))
  return {
    name: take(named) ?? { value: snake(hookName) },
    ...(id && { id: take(id) }),
    ...(time && { timestamp: take(time) }),
    ...(url && { url: take(url) }),
  }
}

function isTime({ value }: Leaf): boolean {
  const isEpoch = typeof value === 'number' && value > 1e9
  const at = isEpoch ? sinceEpoch(value) : typeof value === 'string' ? parseTimestamp(value) : null
  return at !== null && at.getUTCFullYear() >= 2000 && at.getUTCFullYear() <= 2100
}

/** What is left, under its own name, or with the name of its object before it if another field has that name. */
function fieldsOf(leaves: readonly Leaf[]): Record<string, Field> {
  const fields: Record<string, Field> = {}
  for (const { key, names, path } of leaves) {
    const name = [key, `${names.at(-2) ?? ''}_${key}`].find((each) => !Object.hasOwn(fields, each))
    if (name !== undefined && Object.keys(fields).length < KEPT_MAX) fields[name] = { path }
  }
  return fields
}

function isWorthKeeping({ path, value, key }: Leaf): boolean {
  const isLong = typeof value === 'string' && value.length > TEXT_LENGTH_MAX
  return !isLong && !SECRET.test(path) && key !== '__proto__' && key.length <= 64
}

/** Whether a value is beside the address, or in an object beside it. */
function isBeside({ within }: Leaf, address: Leaf): boolean {
  const { within: object } = address
  // A body without an object for the person has no other objects that are about them.
  return within === object || (isInOwnObject(address) && within.startsWith(`${object}.`))
}

/** Whether the person has an object within the body, such as `customer`. */
function isInOwnObject({ names }: Leaf): boolean {
  return names.length > 1
}

/** `Shop orders` becomes `shop_orders`. */
function snake(name: string): string {
  const words = name.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.join('_').slice(0, 80) || 'webhook_received'
}

/** The values of a body, from the top down; of a list, those of its first item. */
function leavesOf(body: unknown): Leaf[] {
  const leaves: Leaf[] = []
  const walk = (value: unknown, path: string, within: string, names: readonly string[], key: string): void => {
    if (leaves.length >= LEAVES_MAX || names.length > DEPTH_MAX || value === null) return
    if (Array.isArray(value)) {
      walk(value[0], `${path}[0]`, within, names, key)
    } else if (typeof value === 'object') {
      for (const [name, each] of Object.entries(value)) {
        walk(each, pathWithin(path, name), path, [...names, plainHeader(name)], name)
      }
    } else if (typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.trim())) {
      leaves.push({ path, names, key, within, value })
    }
  }
  walk(body, '', '', [], '')
  return leaves.toSorted((a, b) => a.names.length - b.names.length)
}

function pathWithin(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}
