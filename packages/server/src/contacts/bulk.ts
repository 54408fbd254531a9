import { sql } from 'kysely'
import { Collision, UNIQUE_VIOLATION } from '../platform/postgres/collisions.ts'
import { recordset } from '../platform/postgres/recordset.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, idOfSource, survivorsOf } from './aliases.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'
import {
  compareKeys,
  insertSourceRecords,
  readSourceRecords,
  type SourceRecord,
  storeSourceRecords,
} from './record-source.ts'
import { contactsOfFurtherIds } from './source-ids.ts'

/** A contact while an upsert of one source's records is applied to it, in memory. */
export interface ContactState {
  row: ContactRow
  records: SourceRecord[]
  isNew: boolean
  /** Whether the row must be stored. */
  isRowDirty: boolean
  /** Whether the source's record must be stored. */
  isRecordDirty: boolean
  /** Whether the source already has a record of the contact. */
  hasRecord: boolean
  /** The source's id for the contact before the upsert. */
  externalIdBefore: string | null
  /** Whether the source knows the contact by other ids too, which need not be in the upsert. Read for opt-outs alone. */
  hasFurtherIds: boolean
  /** The keys of contacts that were merged into it, and further ids of the source, limited to those in the upsert. */
  aliases: { externalIds: string[]; emails: string[] }
}

/** A contact that the upsert creates. */
export function newState(row: ContactRow): ContactState {
  const aliases = { externalIds: [], emails: [] }
  return {
    row,
    records: [],
    isNew: true,
    isRowDirty: true,
    isRecordDirty: true,
    hasRecord: false,
    externalIdBefore: null,
    hasFurtherIds: false,
    aliases,
  }
}

/**
 * Locks the contacts with these ids of a source and those with these emails, in a fixed order.
 * @throws Collision if another transaction was faster; repeat the upsert.
 */
export async function lockStates(
  tx: Tenant,
  source: string,
  externalIds: readonly string[],
  emails: readonly string[],
): Promise<ContactState[]> {
  const known = await findContactsByKeys(tx, source, externalIds, emails)
  const found = contactsOf(known)
  const rows = await lockRows(tx, found)
  // While waiting for the locks, one was merged or deleted, so its keys now lead elsewhere.
  if (rows.length < found.length) throw new Collision()
  return statesOf(tx, source, rows, known.aliases)
}

/** The same contacts as they are now, not locked, to compute what an upsert would change. */
export async function readStates(
  tenant: Tenant,
  source: string,
  externalIds: readonly string[],
  emails: readonly string[],
): Promise<ContactState[]> {
  const known = await findContactsByKeys(tenant, source, externalIds, emails)
  const rows = await rowsOf(tenant, contactsOf(known)).execute()
  return statesOf(tenant, source, rows, known.aliases)
}

/** Locks contacts by their ids, without their aliases. Those that no longer exist are left out. */
export async function lockStatesById(
  tx: Tenant,
  source: string,
  contactIds: readonly string[],
): Promise<ContactState[]> {
  const none = { byExternalId: new Map<string, string>(), byEmail: new Map<string, string>() }
  return statesOf(tx, source, await lockRows(tx, contactIds), none)
}

function contactsOf({ byExternalId, byEmail }: FoundContacts): string[] {
  return [...new Set([...byExternalId.values(), ...byEmail.values()])]
}

async function statesOf(
  tenant: Tenant,
  source: string,
  rows: readonly ContactRow[],
  aliases: FoundContacts,
): Promise<ContactState[]> {
  const contactIds = rows.map(({ contact_id }) => contact_id)
  const records = await readSourceRecords(tenant, contactIds, source)
  return rows.map((row) => {
    const stored = records.get(row.contact_id) ?? []
    const own = stored.find((record) => record.source === source)
    return {
      row,
      records: stored,
      isNew: false,
      isRowDirty: false,
      isRecordDirty: false,
      hasRecord: own !== undefined,
      externalIdBefore: own?.external_id ?? null,
      hasFurtherIds: false,
      aliases: {
        externalIds: keysTo(aliases.byExternalId, row.contact_id),
        emails: keysTo(aliases.byEmail, row.contact_id),
      },
    }
  })
}

/**
 * Stores the changed contacts of an upsert, in a handful of statements.
 * @throws Collision if another transaction was faster; repeat the upsert.
 */
export async function storeStates(tx: Tenant, source: string, states: Iterable<ContactState>): Promise<void> {
  const all = [...states]
  const created = all.filter(({ isNew }) => isNew).map(({ row }) => row)
  const changed = all.filter(({ isNew, isRowDirty }) => !isNew && isRowDirty).map(({ row }) => row)
  const first = new Map<string, SourceRecord>()
  const further = new Map<string, SourceRecord>()
  const renamed: string[] = []
  for (const { row, records: stored, isRecordDirty, hasRecord, externalIdBefore } of all) {
    const own = stored.find((record) => record.source === source)
    if (!own || !isRecordDirty) continue
    const records = hasRecord ? further : first
    records.set(row.contact_id, own)
    if (externalIdBefore !== null && externalIdBefore !== own.external_id) renamed.push(row.contact_id)
  }
  try {
    await insertRows(tx, created)
    await updateRows(tx, changed)
    await releaseExternalIds(tx, source, renamed)
    await storeSourceRecords(tx, further)
    await insertSourceRecords(tx, first)
  } catch (error) {
    // Another transaction created one of the contacts, or deleted a company that was just found.
    const { code = '' } = error as { code?: string }
    if ([UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION].includes(code)) throw new Collision()
    throw error
  }
}

