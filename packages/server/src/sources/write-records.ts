import { isDeepStrictEqual } from 'node:util'
import { companiesByKey, companiesOfSource } from '../companies/source-companies.ts'
import { findOrCreateCompanies } from '../companies/write.ts'
import { maySilence } from '../contacts/consent.ts'
import type { ContactRow } from '../contacts/contact-row.ts'
import { contactsWithFurtherIds } from '../contacts/source-ids.ts'
import { type ContactSet, type ContactState, type Contents, recordOf } from '../contacts/writing/contact-set.ts'
import { changedEvents } from '../contacts/writing/events.ts'
import { readSet } from '../contacts/writing/keys.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { ServiceError } from '../platform/errors.ts'
import { failure } from '../platform/http/records.ts'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import {
  type Applied,
  applyRecords,
  keysOf,
  openUpsert,
  type RecordResult,
  type Source,
  type Upsert,
} from './apply-records.ts'
import { type IncomingRecord, recordIn } from './incoming-record.ts'

/**
 * Writes a source's records together, with a fixed number of statements. Records are applied in order: a
 * contact is found by the source's id, else by email, else created. A record that fails writes nothing and does not
 * affect the others.
 * @param records an error represents a record that was already rejected.
 * @param onStored is called at the end of the transaction, with what was written.
 */
export async function writeRecords(
  tenant: Tenant,
  { writer }: WriteServices,
  source: Source,
  records: readonly (IncomingRecord | ServiceError)[],
  onStored?: (tx: Tenant, written: Written) => Promise<void>,
): Promise<readonly RecordResult[]> {
  const isNothing = (record: IncomingRecord | ServiceError) =>
    record instanceof ServiceError && recordIn(record) === null
  if (!onStored && records.every(isNothing)) return records.map((record) => failure(record as ServiceError))
  const { results } = await writer.write(tenant, {
    keys: keysOf(source, records),
    createsCompanies: records.some((record) => typeof recordIn(record)?.companyDomain === 'string'),
    async apply(set, { tx, now }): Promise<Written> {
      if (records.some(saysConsent)) await noteFurtherIds(tx, source.source, set)
      const upsert = openUpsert(source, set, await findCompanies(tx, source, records, set))
      const results = applyRecords(upsert, records, now)
      const companiesCreated = await linkCompanies(tx, upsert, results, now)
      for (const [state, { before }] of upsert.touched) set.addYielded(state, yieldedKeys(source, before, state))
      return { results, contacts: [...upsert.touched.values()].flatMap(writtenOf), companiesCreated }
    },
    ...(onStored ? { onStored } : {}),
  })
  return results
}

/** The properties that the source yields and whose values it changed. The contact's values must be written to it again. */
function yieldedKeys({ source, yields }: Source, before: Contents | null, after: Contents): string[] {
  const fieldsOf = (contents: Contents | null) => (contents && recordOf(contents, source)?.fields) ?? {}
  const [said, says] = [fieldsOf(before), fieldsOf(after)]
  return [...(yields ?? [])].filter((key) => !isDeepStrictEqual(said[key]?.value, says[key]?.value))
}

/** The companies that records refer to by the source's ids, and the source's companies of the contacts. */
async function findCompanies(
  tx: Tenant,
  { source }: Source,
  records: readonly (IncomingRecord | ServiceError)[],
  set: ContactSet,
): Promise<Upsert['companies'] | undefined> {
  const keys = records.flatMap((record) => (record instanceof ServiceError ? [] : (record.companyKey ?? [])))
  if (keys.length === 0) return undefined
  const current = [...set.contacts].flatMap(({ row }) => row.company_id ?? [])
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

function writtenOf({ state: { row, records }, before }: Applied): WrittenContact[] {
  const isWritten = row !== before?.row || records !== before.records
  return isWritten ? [{ before, after: { row, records } }] : []
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
  computed: ReadonlySet<string>,
  now: Date,
): Promise<PlannedRecord[]> {
  const set = await readSet(tenant, [keysOf(source, records)])
  set.computed = computed
  const upsert = openUpsert(source, set)
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
async function linkCompanies(tx: Tenant, upsert: Upsert, results: RecordResult[], now: Date): Promise<string[]> {
  const links = upsert.links.filter(({ state }) => state.row.company_id === null)
  const names = new Map<string, string | null>()
  for (const { domain, name } of links) names.set(domain, names.get(domain) ?? name)
  const { byDomain, created } = await findOrCreateCompanies(tx, names, now)
  for (const { index, state, domain } of links) {
    if (state.row.company_id !== null) continue
    const companyId = byDomain.get(domain)
    if (companyId === undefined) throw new Collision()
    const before = state.row
    upsert.set.change(state, { ...before, company_id: companyId, updated_at: now }, null)
    const result = results[index]
    if (result?.status !== 'unchanged') continue
    results[index] = { ...result, status: 'updated' }
    upsert.set.addEvents(...changedEvents(before, state.row, [], upsert.source, now))
  }
  return created
}

/** Whether a record may opt out, or take that back. */
function saysConsent(record: IncomingRecord | ServiceError): boolean {
  const said = record instanceof ServiceError ? recordIn(record) : record
  return said !== null && Object.keys(said.properties).some(maySilence)
}

/** Notes which contacts have several ids at the source: of their records, it is not known which one was written last. */
async function noteFurtherIds(tx: Tenant, source: string, set: ContactSet): Promise<void> {
  const ids = [...set.contacts].map(({ row }) => row.contact_id)
  for (const contactId of await contactsWithFurtherIds(tx, source, ids)) set.loadFurtherIds(source, contactId)
}
