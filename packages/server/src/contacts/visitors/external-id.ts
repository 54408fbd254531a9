import { isUuid } from '../../platform/ids.ts'
import type { Tenant } from '../../platform/tenant.ts'
import { linkVisitorsThatFit } from '../writing/visitors.ts'
import type { Write } from '../writing/write.ts'
import type { WriteServices } from '../writing/writer.ts'

const CACHED_MAX = 100_000
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

export function createExternalContactIds({
  writer,
  clock,
}: Pick<WriteServices, 'writer' | 'clock'>): ExternalContactIds {
  const handled = new Map<string, { externalContactId: string; at: number }>()
  return {
    link: async (tenant, visitorId, externalContactId) => {
      const key = `${tenant.id}/${visitorId}`
      const now = clock().getTime()
      const known = handled.get(key)
      if (known?.externalContactId === externalContactId && now - known.at < TRUSTED_MS) return
      if (!(await isKnown(tenant, visitorId, externalContactId))) {
        await writer.write(tenant, claimOf(visitorId, externalContactId))
      }
      if (handled.size >= CACHED_MAX) handled.clear()
      handled.set(key, { externalContactId, at: now })
    },
  }
}

async function isKnown(tenant: Tenant, visitorId: string, externalContactId: string): Promise<boolean> {
  const visitor = await tenant.db
    .selectFrom('visitors')
    .select('external_contact_id')
    .where('visitor_id', '=', visitorId)
    .executeTakeFirst()
  return visitor?.external_contact_id === externalContactId
}

/**
 * Links a visitor to the contact with this external user id, else to the one with this contact_id, or the survivor of its
 * merge.
 */
function claimOf(visitorId: string, externalContactId: string): Write<void> {
  const contactId = isUuid(externalContactId) ? externalContactId.toLowerCase() : ''
  return {
    keys: {
      externalIds: [externalContactId],
      contactIds: contactId === '' ? [] : [contactId],
      visitorIds: [visitorId],
    },
    apply(set, { now }) {
      set.claim(visitorId, externalContactId)
      const byId = set.contact(contactId) ?? set.survivorOf(contactId)
      const contact = set.find('external_id', externalContactId) ?? byId
      if (contact) linkVisitorsThatFit(set, [visitorId], contact, 'tracker', now)
    },
  }
}
