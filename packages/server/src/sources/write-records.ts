import { isDeepStrictEqual } from 'node:util'
import { findOrCreateCompanies } from '../companies/write.ts'
import { type AppliedWrite, applyWrite, blankContact, type SourceWrite, wantsEmail } from '../contacts/apply-write.ts'
import { type ContactState, lockStates, newState, storeStates } from '../contacts/bulk.ts'
import { changedEvents, createdEvent } from '../contacts/change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { changedKeys } from '../contacts/contact-row.ts'
import type { PropertyChanges } from '../contacts/properties.ts'
import type { SourceKind, SourceRecord } from '../contacts/record-source.ts'
import type { SystemEvent } from '../journal/append.ts'
import { hasMoreCharacters } from '../platform/characters.ts'
import { ServiceError } from '../platform/errors.ts'
import { type Failure, failure } from '../platform/http/records.ts'
import { newId } from '../platform/ids.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'

/** A validated record of a source. */
export interface IncomingRecord {
  /** The source's id for the contact; null if it has none (a row of a file). */
  externalId: string | null
  email: string | null
  properties: PropertyChanges
  raw?: unknown
  /** When it was changed in the source. */
  at: Date | null
  /** Domain of the company to link a contact without one to. */
  companyDomain: string | null
}

/** The result of a record. */
export type RecordResult = { status: 'created' | 'updated' | 'unchanged'; contactId: string } | Failure

interface Source {
  source: string
  kind: SourceKind
}

/**
 * Writes a source's records in one transaction with a fixed number of statements. Records are applied in order: a
 * contact is found by the source's id, else by e-mail, else created. A record that fails writes nothing and does not
 * affect the others.
 * @param records an error represents a record that was already rejected.
 */
export async function writeRecords(
  tenant: Tenant,
  dependencies: WriteDependencies,
  source: Source,
  records: readonly (IncomingRecord | ServiceError)[],
): Promise<RecordResult[]> {
  if (records.every((record) => record instanceof ServiceError)) return records.map(failure)
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const batch = await openBatch(tx, source, records)
    const results = records.map((record, index) =>
      record instanceof ServiceError ? failure(record) : applyRecord(batch, index, record, now),
    )
    markUnchanged(batch, results)
    for (const { events } of batch.touched.values()) log.events.push(...events)
    await linkCompanies(tx, log, batch, results, now)
    await storeStates(tx, source.source, batch.touched.keys())
    for (const [{ row, isNew, isRowDirty }, { before }] of batch.touched) {
      if (isRowDirty) log.noteChange(row.contact_id, isNew ? 'everything' : changedKeys(before.row, row))
    }
    return results
  })
}

/** The contacts of the records, by every key that leads to them. */
interface Batch extends Source {
  byExternalId: Map<string, ContactState>
  byEmail: Map<string, ContactState>
  touched: Map<ContactState, Applied>
  /** Records that name a company, with their contacts. */
  links: { index: number; state: ContactState; domain: string; name: string | null }[]
}

/** The records applied to one contact. */
interface Applied {
  /** The contact before the first of the records. */
  before: Pick<ContactState, 'row' | 'records'>
  indexes: number[]
  events: SystemEvent[]
}

async function openBatch(
  tx: Tenant,
  source: Source,
  records: readonly (IncomingRecord | ServiceError)[],
): Promise<Batch> {
  const sound = records.flatMap((record) => (record instanceof ServiceError ? [] : record))
  const externalIds = sound.flatMap(({ externalId }) => externalId ?? [])
  const emails = sound.flatMap(({ email }) => email ?? [])
  const states = await lockStates(tx, source.source, externalIds, emails)
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
    links: [],
  }
}

function applyRecord(batch: Batch, index: number, record: IncomingRecord, now: Date): RecordResult {
  const { externalId, email, companyDomain } = record
  const known = lookUp(batch.byExternalId, externalId) ?? lookUp(batch.byEmail, email)
  const state = known ?? newState(blankContact(newId(), null, batch.source, now))
  const before = state.row
  const write = writeOf(batch, withOwnId(batch, record, state), now)
  const takesEmail = wantsEmail(before, write) && !batch.byEmail.has(write.email)
  let applied: AppliedWrite
  try {
    applied = applyWrite(before, state.records, write, takesEmail ? email : before.email, now)
  } catch (error) {
    if (error instanceof ServiceError) return failure(error)
    throw error
  }
  const contactId = before.contact_id
  if (applied.record === null) return { status: 'unchanged', contactId }
  const { indexes, events } = keep(batch, state, applied.record, applied)
  indexes.push(index)
  if (companyDomain !== null) {
    batch.links.push({ index, state, domain: companyDomain, name: companyName(record.properties.company) })
  }
  if (!known) events.push(createdEvent(applied.row, batch.source, now))
  else if (applied.isNews) events.push(...changedEvents(before, applied.row, applied.changed, batch.source, now))
  const isNews = applied.isNews || applied.isNewsOfSource
  return { status: known ? (isNews ? 'updated' : 'unchanged') : 'created', contactId }
}

