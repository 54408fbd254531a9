import { isDeepStrictEqual } from 'node:util'
import { computedAmong, computedProperty } from '../contacts/computed-names.ts'
import type { ContactRow } from '../contacts/contact-row.ts'
import type { Properties } from '../contacts/properties.ts'
import { TAGS, withTag } from '../contacts/tags.ts'
import { type AppliedWrite, applyWrite, blankContact, wantsEmail } from '../contacts/writing/apply.ts'
import { type ContactSet, type ContactState, type Contents, recordOf } from '../contacts/writing/contact-set.ts'
import { changedEvents, createdEvent } from '../contacts/writing/events.ts'
import type { WriteKeys } from '../contacts/writing/keys.ts'
import { fieldOf, type SourceKind, type SourceRecord } from '../contacts/writing/source-records.ts'
import type { SourceWrite } from '../contacts/writing/source-write.ts'
import type { SystemEvent } from '../journal/append.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import { newId } from '../platform/ids.ts'
import { type IncomingRecord, MalformedAddress, optOutsOf, recordIn } from './incoming-record.ts'

/** The result of a record. */
export type RecordResult =
  | { status: 'created' | 'updated' | 'unchanged'; contactId: string }
  /** `contactId` is there if the opt-outs of the record were written to it. */
  | (Failure & { contactId?: string })

/** The source of records, and its kind. */
export interface Source {
  source: string
  kind: SourceKind
  /** Its records repeat earlier values, so only values that differ from its last ones are new. */
  isFollowed?: boolean
  /** See SourceWrite. */
  isPartial?: boolean
  /** Properties for which it does not replace values of other sources. */
  yields?: ReadonlySet<string>
  /** A tag that each contact of its records gets. */
  tag?: string
}

/** An upsert of a source's records: their contacts, and what has been applied. */
export interface Upsert extends Source {
  set: ContactSet
  touched: Map<ContactState, Applied>
  /** Records that name a company, with their contacts. */
  links: { index: number; state: ContactState; domain: string; name: string | null }[]
  /** The source's companies, by its ids. Other companies of the source may also be replaced as a contact's company. */
  companies: { byKey: ReadonlyMap<string, string>; known: ReadonlySet<string> }
}

/** For sources whose records do not refer to companies by id. */
const NO_COMPANIES: Upsert['companies'] = { byKey: new Map(), known: new Set() }

/** The records applied to one contact. */
export interface Applied {
  state: ContactState
  /** The contact before the first of the records; null if they created it. */
  before: Contents | null
  indexes: number[]
  events: SystemEvent[]
}

/** The keys of records. */
export function keysOf({ source }: Source, records: readonly (IncomingRecord | ServiceError)[]): WriteKeys {
  const sound = records.flatMap((record) => recordIn(record) ?? [])
  return {
    emails: sound.flatMap(({ email }) => email ?? []),
    ofSource: { source, externalIds: sound.flatMap(({ externalId }) => externalId ?? []) },
    rawOf: sound.some(({ raw }) => raw !== undefined) ? [source] : [],
  }
}

/** Prepares an upsert of records whose contacts are in a set. */
export function openUpsert(source: Source, set: ContactSet, companies = NO_COMPANIES): Upsert {
  return { ...source, set, touched: new Map(), links: [], companies }
}

/** Applies records in order. @param onApplied sees the contact before and after each. */
export function applyRecords(
  upsert: Upsert,
  records: readonly (IncomingRecord | ServiceError)[],
  now: Date,
  onApplied?: (index: number, before: ContactRow, after: ContactRow) => void,
): RecordResult[] {
  const results = records.map((record, index): RecordResult => {
    if (!(record instanceof ServiceError)) return applyRecord(upsert, index, record, now, onApplied)
    const written = record instanceof MalformedAddress ? applyOptOuts(upsert, index, record, now, onApplied) : {}
    return { ...failure(record), ...written }
  })
  markUnchanged(upsert, results)
  for (const { events } of upsert.touched.values()) upsert.set.addEvents(...events)
  return results
}

