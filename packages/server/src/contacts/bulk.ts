import { sql } from 'kysely'
import { Collision } from '../platform/postgres/collisions.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, idOfSource, survivorsOf } from './aliases.ts'
import { CONTACT_COLUMNS, type ContactRow } from './contact-row.ts'
import { compareKeys, readSourceRecords, type SourceRecord, storeSourceRecords } from './record-source.ts'

/** A contact while a batch of writes by one source is applied to it, in memory. */
export interface ContactState {
  row: ContactRow
  records: SourceRecord[]
  isNew: boolean
  /** Whether the row has to be stored. */
  isRowDirty: boolean
  /** Whether the source's own record has to be stored. */
  isRecordDirty: boolean
  /** The id by which the source knew the contact when the batch began. */
  externalIdBefore: string | null
  /** The keys of contacts that were merged into it, as far as the batch names them. */
  aliases: { externalIds: string[]; emails: string[] }
}

/** A contact that the batch makes. */
export function newState(row: ContactRow): ContactState {
  const aliases = { externalIds: [], emails: [] }
  return { row, records: [], isNew: true, isRowDirty: true, isRecordDirty: true, externalIdBefore: null, aliases }
}

/** Locks the contacts that a source knows by these ids, and those with these e-mails, in one order for all. */
export async function lockStates(
  tx: Tenant,
  source: string,
  externalIds: readonly string[],
  emails: readonly string[],
): Promise<ContactState[]> {
  const [known, holders] = [await idsOfExternalIds(tx, source, externalIds), await idsOfEmails(tx, emails)]
  const byExternalId = await survivorsOf(tx, idOfSource(source), externalIds)
  const byEmail = await survivorsOf(tx, EMAIL, emails)
  const ids = [...new Set([...known, ...holders, ...byExternalId.values(), ...byEmail.values()])]
  if (ids.length === 0) return []
  const rows = await tx.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', sql<string>`any(${ids})`)
    .orderBy('contact_id')
    .forUpdate()
    .execute()
  const contactIds = rows.map(({ contact_id }) => contact_id)
  const records = await readSourceRecords(tx, contactIds, source)
  return rows.map((row) => {
    const own = records.get(row.contact_id) ?? []
    return {
      row,
      records: own,
      isNew: false,
      isRowDirty: false,
      isRecordDirty: false,
      externalIdBefore: own.find((record) => record.source === source)?.external_id ?? null,
      aliases: { externalIds: keysTo(byExternalId, row.contact_id), emails: keysTo(byEmail, row.contact_id) },
    }
  })
}

/**
 * Stores what a batch has made of its contacts, in a handful of statements.
 * @throws Collision when another transaction was faster; begin the batch again.
 */
export async function storeStates(tx: Tenant, source: string, states: Iterable<ContactState>): Promise<void> {
  const all = [...states]
  try {
    await insertRows(
      tx,
      all.filter(({ isNew }) => isNew).map(({ row }) => row),
    )
    await updateRows(
      tx,
      all.filter(({ isNew, isRowDirty }) => !isNew && isRowDirty).map(({ row }) => row),
    )
  } catch (error) {
    // A company that was found a moment ago is gone.
    if ((error as { code?: string }).code === FOREIGN_KEY_VIOLATION) throw new Collision()
    throw error
  }
  const records = new Map<string, SourceRecord>()
  const renamed: string[] = []
  for (const { row, records: said, isRecordDirty, externalIdBefore } of all) {
    const own = said.find((record) => record.source === source)
    if (!own || !isRecordDirty) continue
    records.set(row.contact_id, own)
    if (externalIdBefore !== null && externalIdBefore !== own.external_id) renamed.push(row.contact_id)
  }
  await releaseExternalIds(tx, source, renamed)
  await storeSourceRecords(tx, records)
}

function keysTo(survivors: ReadonlyMap<string, string>, contactId: string): string[] {
  return [...survivors].flatMap(([key, survivorId]) => (survivorId === contactId ? [key] : []))
}

const FOREIGN_KEY_VIOLATION = '23503'

async function idsOfExternalIds(tx: Tenant, source: string, externalIds: readonly string[]): Promise<string[]> {
  if (externalIds.length === 0) return []
  const rows = await tx.db
    .selectFrom('contact_sources')
    .select('contact_id')
    .where('source', '=', source)
    .where('external_id', '=', sql<string>`any(${externalIds})`)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

async function idsOfEmails(tx: Tenant, emails: readonly string[]): Promise<string[]> {
  if (emails.length === 0) return []
  const rows = await tx.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('email', '=', sql<string>`any(${emails})`)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}

async function insertRows(tx: Tenant, rows: ContactRow[]): Promise<void> {
  if (rows.length === 0) return
  // In the order of their keys, so that two transactions with the same ones wait for each other, never in a circle.
  rows.sort((a, b) => compareKeys(a.email, b.email))
  const inserted = await tx.db
    .insertInto('contacts')
    .values(rows)
    .onConflict((existing) => existing.doNothing())
    .returning('contact_id')
    .execute()
  if (inserted.length < rows.length) throw new Collision()
  // The insertion waits for a merge under way of the contact that had the email.
  const emails = rows.flatMap(({ email }) => email ?? [])
  if ((await survivorsOf(tx, EMAIL, emails)).size > 0) throw new Collision()
}

const CHANGES = sql<'changes'>`changes(contact_id uuid, email text, properties jsonb, properties_provenance jsonb,
  company_id uuid, updated_at timestamptz, enriched_at timestamptz)`

type Changes = Pick<
  ContactRow,
  'contact_id' | 'email' | 'properties' | 'properties_provenance' | 'company_id' | 'updated_at' | 'enriched_at'
>

async function updateRows(tx: Tenant, rows: readonly ContactRow[]): Promise<void> {
  if (rows.length === 0) return
  const changes = sql<Changes>`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)`.as<'changes'>(CHANGES)
  await tx.db
    .updateTable('contacts')
    .from(changes)
    .set(({ ref }) => ({
      email: ref('changes.email'),
      properties: ref('changes.properties'),
      properties_provenance: ref('changes.properties_provenance'),
      company_id: ref('changes.company_id'),
      updated_at: ref('changes.updated_at'),
      enriched_at: ref('changes.enriched_at'),
    }))
    .whereRef('contacts.contact_id', '=', 'changes.contact_id')
    .execute()
}

/** Two contacts of a batch may exchange ids; row by row one of them would have the other's for a moment. */
async function releaseExternalIds(tx: Tenant, source: string, contactIds: readonly string[]): Promise<void> {
  if (contactIds.length === 0) return
  await tx.db
    .updateTable('contact_sources')
    .set({ external_id: null })
    .where('source', '=', source)
    .where('contact_id', '=', sql<string>`any(${contactIds})`)
    .execute()
}