/** A merged contact's id leads to the survivor, which keeps its own. */
function withOwnId({ source }: Source, record: IncomingRecord, { aliases, records }: ContactState): IncomingRecord {
  const own = records.find((known) => known.source === source)?.external_id ?? null
  const isAlias = record.externalId !== null && aliases.externalIds.includes(record.externalId)
  return isAlias && own !== null ? { ...record, externalId: own } : record
}

function writeOf({ source, kind }: Source, record: IncomingRecord, now: Date): SourceWrite {
  const { externalId, email, properties, raw, at } = record
  return {
    source,
    kind,
    properties,
    ...(externalId === null ? {} : { externalId }),
    ...(email === null ? {} : { email }),
    ...(raw === undefined ? {} : { raw }),
    // A source's clock may be ahead; its writes still count as no newer than now.
    ...(at === null ? {} : { at: at > now ? now : at }),
  }
}

function keep(
  batch: Batch,
  state: ContactState,
  record: SourceRecord,
  { row, isRowDirty, isNewsOfSource }: AppliedWrite,
): Applied {
  const { row: rowBefore, records: recordsBefore } = state
  const known = batch.touched.get(state)
  const applied = known ?? { before: { row: rowBefore, records: recordsBefore }, indexes: [], events: [] }
  const externalIdBefore = state.records.find(({ source }) => source === batch.source)?.external_id ?? null
  if (externalIdBefore !== null && externalIdBefore !== record.external_id) batch.byExternalId.delete(externalIdBefore)
  if (record.external_id !== null) batch.byExternalId.set(record.external_id, state)
  if (row.email !== null) batch.byEmail.set(row.email, state)
  state.row = row
  state.records = [...state.records.filter(({ source }) => source !== batch.source), record]
  state.isRowDirty ||= isRowDirty
  // A connected source's record shows its last sync time; a file that is imported again changes nothing.
  state.isRecordDirty ||= isRowDirty || isNewsOfSource || batch.kind !== 'import'
  batch.touched.set(state, applied)
  return applied
}

/**
 * Several records of one contact may each replace the values of the previous one and end up with the original contact.
 * Then nothing is written or recorded, so sending them again changes nothing.
 */
function markUnchanged(batch: Batch, results: RecordResult[]): void {
  for (const [state, { before, indexes, events }] of batch.touched) {
    if (state.isNew || indexes.length < 2 || !isSame(batch.source, before, state)) continue
    const isEnriched = batch.kind === 'enrichment'
    state.row = isEnriched ? { ...before.row, enriched_at: state.row.enriched_at } : before.row
    state.isRowDirty = isEnriched
    state.isRecordDirty = batch.kind !== 'import'
    events.length = 0
    for (const index of indexes) results[index] = { status: 'unchanged', contactId: state.row.contact_id }
  }
}

/** Whether a contact and the source's record are unchanged, apart from times. */
function isSame(source: string, a: Applied['before'], b: Applied['before']): boolean {
  const essence = ({ row, records }: Applied['before']) => {
    const own = records.find((record) => record.source === source)
    const fields = Object.entries(own?.fields ?? {}).map(([key, { value }]) => [key, value])
    const { email, company_id, properties } = row
    return [email, company_id, properties, own?.external_id, own?.raw, Object.fromEntries(fields)]
  }
  return isDeepStrictEqual(essence(a), essence(b))
}

/** Links contacts without a company to the one with the domain in their record. */
async function linkCompanies(
  tx: Tenant,
  log: ChangeLog,
  batch: Batch,
  results: RecordResult[],
  now: Date,
): Promise<void> {
  const links = batch.links.filter(({ state }) => state.row.company_id === null)
  const names = new Map<string, string | null>()
  for (const { domain, name } of links) names.set(domain, names.get(domain) ?? name)
  const companies = await findOrCreateCompanies(tx, names, now)
  for (const { index, state, domain } of links) {
    if (state.row.company_id !== null) continue
    const companyId = companies.get(domain)
    if (companyId === undefined) throw new Collision()
    const before = state.row
    state.row = { ...before, company_id: companyId, updated_at: now }
    state.isRowDirty = true
    const result = results[index]
    if (result?.status !== 'unchanged') continue
    results[index] = { ...result, status: 'updated' }
    log.events.push(...changedEvents(before, state.row, [], batch.source, now))
  }
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
