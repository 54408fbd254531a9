import { appendSystemEvents, type SystemEvent } from '../journal/append.ts'
import type { Projector } from '../journal/projector.ts'
import { conflict, notFound, ServiceError, validationError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { linkVisitors } from '../visitors/link.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { hasTooManyKeys, mergeProperties, type Properties, type PropertyChanges } from './properties.ts'
import { recordSource } from './record-source.ts'

export interface WriteDependencies {
  clock: Clock
  projector: Projector
}

export interface NewContact {
  email: string
  properties: PropertyChanges
  visitorIds: string[]
  companyId: string | null
  source: string
}

export interface ContactChanges {
  /** null is refused: a contact that has an e-mail keeps one. */
  email?: string
  properties: PropertyChanges
  visitorIds: string[]
  /** undefined: stays as it is. */
  companyId?: string | null
  source: string
}

/**
 * Creates a contact with its source record, visitors and event, all or nothing.
 * @throws ServiceError 409 `contact_email_taken`, 400 `unknown_company`.
 */
export async function createContact(
  tenant: Tenant,
  { clock, projector }: WriteDependencies,
  contact: NewContact,
): Promise<ContactRow> {
  const now = clock()
  const { properties } = mergeProperties({}, contact.properties)
  const { row, journalRow } = await tenant.transaction(async (tx) => {
    const row = await tx.db
      .insertInto('contacts')
      .values({
        contact_id: newId(),
        email: contact.email,
        properties,
        properties_provenance: provenanceOf(['email', ...Object.keys(properties)], contact.source, now),
        company_id: contact.companyId,
        creation_source: contact.source,
        first_seen_at: now,
        created_at: now,
        updated_at: now,
      })
      .onConflict((existing) => existing.columns(['email']).doNothing())
      .returning(CONTACT_COLUMNS)
      .executeTakeFirst()
      .catch(explainUnknownCompany)
    if (!row) throw await emailTaken(tx, contact.email)
    await recordSource(tx, row.contact_id, contact.source, propertiesOf(row), now)
    await linkVisitors(tx, contact.visitorIds, row.contact_id, now)
    const data = { properties: propertiesOf(row), source: contact.source }
    const journalRow = await appendSystemEvents(tx, [
      { event: 'contact_created', at: now, contactId: row.contact_id, data },
    ])
    return { row, journalRow }
  })
  await projector.project(journalRow)
  return row
}

/**
 * Changes a contact. Sent properties are merged into the existing ones; a null removes a key.
 * @throws ServiceError 404, 409 `contact_email_taken`, 400 `unknown_company` or too many properties.
 */
export async function updateContact(
  tenant: Tenant,
  { clock, projector }: WriteDependencies,
  contactId: string,
  changes: ContactChanges,
): Promise<ContactRow> {
  const now = clock()
  const { row, journalRow } = await tenant.transaction(async (tx) => {
    const before = await tx.db
      .selectFrom('contacts')
      .select(CONTACT_COLUMNS)
      .where('contact_id', '=', contactId)
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw notFound('contact')
    const { properties, changed } = mergeProperties(before.properties as Properties, changes.properties)
    if (hasTooManyKeys(properties)) {
      throw validationError([{ path: 'properties', message: 'would give the contact more than 500 keys' }])
    }
    const email = changes.email ?? before.email
    if (email !== before.email) changed.push('email')
    const companyId = changes.companyId === undefined ? before.company_id : changes.companyId
    await linkVisitors(tx, changes.visitorIds, contactId, now)
    if (changed.length === 0 && companyId === before.company_id) return { row: before, journalRow: null }

    if (email !== null && email !== before.email) await requireFreeEmail(tx, email)
    const row = await tx.db
      .updateTable('contacts')
      .set({
        email,
        properties,
        properties_provenance: {
          ...without(before.properties_provenance as object, changed),
          ...provenanceOf(
            changed.filter((key) => key === 'email' || key in properties),
            changes.source,
            now,
          ),
        },
        company_id: companyId,
        updated_at: now,
      })
      .where('contact_id', '=', contactId)
      .returning(CONTACT_COLUMNS)
      .executeTakeFirstOrThrow()
      .catch(explainUnknownCompany)
    const sent = changes.email === undefined ? changes.properties : { ...changes.properties, email: changes.email }
    await recordSource(tx, contactId, changes.source, sent, now)
    const journalRow = await appendSystemEvents(tx, eventsOf(before, row, changed, changes.source, now))
    return { row, journalRow }
  })
  if (journalRow) await projector.project(journalRow)
  return row
}

/** Removes a contact with its notes and source records. Its events remain; its visitors become anonymous again. */
export async function deleteContact(
  tenant: Tenant,
  { clock, projector }: WriteDependencies,
  contactId: string,
): Promise<void> {
  const journalRow = await tenant.transaction(async (tx) => {
    const { numDeletedRows } = await tx.db.deleteFrom('contacts').where('contact_id', '=', contactId).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('contact')
    return appendSystemEvents(tx, [{ event: 'contact_deleted', at: clock(), contactId, data: {} }])
  })
  await projector.project(journalRow)
}

function eventsOf(before: ContactRow, after: ContactRow, changed: string[], source: string, at: Date): SystemEvent[] {
  const contactId = after.contact_id
  const updated: SystemEvent = {
    event: 'contact_updated',
    at,
    contactId,
    data: { changed, properties: propertiesOf(after), source },
  }
  const [from, to] = [before, after].map((row) => (row.properties as Properties).lifecyclestage ?? null)
  if (from === to) return [updated]
  return [updated, { event: 'lifecycle_stage_changed', at, contactId, data: { from, to, source } }]
}

function provenanceOf(keys: string[], source: string, now: Date) {
  const entry = { source, updated_at: now.toISOString() }
  return Object.fromEntries(keys.map((key) => [key, entry]))
}

function without(record: object, keys: string[]) {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !keys.includes(key)))
}

async function requireFreeEmail(tx: Tenant, email: string): Promise<void> {
  // Tried by inserting nothing: a unique violation would end the transaction before it could name the holder.
  const holder = await holderOf(tx, email)
  if (holder !== undefined) throw takenBy(holder)
}

async function emailTaken(tx: Tenant, email: string): Promise<ServiceError> {
  return takenBy((await holderOf(tx, email)) ?? '')
}

async function holderOf(tx: Tenant, email: string): Promise<string | undefined> {
  const holder = await tx.db.selectFrom('contacts').select('contact_id').where('email', '=', email).executeTakeFirst()
  return holder?.contact_id
}

function takenBy(contactId: string): ServiceError {
  const message = 'A contact with this email exists already. Update that contact instead.'
  return conflict('contact_email_taken', message, [{ path: 'contact_id', message: contactId }])
}

const FOREIGN_KEY_VIOLATION = '23503'
const UNIQUE_VIOLATION = '23505'

function explainUnknownCompany(error: Error & { code?: string; constraint?: string }): never {
  if (error.code === FOREIGN_KEY_VIOLATION && error.constraint?.includes('company')) {
    const details = [{ path: 'company_id', message: 'is not the id of a company of yours' }]
    throw new ServiceError(400, 'unknown_company', 'There is no company with this company_id.', { details })
  }
  // Two requests took the same e-mail at the same moment, and the other one was first.
  if (error.code === UNIQUE_VIOLATION && error.constraint?.includes('email')) throw takenBy('')
  throw error
}
