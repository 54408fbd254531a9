import { isDeepStrictEqual } from 'node:util'
import { type AppliedWrite, applyWrite, blankContact, wantsEmail } from '../contacts/apply-write.ts'
import { type ContactState, newState } from '../contacts/bulk.ts'
import { changedEvents, createdEvent } from '../contacts/change.ts'
import type { ContactRow } from '../contacts/contact-row.ts'
import { fieldOf, type SourceKind, type SourceRecord } from '../contacts/record-source.ts'
import type { SourceWrite } from '../contacts/source-write.ts'
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
}

/** A contact with its sources' records. */
export type Contents = Pick<ContactState, 'row' | 'records'>

/** An upsert of a source's records: their contacts, by every key that leads to them, and what has been applied. */
export interface Upsert extends Source {
  byExternalId: Map<string, ContactState>
  byEmail: Map<string, ContactState>
  touched: Map<ContactState, Applied>
  /** New further ids of the source for contacts that it already knows by another. */
  furtherIds: Map<string, ContactState>
  /** Records that name a company, with their contacts. */
  links: { index: number; state: ContactState; domain: string; name: string | null }[]
  /** The source's companies, by its ids. Other companies of the source may also be replaced as a contact's company. */
  companies: { byKey: ReadonlyMap<string, string>; known: ReadonlySet<string> }
}

/** For sources whose records do not refer to companies by id. */
const NO_COMPANIES: Upsert['companies'] = { byKey: new Map(), known: new Set() }

/** The records applied to one contact. */
export interface Applied {
  /** The contact before the first of the records. */
  before: Contents
  indexes: number[]
  events: SystemEvent[]
}

/** The external ids and the emails of the records. */
export function keysOf(records: readonly (IncomingRecord | ServiceError)[]): [externalIds: string[], emails: string[]] {
  const sound = records.flatMap((record) => recordIn(record) ?? [])
  return [sound.flatMap(({ externalId }) => externalId ?? []), sound.flatMap(({ email }) => email ?? [])]
}

/** Prepares an upsert of records whose contacts are locked. */
export function openUpsert(source: Source, states: readonly ContactState[], companies = NO_COMPANIES): Upsert {
  const byAlias = (aliases: (state: ContactState) => string[]) =>
    states.flatMap((state) => aliases(state).flatMap((key) => keyed(key, state)))
  return {
    ...source,
    // A contact that has a key itself is added last, so that it overrides those that have it from a merge.
    byExternalId: new Map([
      ...byAlias(({ aliases }) => aliases.externalIds),
      ...states.flatMap((state) => keyed(state.externalIdBefore, state)),
    ]),
    byEmail: new Map([
      ...byAlias(({ aliases }) => aliases.emails),
      ...states.flatMap((state) => keyed(state.row.email, state)),
    ]),
    touched: new Map(),
    furtherIds: new Map(),
    links: [],
    companies,
  }
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
  return results
}

function applyRecord(
  upsert: Upsert,
  index: number,
  record: IncomingRecord,
  now: Date,
  onApplied?: (index: number, before: ContactRow, after: ContactRow) => void,
): RecordResult {
  const { externalId, email, companyDomain } = record
  const known = lookUp(upsert.byExternalId, externalId) ?? lookUp(upsert.byEmail, email)
  const state = known ?? newState(blankContact(newId(), null, upsert.source, now))
  const before = state.row
  const news = upsert.isFollowed ? withoutRepeated(upsert, record, state) : record
  const statement = {
    id: externalId,
    properties: record.properties,
    isAgain: upsert.touched.has(state),
    // A connected system is read as it is now. Of several records, it is not known which one was written last.
    isAnother: upsert.isFollowed === true || state.hasFurtherIds || externalId !== ownId(upsert, state),
    isCurrent: upsert.isFollowed === true,
  }
  const write = {
    ...writeOf(upsert, withOwnId(upsert, news, state), now),
    ...companyOf(upsert, record, before),
    statement,
  }
  const takesEmail = wantsEmail(before, write) && !upsert.byEmail.has(write.email)
  let applied: AppliedWrite
  try {
    applied = applyWrite(before, state.records, write, takesEmail ? email : before.email, now)
  } catch (error) {
    if (error instanceof ServiceError) return failure(error)
    throw error
  }
  const contactId = before.contact_id
  if (externalId !== null && isFurtherId(upsert, externalId, state)) {
    upsert.furtherIds.set(externalId, state)
    state.hasFurtherIds = true
    upsert.byExternalId.set(externalId, state)
  }
  onApplied?.(index, before, applied.row)
  if (applied.record === null) return { status: 'unchanged', contactId }
  const { indexes, events } = keep(upsert, state, applied.record, applied)
  indexes.push(index)
  if (companyDomain !== null) {
    upsert.links.push({ index, state, domain: companyDomain, name: companyName(record.properties.company) })
  }
  if (!known) events.push(createdEvent(applied.row, upsert.source, now))
  else if (applied.isNews) events.push(...changedEvents(before, applied.row, applied.changed, upsert.source, now))
  const isNews = applied.isNews || applied.isNewsOfSource
  return { status: known ? (isNews ? 'updated' : 'unchanged') : 'created', contactId }
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
  const isKnown = lookUp(upsert.byExternalId, externalId) !== undefined
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
  const isOther = state.aliases.externalIds.includes(externalId) || isFurtherId(upsert, externalId, state)
  return isOther ? { ...record, externalId: own } : record
}

