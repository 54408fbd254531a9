import { sql } from 'kysely'
import { Collision } from '../../platform/postgres/collisions.ts'
import { lockAll } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { survivorsOfContacts } from '../aliases.ts'
import { CONTACT_COLUMNS, type ContactRow } from '../contact-row.ts'
import { ContactSet, type KeyKind } from './contact-set.ts'
import { isUnconfirmed } from './resolve.ts'
import { ENRICHMENT, readSourceRecords } from './source-records.ts'
import { claimingVisitors, countVisitors, lockVisitors } from './visitor-rows.ts'

/** What a write needs to read: every key that may lead to a contact that it changes. */
export interface WriteKeys {
  contactIds?: readonly string[]
  emails?: readonly string[]
  /** The tenant's own ids of contacts. */
  externalIds?: readonly string[]
  /** The ids of one source. */
  ofSource?: { source: string; externalIds: readonly string[] }
  visitorIds?: readonly string[]
  /** The sources whose raw records are read; they can be large. null: all sources. */
  rawOf?: readonly string[] | null
}

/**
 * How contacts are locked. `forUpdate`: before one is deleted, with what belongs to it. Otherwise, notes and conversations
 * may refer to it meanwhile.
 */
type Lock = 'forUpdate' | 'forNoKeyUpdate'

/** A key, and the contact that it leads to. */
interface FoundKey {
  kind: KeyKind
  source: string
  key: string
  contact_id: string
  is_alias: boolean
}

/**
 * Locks the contacts and visitors that some writes may change, and reads them. Contacts are locked before visitors, each in
 * a fixed order, which prevents deadlocks.
 * @throws Collision if a contact was merged or deleted meanwhile; repeat the transaction.
 */
export async function openSet(
  tx: Tenant,
  writes: readonly WriteKeys[],
  lock: Lock = 'forNoKeyUpdate',
): Promise<ContactSet> {
  const keys = combined(writes)
  // A visitor that sends an id and a contact that gets it at the same time would not see each other.
  if (keys.externalIds.length > 0) await lockAll(tx.db, 'external_id', tx.id, keys.externalIds)
  const found = await findContacts(tx, keys)
  const set = new ContactSet(tx.id)
  const foundIds = new Set(found.map(({ contact_id }) => contact_id))
  const rows = await lockRows(tx, [...foundIds, ...keys.contactIds], lock)
  const locked = new Set(rows.map(({ contact_id }) => contact_id))
  for (const id of foundIds) if (!locked.has(id)) throw new Collision()
  const aliases = found.filter(({ is_alias }) => is_alias)
  // While waiting for the lock, the merge may have been undone.
  if (aliases.length > 0) await requireSame(tx, keys, aliases)
  const merged = await survivorsOfContacts(
    tx,
    keys.contactIds.filter((id) => !locked.has(id)),
  )
  const survivors = await lockRows(
    tx,
    [...merged.values()].filter((id) => !locked.has(id)),
    lock,
  )
  if (merged.size > 0) await requireSameSurvivors(tx, merged)
  await loadRows(tx, set, [...rows, ...survivors], keys.rawOf)
  for (const { kind, source, key, contact_id } of aliases) set.loadAlias(kind, source, key, contact_id)
  for (const [contactId, survivorId] of merged) set.loadSurvivor(contactId, survivorId)
  await loadVisitors(tx, set, keys)
  return set
}

/** The same contacts as they are now, not locked, to compute what a write would change. */
export async function readSet(tenant: Tenant, writes: readonly WriteKeys[]): Promise<ContactSet> {
  const keys = combined(writes)
  const found = await findContacts(tenant, keys)
  const set = new ContactSet(tenant.id)
  const ids = new Set([...found.map(({ contact_id }) => contact_id), ...keys.contactIds])
  await loadRows(tenant, set, await rowsOf(tenant, [...ids]).execute(), keys.rawOf)
  for (const { kind, source, key, contact_id, is_alias } of found) {
    if (is_alias) set.loadAlias(kind, source, key, contact_id)
  }
  return set
}