function applyRecord(
  upsert: Upsert,
  index: number,
  received: IncomingRecord,
  now: Date,
  onApplied?: (index: number, before: ContactRow, after: ContactRow) => void,
): RecordResult {
  const { set } = upsert
  const sent = withoutComputed(upsert, received)
  if (sent instanceof ServiceError) return failure(sent)
  const { externalId, email, companyDomain } = sent
  const known = set.find('source', externalId, upsert.source) ?? set.find('email', email)
  const state = known ?? { stored: null, row: blankContact(newId(), upsert.source, now), records: [] }
  const before = state.row
  const record = upsert.tag === undefined ? sent : tagged(sent, before, upsert.tag)
  const news = upsert.isFollowed ? withoutRepeated(upsert, record, state) : record
  const statement = {
    id: externalId,
    properties: record.properties,
    isAgain: upsert.touched.has(state),
    // A connected system is read as it is now. Of several records, it is not known which one was written last.
    isAnother:
      upsert.isFollowed === true || set.hasFurtherIds(upsert.source, state) || externalId !== ownId(upsert, state),
    isCurrent: upsert.isFollowed === true,
  }
  const write = {
    ...writeOf(upsert, withOwnId(upsert, news, state), now),
    ...companyOf(upsert, record, before),
    statement,
  }
  const takesEmail = wantsEmail(before, write) && !set.find('email', write.email)
  let applied: AppliedWrite
  try {
    applied = applyWrite(before, state.records, write, takesEmail ? email : before.email, now)
  } catch (error) {
    if (error instanceof ServiceError) return failure(error)
    throw error
  }
  const contactId = before.contact_id
  if (externalId !== null && isFurtherId(upsert, externalId, state)) {
    set.addFurtherId(upsert.source, externalId, state)
  }
  onApplied?.(index, before, applied.row)
  if (applied.record === null) return { status: 'unchanged', contactId }
  const kept = known ? keep(upsert, known, applied.record, applied) : create(upsert, applied.row, applied.record)
  const { indexes, events } = kept
  indexes.push(index)
  if (companyDomain !== null) {
    upsert.links.push({ index, state: kept.state, domain: companyDomain, name: companyName(record.properties.company) })
  }
  if (!known) events.push(createdEvent(applied.row, upsert.source, now))
  else if (applied.isNews) events.push(...changedEvents(before, applied.row, applied.changed, upsert.source, now))
  const isNews = applied.isNews || applied.isNewsOfSource
  return { status: known ? (isNews ? 'updated' : 'unchanged') : 'created', contactId }
}

/**
 * Nobody but the service writes computed properties. A connected system has them from the write-back and repeats them, so
 * they are left out of its records; for others, they are an error.
 */
function withoutComputed({ set, isFollowed }: Upsert, record: IncomingRecord): IncomingRecord | ServiceError {
  const { properties } = record
  if (computedAmong(properties, set.computed).length === 0) return record
  if (isFollowed !== true) return computedProperty(properties, set.computed)
  const others = Object.entries(properties).filter(([key]) => !set.computed.has(key))
  return { ...record, properties: Object.fromEntries(others) }
}

function tagged(record: IncomingRecord, { properties }: ContactRow, tag: string): IncomingRecord {
  return { ...record, properties: withTag(record.properties, (properties as Properties)[TAGS], tag) }
}

function applyOptOuts(
  upsert: Upsert,
  index: number,
  { said }: MalformedAddress,
  now: Date,
  onApplied?: (index: number, before: ContactRow, after: ContactRow) => void,
): { contactId?: string } {
  const properties = optOutsOf(said.properties)
  const { externalId, at } = said
  const isKnown = upsert.set.find('source', externalId, upsert.source) !== undefined
  if (!isKnown || Object.keys(properties).length === 0) return {}
  const record = { externalId, email: null, properties, at, companyDomain: null }
  const { contactId } = applyRecord(upsert, index, record, now, onApplied)
  return contactId === undefined ? {} : { contactId }
}

/** A merged contact's id, and a further one, lead to the contact, which keeps its own. */
function withOwnId(upsert: Upsert, record: IncomingRecord, state: ContactState): IncomingRecord {
  const { externalId } = record
  const own = ownId(upsert, state)
  if (externalId === null || own === null) return record
  const isOther = upsert.set.isAlias('source', externalId, upsert.source) || isFurtherId(upsert, externalId, state)
  return isOther ? { ...record, externalId: own } : record
}

/**
 * A system goes on to use all its ids. Of files, the later id replaces the earlier: they come from any system, and undoing
 * an import must leave no id.
 */