/**
 * A system goes on to use all its ids. Of files, the later id replaces the earlier: they come from any system, and undoing
 * an import must leave no id.
 */
function isFurtherId(upsert: Upsert, externalId: string, state: ContactState): boolean {
  const own = ownId(upsert, state)
  const isKnown = own === null || own === externalId || state.aliases.externalIds.includes(externalId)
  return upsert.kind !== 'import' && !isKnown
}

function ownId({ source }: Source, { records }: ContactState): string | null {
  return records.find((known) => known.source === source)?.external_id ?? null
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

function keep(
  upsert: Upsert,
  state: ContactState,
  record: SourceRecord,
  { row, isRowDirty, isNewsOfSource }: AppliedWrite,
): Applied {
  const { row: rowBefore, records: recordsBefore } = state
  const known = upsert.touched.get(state)
  const applied = known ?? { before: { row: rowBefore, records: recordsBefore }, indexes: [], events: [] }
  const externalIdBefore = state.records.find(({ source }) => source === upsert.source)?.external_id ?? null
  if (externalIdBefore !== null && externalIdBefore !== record.external_id) upsert.byExternalId.delete(externalIdBefore)
  if (record.external_id !== null) upsert.byExternalId.set(record.external_id, state)
  if (row.email !== null) upsert.byEmail.set(row.email, state)
  state.row = row
  state.records = [...state.records.filter(({ source }) => source !== upsert.source), record]
  state.isRowDirty ||= isRowDirty
  // A connected source's record shows its last sync time; a file that is imported again changes nothing.
  state.isRecordDirty ||= isRowDirty || isNewsOfSource || upsert.kind !== 'import'
  upsert.touched.set(state, applied)
  return applied
}

/**
 * Several records of one contact may each replace the values of the previous one and end up with the original contact.
 * Then nothing is written or recorded, so sending them again changes nothing.
 */
function markUnchanged(upsert: Upsert, results: RecordResult[]): void {
  for (const [state, { before, indexes, events }] of upsert.touched) {
    if (state.isNew || indexes.length < 2 || !isSame(upsert.source, before, state)) continue
    const isEnriched = upsert.kind === 'enrichment'
    state.row = isEnriched ? { ...before.row, enriched_at: state.row.enriched_at } : before.row
    state.isRowDirty = isEnriched
    state.isRecordDirty = upsert.kind !== 'import'
    events.length = 0
    const ofRecords = indexes.filter((index) => results[index]?.status !== 'failed')
    for (const index of ofRecords) results[index] = { status: 'unchanged', contactId: state.row.contact_id }
  }
}

/** Whether a contact and the source's record are unchanged, apart from times. */
function isSame(source: string, a: Contents, b: Contents): boolean {
  const essence = ({ row, records }: Contents) => {
    const own = records.find((record) => record.source === source)
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

function lookUp(states: ReadonlyMap<string, ContactState>, key: string | null): ContactState | undefined {
  return key === null ? undefined : states.get(key)
}

function keyed(key: string | null, state: ContactState): [string, ContactState][] {
  return key === null ? [] : [[key, state]]
}