/** The contacts that some ids of a source lead to, by these ids. */
export async function contactsOfSource(
  tenant: Tenant,
  source: string,
  externalIds: readonly string[],
): Promise<Map<string, string>> {
  return contactsByKey(tenant, { ofSource: { source, externalIds } })
}

/** The contacts that some addresses lead to, by address. */
export async function contactsOfEmails(tenant: Tenant, emails: readonly string[]): Promise<Map<string, string>> {
  return contactsByKey(tenant, { emails })
}

async function contactsByKey(tenant: Tenant, keys: WriteKeys): Promise<Map<string, string>> {
  const found = await findContacts(tenant, combined([keys]))
  // A contact's own key comes last, so that it overrides those of contacts merged into others.
  found.sort((a, b) => Number(b.is_alias) - Number(a.is_alias))
  return new Map(found.map(({ key, contact_id }) => [key, contact_id]))
}

type Combined = ReturnType<typeof combined>

function combined(writes: readonly WriteKeys[]) {
  const all = (of: (keys: WriteKeys) => readonly string[] | undefined) => [
    ...new Set(writes.flatMap((each) => of(each) ?? [])),
  ]
  const ofSources = new Map<string, Set<string>>()
  for (const { ofSource } of writes) {
    if (!ofSource || ofSource.externalIds.length === 0) continue
    const ids = ofSources.get(ofSource.source) ?? new Set()
    ofSources.set(ofSource.source, ids)
    for (const id of ofSource.externalIds) ids.add(id)
  }
  return {
    contactIds: all(({ contactIds }) => contactIds),
    emails: all(({ emails }) => emails),
    externalIds: all(({ externalIds }) => externalIds),
    ofSources: [...ofSources].map(([source, ids]) => ({ source, externalIds: [...ids] })),
    visitorIds: all(({ visitorIds }) => visitorIds),
    isAlone: writes.length === 1,
    // That of enrichment is small, and any write may add to it.
    rawOf: writes.some(({ rawOf }) => rawOf === null) ? null : [...all(({ rawOf }) => rawOf ?? undefined), ENRICHMENT],
  }
}

/**
 * Everything that some keys lead to, in one statement, so that a merge is seen whole or not at all: besides the contacts
 * that have the keys, the survivors of merged ones, and contacts that a source knows by further ids.
 */
async function findContacts(tenant: Tenant, keys: Combined): Promise<FoundKey[]> {
  const queries = [
    ...ownKeys(tenant, 'email', keys.emails),
    ...ownKeys(tenant, 'external_id', keys.externalIds),
    ...aliases(tenant, 'email', '', keys.emails),
    ...aliases(tenant, 'external_id', '', keys.externalIds),
    ...keys.ofSources.flatMap(({ source, externalIds }) => [
      ...idsOfSource(tenant, source, externalIds),
      ...aliases(tenant, 'source', source, externalIds),
    ]),
  ]
  const [first, ...others] = queries
  if (!first) return []
  return others.reduce((union, query) => union.unionAll(query), first).execute()
}

function ownKeys(tenant: Tenant, kind: 'email' | 'external_id', keys: readonly string[]) {
  if (keys.length === 0) return []
  const query = tenant.db.selectFrom('contacts').where(kind, '=', sql<string>`any(${keys}::text[])`)
  return [query.select(['contact_id', ...columns(kind, '', kind, false)])]
}

function idsOfSource(tenant: Tenant, source: string, ids: readonly string[]) {
  const selected = (column: 'external_id', isAlias: boolean) =>
    ['contact_id', ...columns('source', source, column, isAlias)] as const
  const isNamed = sql<string>`any(${ids}::text[])`
  const own = tenant.db.selectFrom('contact_sources').where('source', '=', source).where('external_id', '=', isNamed)
  const further = tenant.db
    .selectFrom('contact_source_ids')
    .where('source', '=', source)
    .where('external_id', '=', isNamed)
  return [own.select(selected('external_id', false)), further.select(selected('external_id', true))]
}

