/** The records of the HubSpot that tests play, with what HubSpot computes itself. */

export interface HubSpotRecord {
  id: string
  properties: Record<string, string | null>
  createdAt: string
  updatedAt: string
  archived: boolean
  archivedAt?: string
  /** The stages of a deal, latest first. */
  stages?: { value: string; timestamp: string; sourceType: string }[]
}

/** An error as HubSpot describes it. */
export class Refused extends Error {
  readonly category: string

  constructor(category: string, message: string) {
    super(message)
    this.category = category
  }
}

export type ObjectType = 'contacts' | 'companies' | 'deals' | 'calls' | 'emails' | 'meetings' | 'notes' | 'tasks'

/** The types of contact properties; every other one that the connector reads is a text. */
const DEFINITIONS: Record<string, { type: string; fieldType: string }> = {
  annualrevenue: { type: 'number', fieldType: 'number' },
  score: { type: 'number', fieldType: 'number' },
  newsletter: { type: 'bool', fieldType: 'booleancheckbox' },
  interests: { type: 'enumeration', fieldType: 'checkbox' },
  plan: { type: 'string', fieldType: 'text' },
}
const TEXTS = [
  'email', 'firstname', 'lastname', 'jobtitle', 'company', 'phone', 'mobilephone', 'city', 'country', 'website',
  'lifecyclestage', 'hubspot_owner_id', 'associatedcompanyid', 'hs_lead_status', 'hs_email_optout', 'hs_linkedin_url',
] // biome-ignore format: a list

/** Property definitions by their names. */
export const CONTACT_PROPERTIES = new Map([
  ...TEXTS.map((name) => [name, { type: 'string', fieldType: 'text' }] as const),
  ...Object.entries(DEFINITIONS),
])

export class HubSpotRecords {
  readonly #types = new Map<string, Map<string, HubSpotRecord>>()
  /** Both directions of each association. */
  readonly #associations = new Map<string, Set<string>>()
  /** Merged ids, and the record that has their data now. */
  readonly #merged = new Map<string, string>()
  #lastId = 100
  /** What it, or a workflow, makes of a value that is written. */
  stored: (name: string, value: string) => string = (_, value) => value
  /** What time it is there. */
  now: () => Date = () => new Date()

  of(type: string): HubSpotRecord[] {
    return [...this.#table(type).values()]
  }

  /** The record with an id, or the one that it was merged into. */
  find(type: string, id: string): HubSpotRecord | undefined {
    const found = this.#table(type).get(this.#merged.get(`${type}/${id}`) ?? id)
    return found?.archived ? undefined : found
  }

  byEmail(email: string): HubSpotRecord | undefined {
    return this.of('contacts').find(({ archived, properties }) => !archived && properties.email === email.toLowerCase())
  }

  create(type: ObjectType, properties: Record<string, string | null>, at = this.now()): string {
    const id = String(++this.#lastId)
    if (type === 'contacts') this.#check(properties, id)
    const createdAt = at.toISOString()
    const record: HubSpotRecord = { id, properties: {}, createdAt, updatedAt: createdAt, archived: false }
    this.#table(type).set(id, record)
    record.properties = { createdate: createdAt, hs_object_id: id }
    this.#set(type, record, properties, at)
    return id
  }

  /** Changes a record; an empty text removes a value. */
  change(type: ObjectType, id: string, properties: Record<string, string | null>, at = this.now()): HubSpotRecord {
    const record = this.find(type, id)
    if (!record) throw new Refused('OBJECT_NOT_FOUND', `Object not found. objectId are usually numeric: ${id}`)
    if (type === 'contacts') this.#check(properties, record.id)
    // What does not change leaves the time of the last change.
    const isChange = Object.entries(properties).some(
      ([name, value]) => (record.properties[name] ?? '') !== (value ? this.stored(name, value) : ''),
    )
    if (isChange) this.#set(type, record, properties, at)
    return record
  }

  #set(type: string, record: HubSpotRecord, properties: Record<string, string | null>, at: Date): void {
    for (const [name, value] of Object.entries(properties))
      record.properties[name] = value ? this.stored(name, value) : null
    if (type === 'deals' && properties.dealstage) {
      const entry = { value: properties.dealstage, timestamp: at.toISOString(), sourceType: 'CRM_UI' }
      record.stages = [entry, ...(record.stages ?? [])]
    }
    record.updatedAt = at.toISOString()
    record.properties[type === 'contacts' ? 'lastmodifieddate' : 'hs_lastmodifieddate'] = at.toISOString()
  }

  #check(properties: Record<string, string | null>, id: string): void {
    for (const [name, value] of Object.entries(properties)) {
      const type = CONTACT_PROPERTIES.get(name)?.type
      const isKnown = type !== undefined || /^(hs_|num_|createdate|lastmodifieddate)/.test(name)
      const problem = (error: string, message: string) => {
        const details = [{ isValid: false, message, error, name }]
        return new Refused('VALIDATION_ERROR', `Property values were not valid: ${JSON.stringify(details)}`)
      }
      if (!isKnown) throw problem('PROPERTY_DOESNT_EXIST', `Property "${name}" does not exist`)
      if (type === 'number' && value && !Number.isFinite(Number(value)))
        throw problem('INVALID_LONG', `${value} was not a valid number.`)
      if (name === 'email' && value && !/^[^@\s]+@[^@\s]+\.[a-z]+$/i.test(value))
        throw problem('INVALID_EMAIL', `Email address ${value} is invalid`)
      if (name === 'email' && value) {
        const other = this.byEmail(value)
        if (other && other.id !== id) throw new Refused('CONFLICT', `Contact already exists. Existing ID: ${other.id}`)
      }
    }
  }

