import { type QueryCreator, sql } from 'kysely'
import { linkingOwners } from '../../owners/link-owners.ts'
import { Collision, UNIQUE_VIOLATION } from '../../platform/postgres/collisions.ts'
import type { TenantTables } from '../../platform/postgres/database.ts'
import { recordset } from '../../platform/postgres/recordset.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { isAlias } from '../aliases.ts'
import { CONTACT_COLUMNS, type ContactRow, changedKeys } from '../contact-row.ts'
import { addFurtherIds } from '../source-ids.ts'
import type { ContactSet, ContactState, VisitorLink, VisitorState } from './contact-set.ts'
import { compareKeys, insertingRecords, type SourceRecord, updatingRecords } from './source-records.ts'
import type { ChangeLog } from './transaction.ts'

const FOREIGN_KEY_VIOLATION = '23503'

type RecordRow = SourceRecord & { contact_id: string }
type RecordKey = Pick<RecordRow, 'contact_id' | 'source'>

/** What the writes of a set change in the database. */
interface Changes {
  created: ContactRow[]
  changed: ContactState[]
  newRecords: RecordRow[]
  changedRecords: RecordRow[]
  removedRecords: RecordKey[]
  /** Contacts, and records, whose key another one of the set gets. */
  releasing: string[]
  releasingRecords: RecordKey[]
}

/**
 * Stores what the writes changed, in one statement for all tables, and notes it in the log of the transaction.
 * @param isRestoring whether its new contacts were merged before, so that other merged contacts may have their keys too.
 * @throws Collision if another transaction was faster; repeat the transaction.
 */
export async function storeSet(
  tx: Tenant,
  log: ChangeLog,
  set: ContactSet,
  { isRestoring = false }: { isRestoring?: boolean } = {},
): Promise<void> {
  const changes = changesOf(set)
  try {
    await releaseKeys(tx, changes)
    const links = await storeAll(tx, set, changes)
    log.ownerLinks.push(...links.map((link) => ({ tenant_id: tx.id, ...link })))
    for (const [source, ids] of furtherIdsBySource(set)) await addFurtherIds(tx, source, ids)
  } catch (error) {
    // Another transaction created one of the contacts, or deleted a company that was just found.
    const { code = '' } = error as { code?: string }
    if ([UNIQUE_VIOLATION, FOREIGN_KEY_VIOLATION].includes(code)) throw new Collision()
    throw error
  }
  if (!isRestoring) await requireNoAliases(tx, changes.created)
  note(log, set, changes)
}

function changesOf(set: ContactSet): Changes {
  const created: ContactRow[] = []
  const changed: ContactState[] = []
  const newRecords: RecordRow[] = []
  const changedRecords: RecordRow[] = []
  const removedRecords: RecordKey[] = []
  const renamed: [RecordKey, string][] = []
  for (const state of set.contacts) {
    const { stored, row, records } = state
    const { contact_id } = row
    if (stored === null) created.push(row)
    else if (row !== stored.row) changed.push(state)
    const before = stored?.records ?? []
    if (records === before) continue
    for (const record of records) {
      const known = before.find(({ source }) => source === record.source)
      if (known === record) continue
      const list = known ? changedRecords : newRecords
      list.push({ ...record, contact_id })
      const id = known?.external_id ?? null
      if (id !== null && id !== record.external_id) renamed.push([{ contact_id, source: record.source }, id])
    }
    for (const { source } of before) {
      if (!records.some((record) => record.source === source)) removedRecords.push({ contact_id, source })
    }
  }
  const emails = new Set([...created, ...changed.map(({ row }) => row)].map(({ email }) => email))
  const externalIds = new Set([...created, ...changed.map(({ row }) => row)].map(({ external_id }) => external_id))
  const isReleased = ({ stored, row }: ContactState) => {
    const { email, external_id } = stored?.row ?? row
    const freesEmail = email !== null && email !== row.email && emails.has(email)
    return freesEmail || (external_id !== null && external_id !== row.external_id && externalIds.has(external_id))
  }
  const sourceIds = new Set(
    [...newRecords, ...changedRecords].map(({ source, external_id }) => `${source}\n${external_id}`),
  )
  return {
    created,
    changed,
    newRecords,
    changedRecords,
    removedRecords,
    releasing: changed.filter(isReleased).map(({ row }) => row.contact_id),
    releasingRecords: renamed.flatMap(([key, id]) => (sourceIds.has(`${key.source}\n${id}`) ? key : [])),
  }
}

