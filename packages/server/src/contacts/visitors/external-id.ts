import { isUuid } from '../../platform/ids.ts'
import { lock } from '../../platform/postgres/locks.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { EXTERNAL_ID, lockSurvivor, survivorOf, survivorOfContact } from '../aliases.ts'
import { findContact, lockContact } from '../change.ts'
import { type ChangeLog, changeContacts, type WriteDependencies } from '../change-log.ts'
import { CONTACT_COLUMNS, type ContactRow } from '../contact-row.ts'
import { linkVisitorsThatFit, registerVisitors } from './link.ts'

const SOURCE = 'tracker'
const CACHED_MAX = 100_000
/** Anyone can send an id that no contact has yet, so only as many visitors are read as a contact can have. */
const VISITORS_MAX = 1_000
/** Another process may have seen a newer id, so the cache is trusted only briefly. */
const TRUSTED_MS = 5_000

/** Handles the external contact id that a page sends with its events. */
export interface ExternalContactIds {
  /**
   * Links the visitor to the contact with that external user id, else with that contact_id. If there is none yet, the
   * id is stored, and the visitor is linked when one appears. An unchanged id takes effect only once: it comes with
   * every event, and must not undo a later form.
   */
  link(tenant: Tenant, visitorId: string, externalContactId: string): Promise<void>
}

export function createExternalContactIds(dependencies: WriteDependencies): ExternalContactIds {
  const handled = new Map<string, { externalContactId: string; at: number }>()
  return {
    link: async (tenant, visitorId, externalContactId) => {
      const key = `${tenant.id}/${visitorId}`
      const now = dependencies.clock().getTime()
      const known = handled.get(key)
      if (known?.externalContactId === externalContactId && now - known.at < TRUSTED_MS) return
      await linkVisitor(tenant, dependencies, visitorId, externalContactId)
      if (handled.size >= CACHED_MAX) handled.clear()
      handled.set(key, { externalContactId, at: now })
    },
  }
}

async function linkVisitor(
  tenant: Tenant,
  dependencies: WriteDependencies,
  visitorId: string,
  externalContactId: string,
): Promise<void> {
  const visitor = await tenant.db
    .selectFrom('visitors')
    .select('external_contact_id')
    .where('visitor_id', '=', visitorId)
    .executeTakeFirst()
  if (visitor?.external_contact_id === externalContactId) return
  const now = dependencies.clock()
  await registerVisitors(tenant, [visitorId], now)
  await changeContacts(tenant, dependencies, async (tx, log) => {
    await lockExternalId(tx, externalContactId)
    const contact = await lockNamed(tx, externalContactId)
    await tx.db
      .updateTable('visitors')
      .set({ external_contact_id: externalContactId })
      .where('visitor_id', '=', visitorId)
      .execute()
    if (contact) await linkVisitorsThatFit(tx, log, [visitorId], contact, SOURCE, now)
  })
}

/**
 * The contact with this external user id, else with this contact_id, or the survivor of its merge; its row is locked.
 */
async function lockNamed(tx: Tenant, externalContactId: string): Promise<ContactRow | undefined> {
  const named = await tx.db
    .selectFrom('contacts')
    .select(CONTACT_COLUMNS)
    .where('external_id', '=', externalContactId)
    .forUpdate()
    .executeTakeFirst()
  if (named) return named
  const survivorId = await lockSurvivor(tx, () => survivorOf(tx, { ...EXTERNAL_ID, key: externalContactId }))
  if (survivorId !== null) return findContact(tx, survivorId)
  if (!isUuid(externalContactId)) return undefined
  const byId = await lockContact(tx, externalContactId)
  if (byId) return byId
  const mergedInto = await lockSurvivor(tx, () => survivorOfContact(tx, externalContactId))
  return mergedInto === null ? undefined : findContact(tx, mergedInto)
}

/**
 * Links the visitors with an external id to the contact that got it: those that sent it before any contact had it, and
 * those of the contact that lost it, with their events from now on. The caller must have locked the id.
 * @returns the contact with the first touch of these visitors.
 */
export async function linkVisitorsOf(
  tx: Tenant,
  log: ChangeLog,
  externalId: string,
  { from, to }: { from: string | null; to: ContactRow },
  now: Date,
): Promise<ContactRow> {
  const visitors = await tx.db
    .selectFrom('visitors')
    .select('visitor_id')
    .where('external_contact_id', '=', externalId)
    .where(({ or, eb }) => or([eb('contact_id', 'is', null), ...(from === null ? [] : [eb('contact_id', '=', from)])]))
    .orderBy('created_at')
    .orderBy('visitor_id')
    .limit(VISITORS_MAX)
    .execute()
  const ids = visitors.map(({ visitor_id }) => visitor_id)
  return (await linkVisitorsThatFit(tx, log, ids, to, SOURCE, now)).row
}

/**
 * Serializes transactions on an external id. Otherwise a visitor that sends it and a contact that gets it concurrently
 * would not see each other.
 */
export async function lockExternalId(tx: Tenant, externalId: string): Promise<void> {
  await lock(tx.db, 'external_id', tx.id, externalId)
}
