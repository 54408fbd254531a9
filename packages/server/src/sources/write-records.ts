import { isDeepStrictEqual } from 'node:util'
import { companiesByKey, companiesOfSource } from '../companies/source-companies.ts'
import { findOrCreateCompanies } from '../companies/write.ts'
import { type ContactState, lockStates, readStates, storeStates } from '../contacts/bulk.ts'
import { changedEvents } from '../contacts/change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../contacts/change-log.ts'
import { maySilence } from '../contacts/consent.ts'
import { type ContactRow, changedKeys } from '../contacts/contact-row.ts'
import { addFurtherIds, contactsWithFurtherIds } from '../contacts/source-ids.ts'
import { ServiceError } from '../platform/errors.ts'
import { failure } from '../platform/http/records.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import {
  type Applied,
  applyRecords,
  type Contents,
  keysOf,
  openUpsert,
  type RecordResult,
  type Source,
  type Upsert,
} from './apply-records.ts'
import { type IncomingRecord, recordIn } from './incoming-record.ts'

/**
 * Writes a source's records in one transaction with a fixed number of statements. Records are applied in order: a
 * contact is found by the source's id, else by email, else created. A record that fails writes nothing and does not
 * affect the others.
 * @param records an error represents a record that was already rejected.
 * @param onStored is called at the end of the transaction, with what was written.
 */
export async function writeRecords(
  tenant: Tenant,
  dependencies: WriteDependencies,
  source: Source,
  records: readonly (IncomingRecord | ServiceError)[],
  onStored?: (tx: Tenant, written: Written) => Promise<void>,
): Promise<RecordResult[]> {
  const isNothing = (record: IncomingRecord | ServiceError) =>
    record instanceof ServiceError && recordIn(record) === null
  if (!onStored && records.every(isNothing)) return records.map((record) => failure(record as ServiceError))
  const now = dependencies.clock()
  return changeContacts(tenant, dependencies, async (tx, log) => {
    const states = await lockStates(tx, source.source, ...keysOf(records))
    if (records.some(saysConsent)) await noteFurtherIds(tx, source.source, states)
    const upsert = openUpsert(source, states, await findCompanies(tx, source, records, states))
    const results = applyRecords(upsert, records, now)
    for (const { events } of upsert.touched.values()) log.events.push(...events)
    const companiesCreated = await linkCompanies(tx, log, upsert, results, now)
    await storeStates(tx, source.source, upsert.touched.keys())
    const furtherIds = [...upsert.furtherIds].map(([id, { row }]) => [id, row.contact_id] as const)
    await addFurtherIds(tx, source.source, new Map(furtherIds))
    for (const [state, { before }] of upsert.touched) {
      const { row, isNew, isRowDirty } = state
      if (isRowDirty) log.noteChange(row.contact_id, isNew ? 'everything' : changedKeys(before.row, row))
      const yielded = yieldedKeys(source, before, state)
      if (yielded.length > 0) log.noteChange(row.contact_id, yielded)
    }
    await onStored?.(tx, { results, contacts: [...upsert.touched].flatMap(writtenOf), companiesCreated })
    return results
  })
}

/** The properties that the source yields and whose values it changed. The contact's values must be written to it again. */
function yieldedKeys({ source, yields }: Source, before: Contents, after: Contents): string[] {
  const fieldsOf = ({ records }: Contents) => records.find((record) => record.source === source)?.fields ?? {}
  const [said, says] = [fieldsOf(before), fieldsOf(after)]
  return [...(yields ?? [])].filter((key) => !isDeepStrictEqual(said[key]?.value, says[key]?.value))
}

