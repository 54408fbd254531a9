import type { SystemEvent } from '../journal/append.ts'
import { conflict, ServiceError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { ChangeLog } from './change-log.ts'
import { CONTACT_COLUMNS, type ContactRow, propertiesOf } from './contact-row.ts'
import { FIRST_TOUCH_KEYS } from './first-touch-keys.ts'
import { mergeProperties, type Properties, type PropertyChanges, requireFewKeys } from './properties.ts'
import { recordSource, type SourceKind } from './record-source.ts'

/** What one source says of a contact. */
export interface SourceWrite {
  source: string
  kind: SourceKind
  /** The id by which the source itself knows the contact. */
  externalId?: string
  /** The source's record as it came. */
  raw?: unknown
  email?: string
  properties: PropertyChanges
  /** undefined: stays as it is. */
  companyId?: string | null
}

/** What identifies a contact: an e-mail address, the id that the customer's own system gave, or neither. */
export interface ContactKeys {
  email: string | null
  externalId: string | null
}

/**
 * Creates a contact with its source record.
 * @returns null when a contact with one of the keys exists.
 * @throws ServiceError 400 `unknown_company`.
 */
export async function insertContact(
  tx: Tenant,
  log: ChangeLog,
  keys: ContactKeys,
  write: SourceWrite,
  now: Date,
): Promise<ContactRow | null> {
  const { properties } = mergeProperties({}, write.properties)
  requireFewKeys(properties, 'contact')
  const provided = [...(keys.email === null ? [] : ['email']), ...Object.keys(properties)]
  const row = await tx.db
    .insertInto('contacts')
    .values({
      contact_id: newId(),
      email: keys.email,
      external_id: keys.externalId,
      properties,
      properties_provenance: provenanceOf(provided, write.source, now),
      company_id: write.companyId ?? null,
      creation_source: write.source,
      first_seen_at: now,
      created_at: now,
      updated_at: now,
      enriched_at: write.kind === 'enrichment' ? now : null,
    })
    .onConflict((existing) => existing.doNothing())
    .returning(CONTACT_COLUMNS)
    .executeTakeFirst()
    .catch(explainUnknownCompany)
  if (!row) return null
  await recordSource(tx, row.contact_id, { ...write, properties: propertiesOf(row) }, now)
  const data = { properties: propertiesOf(row), source: write.source }
  log.events.push({ event: 'contact_created', at: now, contactId: row.contact_id, data })
  log.changed.add(row.contact_id)
  return row
}

/**
 * Lets a source change a contact, whose row the caller has locked. The latest write wins; an enrichment source fills
 * blanks only, and first-touch values once written are changed by hand only.
 * @throws ServiceError 409 `contact_email_taken`, 400 `unknown_company` or too many properties.
 */
export async function changeContact(
  tx: Tenant,
  log: ChangeLog,
  before: ContactRow,
  write: SourceWrite,
  now: Date,
): Promise<ContactRow> {
  const { properties, changed } = mergeProperties(before.properties as Properties, winningChanges(before, write))
  requireFewKeys(properties, 'contact')
  const email = write.email ?? before.email
  if (email !== before.email) changed.push('email')
  const companyId = write.companyId === undefined ? before.company_id : write.companyId
  const sent = write.email === undefined ? write.properties : { ...write.properties, email: write.email }
  const isNews = changed.length > 0 || companyId !== before.company_id
  if (Object.keys(sent).length > 0 || write.externalId !== undefined) {
    await recordSource(tx, before.contact_id, { ...write, properties: sent }, now)
  }
  if (!isNews && write.kind !== 'enrichment') return before

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
          write.source,
          now,
        ),
      },
      company_id: companyId,
      ...(isNews ? { updated_at: now } : {}),
      ...(write.kind === 'enrichment' ? { enriched_at: now } : {}),
    })
    .where('contact_id', '=', before.contact_id)
    .returning(CONTACT_COLUMNS)
    .executeTakeFirstOrThrow()
    .catch(explainUnknownCompany)
  log.changed.add(row.contact_id)
  if (isNews) log.events.push(...eventsOf(before, row, changed, write.source, now))
  return row
}

/** A contact as it is stored. */
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

/** What of a source's values becomes the contact's. */
function winningChanges(before: ContactRow, write: SourceWrite): PropertyChanges {
  const properties = before.properties as Properties
  const provenance = before.properties_provenance as Record<string, { source: string } | undefined>
  const isKept = (key: string) => {
    if (!(key in properties)) return false
    if (write.kind === 'enrichment') return provenance[key]?.source !== write.source
    return write.source !== 'manual' && FIRST_TOUCH_KEYS.includes(key)
  }
  return Object.fromEntries(Object.entries(write.properties).filter(([key]) => !isKept(key)))
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
  // Asked first: a unique violation would end the transaction before it could name the holder.
  const holder = await tx.db.selectFrom('contacts').select('contact_id').where('email', '=', email).executeTakeFirst()
  if (holder) throw emailTaken(holder.contact_id)
}

/** 409: the e-mail address belongs to that contact. */
export function emailTaken(contactId: string): ServiceError {
  const message = 'A contact with this email exists already. Update that contact instead.'
  return conflict('contact_email_taken', message, [{ path: 'contact_id', message: contactId }])
}

const FOREIGN_KEY_VIOLATION = '23503'

function explainUnknownCompany(error: Error & { code?: string; constraint?: string }): never {
  if (error.code === FOREIGN_KEY_VIOLATION && error.constraint?.includes('company')) {
    const details = [{ path: 'company_id', message: 'is not the id of a company of yours' }]
    throw new ServiceError(400, 'unknown_company', 'There is no company with this company_id.', { details })
  }
  throw error
}