function keysTo(survivors: ReadonlyMap<string, string>, contactId: string): string[] {
  return [...survivors].flatMap(([key, survivorId]) => (survivorId === contactId ? [key] : []))
}

const FOREIGN_KEY_VIOLATION = '23503'

/** Contact ids by the source's ids, and by email. */
interface FoundContacts {
  byExternalId: Map<string, string>
  byEmail: Map<string, string>
}

/**
 * Finds the contacts with these ids of a source and those with these emails. Those that further ids lead to, and the
 * survivors of merged ones, are listed in `aliases` too.
 */
export async function findContactsByKeys(
  tenant: Tenant,
  source: string,
  externalIds: readonly string[],
  emails: readonly string[],
): Promise<FoundContacts & { aliases: FoundContacts }> {
  const byExternalId = tenant.db
    .selectFrom('contact_sources')
    .select(['external_id as key', 'contact_id'])
    .where('source', '=', source)
    .where('external_id', '=', sql<string>`any(${externalIds})`)
  const byEmail = tenant.db
    .selectFrom('contacts')
    .select(['email as key', 'contact_id'])
    .where('email', '=', sql<string>`any(${emails})`)
  const own = {
    byExternalId: externalIds.length === 0 ? [] : await byExternalId.execute(),
    byEmail: emails.length === 0 ? [] : await byEmail.execute(),
  }
  // After the contacts: see aliases.ts.
  const aliases = {
    byExternalId: new Map([
      ...(await survivorsOf(tenant, idOfSource(source), externalIds)),
      ...(await contactsOfFurtherIds(tenant, source, externalIds)),
    ]),
    byEmail: await survivorsOf(tenant, EMAIL, emails),
  }
  return {
    byExternalId: byKey(own.byExternalId, aliases.byExternalId),
    byEmail: byKey(own.byEmail, aliases.byEmail),
    aliases,
  }
}

function byKey(
  rows: readonly { key: string | null; contact_id: string }[],
  aliases: ReadonlyMap<string, string>,
): Map<string, string> {
  const found = rows.flatMap(({ key, contact_id }): [string, string][] => (key === null ? [] : [[key, contact_id]]))
  return new Map([...aliases, ...found])
}

/** Locks contacts in the order of their ids. */
async function lockRows(tx: Tenant, contactIds: readonly string[]): Promise<ContactRow[]> {
  if (contactIds.length === 0) return []
  return rowsOf(tx, contactIds).orderBy('contact_id').forUpdate().execute()
}

function rowsOf(tenant: Tenant, contactIds: readonly string[]) {
  return tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', sql<string>`any(${contactIds})`)
}

async function insertRows(tx: Tenant, rows: ContactRow[]): Promise<void> {
  if (rows.length === 0) return
  // Sorted by key, so that two transactions with the same ones cannot deadlock.
  rows.sort((a, b) => compareKeys(a.email, b.email))
  await tx.db
    .insertInto('contacts')
    .columns(CONTACT_COLUMNS)
    .expression((eb) => eb.selectFrom(recordset(rows, 'rows', COLUMN_TYPES)).select(CONTACT_COLUMNS))
    .execute()
  // The insertion waits for a merge in progress of the contact that had the email.
  const emails = rows.flatMap(({ email }) => email ?? [])
  if ((await survivorsOf(tx, EMAIL, emails)).size > 0) throw new Collision()
}

const COLUMN_TYPES = {
  contact_id: 'uuid',
  email: 'text',
  external_id: 'text',
  properties: 'jsonb',
  properties_provenance: 'jsonb',
  company_id: 'uuid',
  creation_source: 'text',
  first_seen_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  enriched_at: 'timestamptz',
} as const satisfies Record<keyof ContactRow, string>

async function updateRows(tx: Tenant, rows: readonly ContactRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx.db
    .updateTable('contacts')
    .from(recordset(rows, 'changes', COLUMN_TYPES))
    .set(({ ref }) => ({
      email: ref('changes.email'),
      properties: ref('changes.properties'),
      properties_provenance: ref('changes.properties_provenance'),
      company_id: ref('changes.company_id'),
      first_seen_at: ref('changes.first_seen_at'),
      updated_at: ref('changes.updated_at'),
      enriched_at: ref('changes.enriched_at'),
    }))
    .whereRef('contacts.contact_id', '=', 'changes.contact_id')
    .execute()
}

/** Two contacts of an upsert may swap ids; updated row by row, both would briefly have the same one. */
async function releaseExternalIds(tx: Tenant, source: string, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length === 0) return
  await tx.db
    .updateTable('contact_sources')
    .set({ external_id: null })
    .where('source', '=', source)
    .where('contact_id', '=', sql<string>`any(${contactIds})`)
    .execute()
}