  associate(from: [ObjectType, string], to: [ObjectType, string], at = this.now()): void {
    this.#link(from, to)
    this.#link(to, from)
    this.#countDeals(at, from, to)
  }

  #link([type, id]: [string, string], [otherType, otherId]: [string, string]): void {
    const key = `${type}/${id}/${otherType}`
    this.#associations.set(key, new Set([...(this.#associations.get(key) ?? []), otherId]))
  }

  associated(type: string, id: string, otherType: string): string[] {
    const ids = [...(this.#associations.get(`${type}/${id}/${otherType}`) ?? [])]
    return ids.filter((other) => this.find(otherType, other) !== undefined)
  }

  /** HubSpot counts the deals of contacts and companies, which changes these. */
  #countDeals(at: Date, ...places: [ObjectType, string][]): void {
    for (const [type, id] of places) {
      if (type !== 'contacts' && type !== 'companies') continue
      const count = this.associated(type, id, 'deals').length
      if (count > 0 || this.find(type, id)?.properties.num_associated_deals)
        this.change(type, id, { num_associated_deals: String(count) }, at)
    }
  }

  archive(type: ObjectType, id: string, at = this.now()): void {
    const record = this.find(type, id)
    if (!record) return
    const places = (['contacts', 'companies'] as const).flatMap((other) =>
      this.associated(type, id, other).map((otherId): [ObjectType, string] => [other, otherId]),
    )
    Object.assign(record, { archived: true, archivedAt: at.toISOString() })
    if (type === 'deals') this.#countDeals(at, ...places)
  }

  /** A merge makes a new record of both, with the values of the first; both ids lead to it. */
  merge(primary: string, other: string, at = this.now(), type: 'contacts' | 'companies' = 'contacts'): HubSpotRecord {
    const [first, second] = [this.find(type, primary), this.find(type, other)]
    if (!first || !second) throw new Refused('OBJECT_NOT_FOUND', 'One of the records does not exist')
    this.archive(type, first.id, at)
    this.archive(type, second.id, at)
    const { hs_object_id: _, createdate: __, ...values } = { ...second.properties, ...first.properties }
    const ids = [first, second].flatMap(({ id, properties }) => [
      ...(properties.hs_merged_object_ids?.split(';') ?? []),
      id,
    ])
    const id = this.create(type, { ...values, hs_merged_object_ids: ids.join(';') }, at)
    for (const each of ids) this.#merged.set(`${type}/${each}`, id)
    for (const contact of type === 'companies' ? this.of('contacts') : []) {
      const isOfOne = !contact.archived && ids.includes(contact.properties.associatedcompanyid ?? '')
      if (isOfOne) this.change('contacts', contact.id, { associatedcompanyid: id })
    }
    return this.find(type, id) as HubSpotRecord
  }

  /** A deletion for privacy leaves nothing, also not in the list of deleted records. */
  purge(id: string): void {
    this.#table('contacts').delete(id)
  }

  #table(type: string): Map<string, HubSpotRecord> {
    const table = this.#types.get(type) ?? new Map<string, HubSpotRecord>()
    this.#types.set(type, table)
    return table
  }
}

/** A record as a response has it, with some properties. */
export function shown({ properties, stages: _, ...record }: HubSpotRecord, names: readonly string[]) {
  const usual = [
    'createdate',
    'hs_object_id',
    'lastmodifieddate',
    'hs_lastmodifieddate',
    'email',
    'firstname',
    'lastname',
  ]
  const wanted = names.length > 0 ? ['createdate', 'hs_object_id', 'lastmodifieddate', ...names] : usual
  return { ...record, properties: Object.fromEntries(wanted.map((name) => [name, properties[name] ?? null])) }
}