/** Two contacts may swap keys, or one may get another's: in one statement, both would briefly have the same one. */
async function releaseKeys(tx: Tenant, { releasing, releasingRecords, removedRecords }: Changes): Promise<void> {
  if (releasing.length > 0) {
    const isReleasing = sql<string>`any(${releasing}::uuid[])`
    const released = { email: null, external_id: null, external_id_provisional: false }
    await tx.db.updateTable('contacts').set(released).where('contact_id', '=', isReleasing).execute()
  }
  for (const [source, records] of Map.groupBy(releasingRecords, (record) => record.source)) {
    await tx.db
      .updateTable('contact_sources')
      .set({ external_id: null })
      .where('source', '=', source)
      .where('contact_id', '=', sql<string>`any(${records.map(({ contact_id }) => contact_id)}::uuid[])`)
      .execute()
  }
  for (const [source, records] of Map.groupBy(removedRecords, (record) => record.source)) {
    await tx.db
      .deleteFrom('contact_sources')
      .where('source', '=', source)
      .where('contact_id', '=', sql<string>`any(${records.map(({ contact_id }) => contact_id)}::uuid[])`)
      .execute()
  }
}

interface OwnerLink {
  owner_id: string
  contact_id: string
  version: number
}

type Db = QueryCreator<TenantTables>
/** A statement about one table. */
type Part = (db: Db) => { execute(): Promise<unknown> }

/** Runs one statement with a part for each table, because several would take several times as long. @returns the links. */
async function storeAll(tx: Tenant, set: ContactSet, changes: Changes): Promise<OwnerLink[]> {
  const { created, changed, newRecords, changedRecords } = changes
  const rows = changed.map(({ row }) => row)
  const moved = [...set.visitors].filter(
    ({ stored, contact_id, external_contact_id }) =>
      contact_id !== stored.contact_id || external_contact_id !== stored.external_contact_id,
  )
  const parts: Part[] = [
    ...when(created, (db) => insertingContacts(db, created)),
    ...when(rows, (db) => updatingContacts(db, rows)),
    ...when(newRecords, (db) => insertingRecords(db, newRecords)),
    ...when(changedRecords, (db) => updatingRecords(db, changedRecords)),
    ...when(moved, (db) => updatingVisitors(db, moved)),
    ...when(set.visitorLinks, (db) => insertingVisitorLinks(db, set.visitorLinks)),
  ]
  const links = [...set.ownerLinks].map(([owner_id, contact_id]) => ({ owner_id, contact_id }))
  const last: Part | undefined = links.length > 0 ? (db) => linkingOwners(db, links) : parts.pop()
  if (!last) return []
  const before = parts.reduce<Db>((db, part, index) => db.with(`part_${index}`, part as never) as unknown as Db, tx.db)
  const written = await last(before).execute()
  return links.length > 0 ? (written as OwnerLink[]) : []
}

function when(changes: readonly unknown[], part: Part): Part[] {
  return changes.length > 0 ? [part] : []
}

const COLUMN_TYPES = {
  contact_id: 'uuid',
  email: 'text',
  external_id: 'text',
  external_id_provisional: 'boolean',
  properties: 'jsonb',
  properties_provenance: 'jsonb',
  company_id: 'uuid',
  creation_source: 'text',
  first_seen_at: 'timestamptz',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  enriched_at: 'timestamptz',
} as const satisfies Record<keyof ContactRow, string>