function aliases(tenant: Tenant, kind: KeyKind, source: string, keys: readonly string[]) {
  if (keys.length === 0) return []
  const query = tenant.db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .where('contact_aliases.kind', '=', kind)
    .where('contact_aliases.source', '=', source)
    .where('contact_aliases.key', '=', sql<string>`any(${keys}::text[])`)
  return [
    query.select(['contact_merges.survivor_id as contact_id', ...columns(kind, source, 'contact_aliases.key', true)]),
  ]
}

function columns(kind: KeyKind, source: string, key: string, isAlias: boolean) {
  return [
    sql<KeyKind>`${kind}::text`.as('kind'),
    sql<string>`${source}::text`.as('source'),
    sql<string>`${sql.ref(key)}`.as('key'),
    sql<boolean>`${isAlias}::boolean`.as('is_alias'),
  ] as const
}

/** Checks that merged contacts' keys still lead to the same contacts. */
async function requireSame(tx: Tenant, keys: Combined, aliases: readonly FoundKey[]): Promise<void> {
  const now = new Map((await findContacts(tx, keys)).map((found) => [textOf(found), found.contact_id]))
  if (aliases.some((alias) => now.get(textOf(alias)) !== alias.contact_id)) throw new Collision()
}

async function requireSameSurvivors(tx: Tenant, merged: ReadonlyMap<string, string>): Promise<void> {
  const now = await survivorsOfContacts(tx, [...merged.keys()])
  for (const [contactId, survivorId] of merged) if (now.get(contactId) !== survivorId) throw new Collision()
}

function textOf({ kind, source, key, is_alias }: FoundKey): string {
  return [kind, source, key, is_alias].join('\n')
}

/** Locks contacts in the order of their ids. */
async function lockRows(tx: Tenant, contactIds: readonly string[], lock: Lock): Promise<ContactRow[]> {
  if (contactIds.length === 0) return []
  return rowsOf(tx, contactIds).orderBy('contact_id')[lock]().execute()
}

function rowsOf(tenant: Tenant, contactIds: readonly string[]) {
  return tenant.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', sql<string>`any(${contactIds}::uuid[])`)
}

async function loadRows(tenant: Tenant, set: ContactSet, rows: readonly ContactRow[], rawOf: readonly string[] | null) {
  const ids = rows.map(({ contact_id }) => contact_id)
  const records = await readSourceRecords(tenant, ids, rawOf)
  for (const row of rows) set.load({ row, records: records.get(row.contact_id) ?? [] })
}

async function loadVisitors(tx: Tenant, set: ContactSet, keys: Combined): Promise<void> {
  const { visitorIds, externalIds, isAlone } = keys
  const locked = [...set.contacts].map(({ row }) => row.contact_id)
  // Of several writes, one may give an id to any of the contacts, and a later one may take it away again.
  const claiming = isAlone
    ? await claimingVisitors(tx, ...claimsOf(set, externalIds))
    : await claimingVisitors(tx, externalIds, locked)
  const ids = [...visitorIds, ...claiming]
  if (ids.length === 0) return
  for (const visitor of await lockVisitors(tx, ids)) set.loadVisitor(visitor)
  // Visitors that stay where they are need no count.
  const staysWith = locked.length === 1 ? locked[0] : undefined
  if ([...set.visitors].every(({ contact_id }) => contact_id === staysWith)) return
  for (const { contact_id, ...counts } of await countVisitors(tx, locked)) set.loadVisitorCounts(contact_id, counts)
}

/** The ids that a write may give to another contact, and the contacts that have them. */
function claimsOf(set: ContactSet, externalIds: readonly string[]): [ids: string[], holderIds: string[]] {
  const holders = externalIds.flatMap((id) => set.find('external_id', id) ?? [])
  const settled = new Set(holders.filter(({ row }) => !isUnconfirmed(row)).map(({ row }) => row.external_id))
  return [externalIds.filter((id) => !settled.has(id)), holders.map(({ row }) => row.contact_id)]
}