/** The companies that records refer to by the source's ids, and the source's companies of the contacts. */
async function findCompanies(
  tx: Tenant,
  { source }: Source,
  records: readonly (IncomingRecord | ServiceError)[],
  states: readonly ContactState[],
): Promise<Upsert['companies'] | undefined> {
  const keys = records.flatMap((record) => (record instanceof ServiceError ? [] : (record.companyKey ?? [])))
  if (keys.length === 0) return undefined
  const current = states.flatMap(({ row }) => row.company_id ?? [])
  return { byKey: await companiesByKey(tx, source, keys), known: await companiesOfSource(tx, source, current) }
}

/** What an upsert wrote. */
export interface Written {
  results: readonly RecordResult[]
  contacts: readonly WrittenContact[]
  /** The ids of the companies that it created. */
  companiesCreated: readonly string[]
}

/** A contact that an upsert wrote. */
export interface WrittenContact {
  /** null if the upsert created it. */
  before: Contents | null
  after: Contents
}

function writtenOf([state, { before }]: [ContactState, Applied]): WrittenContact[] {
  const { row, records, isNew, isRowDirty, isRecordDirty } = state
  return isRowDirty || isRecordDirty ? [{ before: isNew ? null : before, after: { row, records } }] : []
}

/** What a record would do. */
export interface PlannedRecord {
  result: RecordResult
  /** The contact before this record, and after it; null if the record fails. A new contact is blank before. */
  contact: { before: ContactRow; after: ContactRow } | null
}

/** Computes what `writeRecords` would do with these records now. It locks and writes nothing. */
export async function planRecords(
  tenant: Tenant,
  source: Source,
  records: readonly (IncomingRecord | ServiceError)[],
  now: Date,
): Promise<PlannedRecord[]> {
  const upsert = openUpsert(source, await readStates(tenant, source.source, ...keysOf(records)))
  const rows: PlannedRecord['contact'][] = records.map(() => null)
  const results = applyRecords(upsert, records, now, (index, before, after) => {
    rows[index] = { before, after }
  })
  // The first record with a company links its contact to it.
  const linked = new Set<ContactState>()
  for (const { index, state } of upsert.links) {
    if (state.row.company_id !== null || linked.has(state)) continue
    linked.add(state)
    const result = results[index]
    if (result?.status === 'unchanged') results[index] = { ...result, status: 'updated' }
  }
  return results.map((result, index) => ({ result, contact: rows[index] ?? null }))
}

/** Links contacts without a company to the one with the domain in their record. @returns the companies it created. */
async function linkCompanies(
  tx: Tenant,
  log: ChangeLog,
  upsert: Upsert,
  results: RecordResult[],
  now: Date,
): Promise<string[]> {
  const links = upsert.links.filter(({ state }) => state.row.company_id === null)
  const names = new Map<string, string | null>()
  for (const { domain, name } of links) names.set(domain, names.get(domain) ?? name)
  const { byDomain, created } = await findOrCreateCompanies(tx, names, now)
  for (const { index, state, domain } of links) {
    if (state.row.company_id !== null) continue
    const companyId = byDomain.get(domain)
    if (companyId === undefined) throw new Collision()
    const before = state.row
    state.row = { ...before, company_id: companyId, updated_at: now }
    state.isRowDirty = true
    const result = results[index]
    if (result?.status !== 'unchanged') continue
    results[index] = { ...result, status: 'updated' }
    log.events.push(...changedEvents(before, state.row, [], upsert.source, now))
  }
  return created
}

/** Whether a record may opt out, or take that back. */
function saysConsent(record: IncomingRecord | ServiceError): boolean {
  const said = record instanceof ServiceError ? recordIn(record) : record
  return said !== null && Object.keys(said.properties).some(maySilence)
}

/** Notes which contacts have several ids at the source: of their records, it is not known which one was written last. */
async function noteFurtherIds(tx: Tenant, source: string, states: readonly ContactState[]): Promise<void> {
  const ids = states.map(({ row }) => row.contact_id)
  const several = await contactsWithFurtherIds(tx, source, ids)
  for (const state of states) state.hasFurtherIds = several.has(state.row.contact_id)
}
