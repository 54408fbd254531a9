import type { SystemEvent } from '../../journal/append.ts'
import { episodeId } from '../../journal/episodes.ts'
import type { EventRecord } from '../../journal/event-record.ts'
import type { ServiceError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { ContactRow } from '../contact-row.ts'
import { createdEvent } from './events.ts'
import type { Facts } from './facts.ts'
import type { SourceRecord } from './source-records.ts'
import type { LockedVisitor } from './visitor-rows.ts'

/** A contact with its sources' records. */
export interface Contents {
  row: ContactRow
  records: readonly SourceRecord[]
}

/** A contact as the writes so far leave it. Its row and records are replaced, never changed. */
export interface ContactState extends Readonly<Contents> {
  /** As stored; null for a contact that the set creates. */
  readonly stored: Contents | null
}

/** A visitor as the writes so far leave it. */
export interface VisitorState {
  readonly stored: LockedVisitor
  readonly contact_id: string | null
  readonly external_contact_id: string | null
}

/** How many visitors a contact has, and whose events belong to it. Both are counted up to a limit. */
export interface VisitorCounts {
  current: number
  past: number
}

/** A row of `visitor_links`. */
export interface VisitorLink {
  link_id: string
  visitor_id: string
  contact_id: string
  previous_contact_id: string | null
  source: string
  linked_at: Date
}

/** The kinds of keys that lead to a contact. `source` is empty except for a source's own ids. */
export type KeyKind = 'email' | 'external_id' | 'source'

/**
 * The contacts that a transaction has locked, by every key that leads to them, while writes are applied to them in memory.
 * Nothing is stored before `storeSet` (store.ts), so a write that fails is undone here, without the database.
 */
export class ContactSet {
  readonly tenantId: string
  /** The properties that the service computes. Only `computeContact` writes them. */
  computed: ReadonlySet<string> = new Set()
  /** The events of the writes so far, in their order. */
  readonly events: SystemEvent[] = []
  /** Events that are not system events, such as form submissions. */
  readonly records: EventRecord[] = []
  readonly visitorLinks: VisitorLink[] = []
  /** Contacts by the owners whose events they get. */
  readonly ownerLinks = new Map<string, string>()
  /** Contacts that got visitors. */
  readonly linked = new Set<string>()
  /** Further ids of sources that the writes add, with their contacts. */
  readonly furtherIds = new Map<string, { source: string; external_id: string; state: ContactState }>()
  /** Properties to write to connected systems again, although the contact's own values are the same. */
  readonly yielded = new Map<string, readonly string[]>()
  /** What was seen of contacts besides their values, for their enrichment. */
  readonly facts = new Map<string, Facts>()
  /** What enrichment did besides changing contacts: the companies that it created, and why it could not fill contacts. */
  readonly enrichment = { companiesCreated: [] as string[], refused: new Map<string, ServiceError>() }
  readonly #contacts = new Map<string, ContactState>()
  /** Contacts by the keys that they have themselves, which come before those of contacts merged into them. */
  readonly #byOwnKey = new Map<string, ContactState>()
  readonly #byAlias = new Map<string, ContactState>()
  readonly #survivors = new Map<string, string>()
  readonly #visitors = new Map<string, VisitorState>()
  readonly #claiming = new Map<string, Set<string>>()
  readonly #counts = new Map<string, VisitorCounts>()
  readonly #withFurtherIds = new Set<string>()
  readonly #undo: (() => void)[] = []

  constructor(tenantId: string) {
    this.tenantId = tenantId
  }

  /** @returns what undoes all changes from now on. */
  mark(): () => void {
    const { length } = this.#undo
    return () => {
      for (const step of this.#undo.splice(length).reverse()) step()
    }
  }

  get contacts(): Iterable<ContactState> {
    return this.#contacts.values()
  }

  get visitors(): Iterable<VisitorState> {
    return this.#visitors.values()
  }

  /** The visitors whose page sent an external id. */
  claiming(externalId: string): VisitorState[] {
    return [...(this.#claiming.get(externalId) ?? [])].flatMap((id) => this.#visitors.get(id) ?? [])
  }

  contact(contactId: string): ContactState | undefined {
    return this.#contacts.get(contactId)
  }

  /** The contact that this one was merged into. */
  survivorOf(contactId: string): ContactState | undefined {
    return this.#contacts.get(this.#survivors.get(contactId) ?? '')
  }

  /** The contact with a key, else the one into which the contact with the key was merged. */
  find(kind: KeyKind, key: string | null | undefined, source = ''): ContactState | undefined {
    if (key === null || key === undefined) return undefined
    const text = keyText(kind, key, source)
    return this.#byOwnKey.get(text) ?? this.#byAlias.get(text)
  }

  /** Whether a key leads to a contact only through a merge, or is a further id of a source. */
  isAlias(kind: KeyKind, key: string, source = ''): boolean {
    const text = keyText(kind, key, source)
    return !this.#byOwnKey.has(text) && this.#byAlias.has(text)
  }

  /** Whether a contact that was merged had a key, which the survivor may have got itself. */
  isMerged(kind: 'email' | 'external_id', key: string): boolean {
    const text = keyText(kind, key)
    return this.#byAlias.has(text) && this.#byAlias.get(text) === this.find(kind, key)
  }

  visitor(visitorId: string): VisitorState | undefined {
    return this.#visitors.get(visitorId)
  }

  visitorCounts(contactId: string): VisitorCounts {
    return this.#counts.get(contactId) ?? { current: 0, past: 0 }
  }

  /** Whether a source knows a contact by several ids. Read only where opt-outs depend on it. */
  hasFurtherIds(source: string, { row }: ContactState): boolean {
    return this.#withFurtherIds.has(`${source}\n${row.contact_id}`)
  }

  /** Adds a contact as it was found. */
  load(stored: Contents): ContactState {
    const state = { ...stored, stored }
    this.#contacts.set(stored.row.contact_id, state)
    for (const key of keysOf(state)) this.#byOwnKey.set(key, state)
    return state
  }

  loadAlias(kind: KeyKind, source: string, key: string, contactId: string): void {
    const state = this.#contacts.get(contactId)
    if (state) this.#byAlias.set(keyText(kind, key, source), state)
  }

  loadSurvivor(contactId: string, survivorId: string): void {
    this.#survivors.set(contactId, survivorId)
  }

  loadVisitor(stored: LockedVisitor): void {
    const { contact_id, external_contact_id } = stored
    this.#visitors.set(stored.visitor_id, { stored, contact_id, external_contact_id })
    if (external_contact_id !== null) this.#noteClaim(external_contact_id, stored.visitor_id)
  }

  loadVisitorCounts(contactId: string, counts: VisitorCounts): void {
    this.#counts.set(contactId, counts)
  }

  loadFurtherIds(source: string, contactId: string): void {
    this.#withFurtherIds.add(`${source}\n${contactId}`)
  }

  /** Adds a contact that does not exist yet. */
  create(row: ContactRow, records: readonly SourceRecord[]): ContactState {
    const state: ContactState = { stored: null, row, records }
    this.#contacts.set(row.contact_id, state)
    this.#undo.push(() => void this.#contacts.delete(row.contact_id))
    for (const key of keysOf(state)) this.#setKey(key, state)
    return state
  }

  /** Replaces a contact's row and records. */
  replace(state: ContactState, { row, records }: Contents): void {
    const [rowBefore, recordsBefore, before] = [state.row, state.records, keysOf(state)]
    Object.assign(state, { row, records })
    this.#undo.push(() => void Object.assign(state, { row: rowBefore, records: recordsBefore }))
    const after = keysOf(state)
    for (const key of before) if (!after.has(key) && this.#byOwnKey.get(key) === state) this.#setKey(key, undefined)
    for (const key of after) if (!before.has(key)) this.#setKey(key, state)
  }

  /** Replaces a contact's row, and the record of one source. */
  change(state: ContactState, row: ContactRow, record: SourceRecord | null): void {
    const { records } = state
    this.replace(state, { row, records: record === null ? records : withRecord(records, record) })
  }

  addEvents(...events: readonly SystemEvent[]): void {
    const { length } = this.events
    this.events.push(...events)
    this.#undo.push(() => void this.events.splice(length))
  }

  /** Lets the event of a new contact show the contact as it is now. */
  renewCreation({ row }: ContactState): void {
    const index = this.events.findIndex(
      ({ event, contactId }) => event === 'contact_created' && contactId === row.contact_id,
    )
    const event = this.events[index]
    if (!event) return
    this.events[index] = createdEvent(row, row.creation_source, event.at)
    this.#undo.push(() => void this.events.splice(index, 1, event))
  }

  /** Notes what was seen of a contact. */
  addFacts({ row: { contact_id } }: ContactState, facts: Facts): void {
    this.#set(this.facts, contact_id, { ...this.facts.get(contact_id), ...facts })
  }

  addRecord(record: EventRecord): void {
    this.records.push(record)
    this.#undo.push(() => void this.records.pop())
  }

  /** Notes properties of a contact that connected systems must get again. */
  addYielded({ row: { contact_id } }: ContactState, keys: readonly string[]): void {
    if (keys.length > 0) this.#set(this.yielded, contact_id, [...(this.yielded.get(contact_id) ?? []), ...keys])
  }

  /** Lets an id of a source lead to a contact that the source already knows by another. */
  addFurtherId(source: string, externalId: string, state: ContactState): void {
    const key = keyText('source', externalId, source)
    this.#set(this.#byAlias, key, state)
    this.#set(this.furtherIds, key, { source, external_id: externalId, state })
    this.#add(this.#withFurtherIds, `${source}\n${state.row.contact_id}`)
  }

  /** Gives visitors to a contact, with the events of anonymous ones, and logs it. */
  link(visitors: readonly VisitorState[], { row }: ContactState, source: string, now: Date): void {
    const contactId = row.contact_id
    const { current, past } = this.visitorCounts(contactId)
    const anonymous = visitors.filter(({ contact_id }) => contact_id === null)
    this.#set(this.#counts, contactId, { current: current + visitors.length, past: past + anonymous.length })
    for (const visitor of visitors) {
      const { visitor_id, episode } = visitor.stored
      const previous = visitor.contact_id
      if (previous === null) {
        this.#set(this.ownerLinks, episodeId(this.tenantId, visitor_id, episode), contactId)
      } else {
        const counts = this.visitorCounts(previous)
        this.#set(this.#counts, previous, { ...counts, current: counts.current - 1 })
      }
      const { length } = this.visitorLinks
      const link = { visitor_id, contact_id: contactId, previous_contact_id: previous, source, linked_at: now }
      this.visitorLinks.push({ link_id: newId(), ...link })
      this.#undo.push(() => void this.visitorLinks.splice(length))
      this.#set(this.#visitors, visitor_id, { ...visitor, contact_id: contactId })
    }
    this.#add(this.linked, contactId)
  }

  /** Notes the contact's id that a page sends for its visitor. */
  claim(visitorId: string, externalContactId: string): void {
    const visitor = this.#visitors.get(visitorId)
    if (!visitor) return
    this.#set(this.#visitors, visitorId, { ...visitor, external_contact_id: externalContactId })
    this.#noteClaim(externalContactId, visitorId)
  }

  /** A visitor that claims another id since stays in the list of the first; `linkClaimingVisitors` looks at its id. */
  #noteClaim(externalId: string, visitorId: string): void {
    const claiming = this.#claiming.get(externalId) ?? new Set<string>()
    this.#claiming.set(externalId, claiming.add(visitorId))
  }

  #setKey(key: string, state: ContactState | undefined): void {
    if (state) this.#set(this.#byOwnKey, key, state)
    else {
      const before = this.#byOwnKey.get(key)
      this.#byOwnKey.delete(key)
      this.#undo.push(() => void (before && this.#byOwnKey.set(key, before)))
    }
  }

  #set<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
    const before = map.get(key)
    map.set(key, value)
    this.#undo.push(() => void (before === undefined ? map.delete(key) : map.set(key, before)))
  }

  #add<Value>(set: Set<Value>, value: Value): void {
    if (set.has(value)) return
    set.add(value)
    this.#undo.push(() => void set.delete(value))
  }
}

/** The record of a source. */
export function recordOf({ records }: Pick<Contents, 'records'>, source: string): SourceRecord | undefined {
  return records.find((record) => record.source === source)
}

/** The records with a new one of its source. */
export function withRecord(records: readonly SourceRecord[], record: SourceRecord): SourceRecord[] {
  return [...records.filter(({ source }) => source !== record.source), record]
}

function keysOf({ row, records }: Contents): Set<string> {
  const keys = new Set<string>()
  if (row.email !== null) keys.add(keyText('email', row.email))
  if (row.external_id !== null) keys.add(keyText('external_id', row.external_id))
  for (const { source, external_id } of records) {
    if (external_id !== null) keys.add(keyText('source', external_id, source))
  }
  return keys
}

function keyText(kind: KeyKind, key: string, source = ''): string {
  return `${kind}\n${source}\n${key}`
}
