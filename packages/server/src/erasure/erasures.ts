import { createHash, randomBytes } from 'node:crypto'
import { type Selectable, sql } from 'kysely'
import Type from 'typebox'
import { type Alias, aliasesOf, EXTERNAL_ID, missingContact, namedContact } from '../contacts/aliases.ts'
import { mergedContacts } from '../contacts/erase.ts'
import { lockContact } from '../contacts/locks.ts'
import { visitorsOf } from '../contacts/visitors/erase.ts'
import { keysOfAlias, keysOfContact } from '../conversations/participants.ts'
import { countEvents } from '../events/list.ts'
import { type Actor, NamedActor } from '../operations/audit.ts'
import { conflict, notFound } from '../platform/errors.ts'
import { offsetOf, type Page } from '../platform/http/pagination.ts'
import { ContactId, Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { newId } from '../platform/ids.ts'
import { WORD } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import { queued, type RunRows, wakeWorkers } from '../platform/runs/run.ts'
import type { Tenant } from '../platform/tenant.ts'

export const ERASURE_ROWS: RunRows<'erasures'> = { table: 'erasures', id: 'erasure_id', lease: 'erasure' }

/** Proof that a contact was erased: counts without personal data. */
export const Receipt = Type.Object(
  {
    erasure_id: Id,
    contact_id: ContactId,
    /** `verified`: a second run, after everything in flight had arrived, has erased what was left. */
    status: Type.Unsafe<'running' | 'erased' | 'verified'>({ type: 'string', enum: ['running', 'erased', 'verified'] }),
    at: Timestamp,
    erased_at: Nullable(Timestamp),
    verified_at: Nullable(Timestamp),
    requested_by: Nullable(NamedActor),
    /** SHA-256 of `salt:address`; null if the address was not known. */
    email_hash: Nullable(Type.Object({ salt: Type.String(WORD), sha256: Type.String(WORD) })),
    /** Number of rows removed, by kind. */
    removed: Type.Record(Type.String(), Type.Integer()),
  },
  { title: 'ErasureReceipt' },
)
export type Receipt = Type.Static<typeof Receipt>

/**
 * Requests the erasure of a contact and of those merged into it, in the caller's transaction. A repeated request returns
 * the first erasure.
 * @throws ServiceError 404 for a contact that does not exist and never did.
 */
export async function requestErasure(
  tx: Tenant,
  contactId: string,
  actor: Actor,
  now: Date,
): Promise<{ erasureId: string; isNew: boolean }> {
  const subject = await subjectOf(tx, contactId)
  const known = await tx.db
    .selectFrom('erasures')
    .select('erasure_id')
    .where('contact_id', '=', contactId)
    .executeTakeFirst()
  if (known) return { erasureId: known.erasure_id, isNew: false }
  if (!subject) throw await missingContact(tx, contactId)
  for (const merged of await mergedSubjects(tx, contactId)) await insertErasure(tx, merged, actor, now)
  return insertErasure(tx, subject, actor, now)
}

async function insertErasure(tx: Tenant, subject: ErasureSubject, actor: Actor, now: Date) {
  const { contactId, email } = subject
  const hashed = email === null ? null : saltedHash(email)
  const row = await tx.db
    .insertInto('erasures')
    .values({
      erasure_id: newId(),
      contact_id: contactId,
      ...queued(),
      subject: JSON.stringify(subject),
      email_salt: hashed?.salt ?? null,
      email_hash: hashed?.hash ?? null,
      requested_by: JSON.stringify(actor),
      requested_at: now,
    })
    .onConflict((known) => known.columns(['contact_id']).doUpdateSet({ contact_id: contactId }))
    .returning(['erasure_id', sql<boolean>`(xmax = 0)`.as('is_new')])
    .executeTakeFirstOrThrow()
  if (row.is_new) await wakeWorkers(tx)
  return { erasureId: row.erasure_id, isNew: row.is_new }
}

/** The merged contacts, each with its own erasure. Their visitors belong to the survivor. */
async function mergedSubjects(tx: Tenant, contactId: string): Promise<ErasureSubject[]> {
  const merged = await mergedContacts(tx, contactId)
  return merged.map(({ aliases, ...contact }) => ({
    ...contact,
    visitorIds: [],
    keys: aliases.flatMap(keysOfAlias),
    externalIds: externalIdsOf(aliases),
  }))
}

function externalIdsOf(aliases: readonly Alias[]): string[] {
  return aliases.filter(({ kind }) => kind === EXTERNAL_ID.kind).map(({ key }) => key)
}

/** The contact may already be deleted while its events still exist. */
async function subjectOf(tx: Tenant, contactId: string): Promise<ErasureSubject | null> {
  // Locked, so that a concurrent merge either commits first or sees this erasure.
  const contact = await lockContact(tx, contactId)
  const events = contact ? 1 : await countEvents(tx, { contact_id: contactId, includeSystem: true })
  if (events === 0) return null
  const external_id = contact?.external_id ?? null
  return {
    contactId,
    email: contact?.email ?? null,
    visitorIds: await visitorsOf(tx, contactId),
    keys: await keysOfContact(tx, contactId),
    externalIds: [...(external_id === null ? [] : [external_id]), ...externalIdsOf(await aliasesOf(tx, contactId))],
  }
}

/** @throws ServiceError 404. */
export async function readReceipt(tenant: Tenant, erasureId: string): Promise<Receipt> {
  const row = await tenant.db.selectFrom('erasures').selectAll().where('erasure_id', '=', erasureId).executeTakeFirst()
  if (!row) throw notFound('erasure')
  return toReceipt(row)
}

/** One page of the erasures, newest first, and the total. */
export async function listReceipts(tenant: Tenant, page: Page): Promise<{ erasures: Receipt[]; total: number }> {
  const [rows, counted] = await Promise.all([
    tenant.db
      .selectFrom('erasures')
      .selectAll()
      .orderBy('requested_at', 'desc')
      .orderBy('erasure_id', 'desc')
      .limit(page.limit)
      .offset(offsetOf(page))
      .execute(),
    tenant.db
      .selectFrom('erasures')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
  ])
  return { erasures: rows.map(toReceipt), total: counted.count }
}

function toReceipt(row: Selectable<TenantTables['erasures']>): Receipt {
  const actor = row.requested_by as Actor
  return {
    erasure_id: row.erasure_id,
    contact_id: row.contact_id,
    status: row.status === 'completed' ? 'verified' : row.erased_at === null ? 'running' : 'erased',
    at: row.requested_at.toISOString(),
    erased_at: row.erased_at?.toISOString() ?? null,
    verified_at: row.finished_at?.toISOString() ?? null,
    requested_by: 'id' in actor ? { id: actor.id, name: actor.name } : null,
    email_hash:
      row.email_salt === null || row.email_hash === null ? null : { salt: row.email_salt, sha256: row.email_hash },
    removed: row.removed as Receipt['removed'],
  }
}

/** Rejects merges and unmerges during an erasure: records must not move while it deletes them. */
export async function refuseWhileErasing(tx: Tenant, contactIds: readonly string[]): Promise<void> {
  const erasure = await tx.db
    .selectFrom('erasures')
    .select('contact_id')
    .where('contact_id', 'in', contactIds)
    .where('erased_at', 'is', null)
    .executeTakeFirst()
  if (!erasure) return
  const message = `Contact ${erasure.contact_id} is being erased, so it cannot be merged or unmerged.`
  throw conflict('erasure_under_way', message, namedContact(erasure.contact_id))
}

/** With the salt, a known address can be checked against the hash later; the hash does not reveal the address. */
export function saltedHash(email: string): { salt: string; hash: string } {
  const salt = randomBytes(16).toString('hex')
  return { salt, hash: emailHash(salt, email) }
}

export function emailHash(salt: string, email: string): string {
  return createHash('sha256').update(`${salt}:${email}`).digest('hex')
}

/** Contacts that were erased since a time, or whose erasure is in progress. */
export async function erasedSince(tenant: Tenant, since: Date): Promise<string[]> {
  const rows = await tenant.db
    .selectFrom('erasures')
    .select('contact_id')
    .where(({ eb, or }) => or([eb('erased_at', 'is', null), eb('erased_at', '>=', since)]))
    .orderBy(sql`requested_at`)
    .execute()
  return rows.map(({ contact_id }) => contact_id)
}