function isFurtherId(upsert: Upsert, externalId: string, state: ContactState): boolean {
  const own = ownId(upsert, state)
  const isKnown = own === null || own === externalId || upsert.set.isAlias('source', externalId, upsert.source)
  return upsert.kind !== 'import' && !isKnown
}

function ownId({ source }: Source, state: ContactState): string | null {
  return recordOf(state, source)?.external_id ?? null
}

/** An old value that is sent again must not replace values that other sources have written since. */
function withoutRepeated({ source }: Source, record: IncomingRecord, { records }: ContactState): IncomingRecord {
  const said = records.find((known) => known.source === source)
  if (!said) return record
  const isRepeated = (key: string, value: unknown) => isDeepStrictEqual(fieldOf(said, key)?.value ?? null, value)
  const changes = Object.entries(record.properties).filter(([key, value]) => !isRepeated(key, value))
  return { ...record, properties: Object.fromEntries(changes) }
}

function writeOf({ source, kind, yields, isPartial = false }: Source, record: IncomingRecord, now: Date): SourceWrite {
  const { externalId, email, properties, raw, at } = record
  return {
    source,
    kind,
    properties,
    isPartial,
    ...(externalId === null ? {} : { externalId }),
    ...(email === null ? {} : { email }),
    ...(raw === undefined ? {} : { raw }),
    ...(yields === undefined ? {} : { yields }),
    // A source's clock may be ahead; its writes still count as no newer than now.
    ...(at === null ? {} : { at: at > now ? now : at }),
  }
}

/** A source's company replaces only another company of the source, because nobody else has chosen that one. */
function companyOf({ companies }: Upsert, { companyKey }: IncomingRecord, { company_id }: ContactRow) {
  const companyId = companies.byKey.get(companyKey ?? '')
  const mayReplace = company_id === null || companies.known.has(company_id)
  return companyId !== undefined && mayReplace ? { companyId } : {}
}

function create({ set, touched }: Upsert, row: ContactRow, record: SourceRecord): Applied {
  const state = set.create(row, [record])
  const applied: Applied = { state, before: null, indexes: [], events: [] }
  touched.set(state, applied)
  return applied
}

function keep(
  { set, touched, kind }: Upsert,
  state: ContactState,
  record: SourceRecord,
  { row, isRowDirty, isNewsOfSource }: AppliedWrite,
): Applied {
  const { row: rowBefore, records } = state
  const applied = touched.get(state) ?? { state, before: { row: rowBefore, records }, indexes: [], events: [] }
  // A connected source's record shows its last sync time; a file that is imported again changes nothing.
  const isRecordDirty = isRowDirty || isNewsOfSource || kind !== 'import'
  set.change(state, isRowDirty ? row : rowBefore, isRecordDirty ? record : null)
  touched.set(state, applied)
  return applied
}

/**
 * Several records of one contact may each replace the values of the previous one and end up with the original contact.
 * Then nothing is written or recorded, so sending them again changes nothing.
 */
function markUnchanged(upsert: Upsert, results: RecordResult[]): void {
  for (const [state, { before, indexes, events }] of upsert.touched) {
    if (before === null || indexes.length < 2 || !isSame(upsert.source, before, state)) continue
    const isEnriched = upsert.kind === 'enrichment'
    const row = isEnriched ? { ...before.row, enriched_at: state.row.enriched_at } : before.row
    upsert.set.replace(state, { row, records: upsert.kind === 'import' ? before.records : state.records })
    events.length = 0
    const ofRecords = indexes.filter((index) => results[index]?.status !== 'failed')
    for (const index of ofRecords) results[index] = { status: 'unchanged', contactId: state.row.contact_id }
  }
}

/** Whether a contact and the source's record are unchanged, apart from times. */
function isSame(source: string, a: Contents, b: Contents): boolean {
  const essence = ({ row, ...contents }: Contents) => {
    const own = recordOf(contents, source)
    const fields = Object.entries(own?.fields ?? {}).map(([key, { value, said_by }]) => [key, [value, said_by]])
    const { email, company_id, properties } = row
    return [email, company_id, properties, own?.external_id, own?.raw, Object.fromEntries(fields)]
  }
  return isDeepStrictEqual(essence(a), essence(b))
}

function companyName(company: unknown): string | null {
  return typeof company === 'string' && company.trim() !== '' && !hasMoreCharacters(company, 1_000)
    ? company.trim()
    : null
}
