import type { QueryCreator } from 'kysely'
import type { SystemEvent } from '../journal/append.ts'
import { ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { Tenant } from '../platform/tenant.ts'
import { EMAIL, EXTERNAL_ID, emailTaken, lockSurvivor, survivorOf } from './aliases.ts'
import { applyWrite, blankContact, wantsEmail } from './apply-write.ts'
import type { ChangeLog } from './change-log.ts'
import { CONTACT_COLUMNS, type ContactRow, changedKeys, propertiesOf } from './contact-row.ts'
import type { Properties } from './properties.ts'
import { readSourceRecords, type SourceRecord, storeSourceRecords, storing } from './record-source.ts'
import { fitInEvent } from './size.ts'
import type { SourceWrite } from './source-write.ts'

/** The keys of a contact: an email address, the id of the customer's own system, or neither. */
export interface ContactKeys {
  email: string | null
  externalId: string | null
  /** Only a page has sent the external id of this contact. */
  isProvisional?: boolean
}

/**
 * Creates a contact with its source record.
 * @returns null if a contact with one of the keys exists or was merged into another; then end the transaction.
 * @throws ServiceError 400 `unknown_company` or too many properties, 413 `contact_too_large`; then nothing is written.
 */
export async function insertContact(
  tx: Tenant,
  log: ChangeLog,
  keys: ContactKeys,
  write: SourceWrite,
  now: Date,
): Promise<ContactRow | null> {
  const blank = blankContact(newId(), keys.externalId, write.source, now)
  const complete = keys.email === null ? write : { ...write, email: keys.email }
  const { row: values, record, ignored } = applyWrite(blank, [], complete, keys.email, now)
  const row = await tx.db
    .insertInto('contacts')
    .values({ ...values, external_id_provisional: keys.isProvisional ?? false })
    .onConflict((existing) => existing.doNothing())
    .returning(CONTACT_COLUMNS)
    .executeTakeFirst()
    .catch(explainUnknownCompany)
  if (!row || (await isAlias(storingRecord(tx, row.contact_id, record), keys))) return null
  log.ignored.push(...ignored)
  log.events.push(createdEvent(row, write.source, now))
  log.noteChange(row.contact_id, 'everything')
  return row
}

/** Checked after the insertion, which waits for a merge in progress of the contact that had the key. */
async function isAlias(db: QueryCreator<TenantTables>, { email, externalId }: ContactKeys): Promise<boolean> {
  const keys = [
    ...(email === null ? [] : [{ ...EMAIL, key: email }]),
    ...(externalId === null ? [] : [{ ...EXTERNAL_ID, key: externalId }]),
  ]
  const alias = await db
    .selectFrom('contact_aliases')
    .innerJoin('contact_merges', 'contact_merges.contact_id', 'contact_aliases.contact_id')
    .select('contact_aliases.contact_id')
    .where(({ or, and }) => or(keys.map((key) => and(key))))
    .executeTakeFirst()
  return alias !== undefined
}

/**
 * Writes a source's values to a contact, whose row the caller has locked. `applyWrite` decides which values win.
 * @throws ServiceError 409 `contact_email_taken`, 400 `unknown_company` or too many properties, 413
 * `contact_too_large`; then nothing is written.
 */
export async function changeContact(
  tx: Tenant,
  log: ChangeLog,
  before: ContactRow,
  write: SourceWrite,
  now: Date,
): Promise<ContactRow> {
  const contactId = before.contact_id
  const [records = []] = (await readSourceRecords(tx, [contactId], write.source)).values()
  const email = wantsEmail(before, write) ? await emailAfter(tx, before, write) : before.email
  const applied = applyWrite(before, records, write, email, now)
  const { changed, isNews, isRowDirty, ignored } = applied
  log.ignored.push(...ignored)

  const record = hasContent(write) ? applied.record : null
  let row = before
  if (isRowDirty) {
    row = await storeChange(tx, applied.row, record).catch(explainUnknownCompany)
    log.noteChange(contactId, changedKeys(before, row))
  } else if (record) {
    await storeSourceRecords(tx, new Map([[contactId, record]]))
  }
  if (isNews) log.events.push(...changedEvents(before, row, changed, write.source, now))
  return row
}

/** Stores a changed contact, whose row the caller has locked, with the new record of the source that changed it. */
export async function storeChange(tx: Tenant, after: ContactRow, record: SourceRecord | null): Promise<ContactRow> {
  const { contact_id, email, properties, properties_provenance, company_id } = after
  const { first_seen_at, updated_at, enriched_at } = after
  return storingRecord(tx, contact_id, record)
    .updateTable('contacts')
    .set({ email, properties, properties_provenance, company_id, first_seen_at, updated_at, enriched_at })
    .where('contact_id', '=', contact_id)
    .returning(CONTACT_COLUMNS)
    .executeTakeFirstOrThrow()
}

/** A contact as stored. */
export async function findContact(tenant: Tenant, contactId: string): Promise<ContactRow | undefined> {
  return tenant.db.selectFrom('contacts').select(CONTACT_COLUMNS).where('contact_id', '=', contactId).executeTakeFirst()
}

/** Locks a contact for a change. */
export async function lockContact(tx: Tenant, contactId: string): Promise<ContactRow | undefined> {
  return tx.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('contact_id', '=', contactId)
    .forUpdate()
    .executeTakeFirst()
}

/** Locks the contact with an email, or the survivor of the one that had it. */
export async function lockContactOfEmail(tx: Tenant, email: string): Promise<ContactRow | undefined> {
  const existing = await tx.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('email', '=', email)
    .forUpdate()
    .executeTakeFirst()
  if (existing) return existing
  const survivorId = await lockSurvivor(tx, () => survivorOf(tx, { ...EMAIL, key: email }))
  return survivorId === null ? undefined : findContact(tx, survivorId)
}

/** The contact with an email, or the survivor of the one that had it. */
export async function contactOfEmail(tenant: Tenant, email: string): Promise<string | null> {
  const existing = await tenant.db
    .selectFrom('contacts')
    .select('contact_id')
    .where('email', '=', email)
    .executeTakeFirst()
  return existing?.contact_id ?? (await survivorOf(tenant, { ...EMAIL, key: email }))
}

/** The event of a new contact. */
export function createdEvent(row: ContactRow, source: string, at: Date): SystemEvent {
  const data = { ...propertiesInEvent(row), source }
  return { event: 'contact_created', at, contactId: row.contact_id, data }
}

/** The events of a change of a contact. */
export function changedEvents(
  before: ContactRow,
  after: ContactRow,
  changed: readonly string[],
  source: string,
  at: Date,
): SystemEvent[] {
  const contactId = after.contact_id
  const updated: SystemEvent = {
    event: 'contact_updated',
    at,
    contactId,
    data: { changed, ...propertiesInEvent(after), source },
  }
  const [from, to] = [before, after].map((row) => (row.properties as Properties).lifecyclestage ?? null)
  if (from === to) return [updated]
  return [updated, { event: 'lifecycle_stage_changed', at, contactId, data: { from, to, source } }]
}

/** The most properties in an event; readers that need more can read the contact. */
function propertiesInEvent(row: ContactRow): { properties: Properties } | { properties_omitted: true } {
  const properties = propertiesOf(row)
  return fitInEvent(properties) ? { properties } : { properties_omitted: true }
}

function hasContent({ properties, email, externalId, raw }: SourceWrite): boolean {
  return Object.keys(properties).length > 0 || email !== undefined || externalId !== undefined || raw !== undefined
}

/** Starts a statement that also stores the source's record, because a second statement would double the time. */
function storingRecord(tx: Tenant, contactId: string, record: SourceRecord | null): QueryCreator<TenantTables> {
  if (!record) return tx.db
  const records = new Map([[contactId, record]])
  return tx.db.with('stored_record', (db) => storing(db, records)) as unknown as QueryCreator<TenantTables>
}

/** The email of a write, or the current one if another contact has it. By hand, that is an error. */
async function emailAfter(
  tx: Tenant,
  before: ContactRow,
  { kind, email }: SourceWrite & { email: string },
): Promise<string | null> {
  // Checked first: a unique violation would end the transaction before the other contact could be named.
  const otherId = await contactOfEmail(tx, email)
  if (otherId === null || otherId === before.contact_id) return email
  if (kind === 'manual') throw emailTaken(otherId)
  return before.email
}

const FOREIGN_KEY_VIOLATION = '23503'

function explainUnknownCompany(error: Error & { code?: string; constraint?: string }): never {
  if (error.code === FOREIGN_KEY_VIOLATION && error.constraint?.includes('company')) {
    const details = [{ path: 'company_id', message: 'is not the id of one of your companies' }]
    throw new ServiceError(400, 'unknown_company', 'There is no company with this company_id.', { details })
  }
  throw error
}
