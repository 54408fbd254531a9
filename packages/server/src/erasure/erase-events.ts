import { deleteFromSets } from '../contact-sets/erase.ts'
import { mentionHint, mentionPattern } from '../contacts/erasure-subject.ts'
import { deleteEvents } from '../events/erase.ts'
import { type Concerned, deleteRefusedEvents, hasJournalRow } from '../journal/erase.ts'
import type { Projector } from '../journal/projector.ts'
import { deleteLinks } from '../owners/erase.ts'
import { ownersOf } from '../owners/owners.ts'
import type { ClickHouse } from '../platform/clickhouse/connect.ts'
import { storeUnavailable } from '../platform/errors.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { ErasureSubject } from '../platform/postgres/table-rules.ts'
import type { Tenant } from '../platform/tenant.ts'

/** Deletes the events of a person from ClickHouse and the journal, and its copies in sets of contacts. */
export interface EventEraser {
  /**
   * @returns the number of events found. @throws ServiceError 503 if ClickHouse is down, so that nothing is skipped
   * silently.
   */
  erase(
    tenant: Tenant,
    subject: ErasureSubject,
    onFound: (events: number) => Promise<void>,
  ): Promise<{ refused_events: number }>
  /** Deletes the links of the events' owners. */
  deleteLinks(tenant: Tenant, contactId: string): Promise<void>
}

export function createEventEraser({
  database,
  clickhouse,
  cluster,
  projector,
}: {
  database: Database
  clickhouse: ClickHouse
  cluster: string | null
  projector: Projector
}): EventEraser {
  const deletion = { clickhouse, cluster }

  /**
   * Projects the rest of the journal to ClickHouse, where single events can be deleted: a journal row has the events of
   * many people.
   */
  async function emptyJournal(tenantId: string, concerned: Concerned): Promise<void> {
    await projector.drain()
    // Events of the person's visitors contain neither the id nor the address, so rows with them may remain.
    await projector.barrier(tenantId)
    if (await hasJournalRow(database, concerned))
      throw storeUnavailable('ClickHouse', new Error('the journal still has events of the contact'))
  }

  return {
    erase: async (tenant, { contactId, email }, onFound) => {
      const owners = await ownersOf(tenant, [contactId])
      const mention = email === null ? null : { hint: mentionHint(email), pattern: mentionPattern(email) }
      const concerned = { ids: owners, pattern: mention?.pattern ?? null }
      await emptyJournal(tenant.id, concerned)
      await deleteFromSets(deletion, tenant.id, contactId)
      await onFound(await deleteEvents(deletion, tenant.id, owners, mention))
      return { refused_events: await deleteRefusedEvents(database, tenant.id, concerned) }
    },
    deleteLinks: (tenant, contactId) => deleteLinks(deletion, tenant, contactId),
  }
}