function insertingContacts(db: Db, rows: readonly ContactRow[]) {
  // Sorted by key, so that two transactions with the same ones cannot deadlock.
  const sorted = rows.toSorted((a, b) => compareKeys(a.email, b.email) || compareKeys(a.external_id, b.external_id))
  return db
    .insertInto('contacts')
    .columns(CONTACT_COLUMNS)
    .expression((eb) => eb.selectFrom(recordset(sorted, 'rows', COLUMN_TYPES)).select(CONTACT_COLUMNS))
}

function updatingContacts(db: Db, rows: readonly ContactRow[]) {
  return db
    .updateTable('contacts')
    .from(recordset(rows, 'sent', COLUMN_TYPES))
    .set(({ ref }) => ({
      email: ref('sent.email'),
      external_id: ref('sent.external_id'),
      external_id_provisional: ref('sent.external_id_provisional'),
      properties: ref('sent.properties'),
      properties_provenance: ref('sent.properties_provenance'),
      company_id: ref('sent.company_id'),
      first_seen_at: ref('sent.first_seen_at'),
      updated_at: ref('sent.updated_at'),
      enriched_at: ref('sent.enriched_at'),
    }))
    .whereRef('contacts.contact_id', '=', 'sent.contact_id')
}

function updatingVisitors(db: Db, visitors: readonly VisitorState[]) {
  const rows = visitors.map(({ stored: { visitor_id }, contact_id, external_contact_id }) => ({
    visitor_id,
    contact_id,
    external_contact_id,
  }))
  const types = { visitor_id: 'text', contact_id: 'uuid', external_contact_id: 'text' } as const
  return db
    .updateTable('visitors')
    .from(recordset(rows, 'sent', types))
    .set(({ ref }) => ({ contact_id: ref('sent.contact_id'), external_contact_id: ref('sent.external_contact_id') }))
    .whereRef('visitors.visitor_id', '=', 'sent.visitor_id')
}

const LINK_TYPES = {
  link_id: 'uuid',
  visitor_id: 'text',
  contact_id: 'uuid',
  previous_contact_id: 'uuid',
  source: 'text',
  linked_at: 'timestamptz',
} as const
const LINK_COLUMNS = Object.keys(LINK_TYPES) as (keyof typeof LINK_TYPES)[]

function insertingVisitorLinks(db: Db, links: readonly VisitorLink[]) {
  return db
    .insertInto('visitor_links')
    .columns(LINK_COLUMNS)
    .expression((eb) => eb.selectFrom(recordset(links, 'sent', LINK_TYPES)).select(LINK_COLUMNS))
}

/** Checked after the insertion, which waits for a merge in progress of the contact that had the key. */
async function requireNoAliases(tx: Tenant, created: readonly ContactRow[]): Promise<void> {
  const emails = created.flatMap(({ email }) => email ?? [])
  const externalIds = created.flatMap(({ external_id }) => external_id ?? [])
  if (await isAlias(tx, emails, externalIds)) throw new Collision()
}

function furtherIdsBySource(set: ContactSet): Map<string, Map<string, string>> {
  const bySource = new Map<string, Map<string, string>>()
  for (const { source, external_id, state } of set.furtherIds.values()) {
    const ids = bySource.get(source) ?? new Map<string, string>()
    bySource.set(source, ids.set(external_id, state.row.contact_id))
  }
  return bySource
}

function note(log: ChangeLog, set: ContactSet, { created, changed }: Changes): void {
  log.events.push(...set.events)
  log.records.push(...set.records)
  for (const { contact_id } of created) log.noteChange(contact_id, 'everything')
  for (const { stored, row } of changed)
    log.noteChange(row.contact_id, stored ? changedKeys(stored.row, row) : 'everything')
  for (const contactId of set.linked) {
    log.noteChange(contactId, [])
    log.linked.add(contactId)
  }
  for (const [contactId, keys] of set.yielded) log.noteChange(contactId, keys)
}
