import type { FirstTouch } from '../../contacts/writing/first-touch.ts'
import { createFirstTouchWatch } from '../../contacts/writing/first-touch-watch.ts'
import type { WriteServices } from '../../contacts/writing/writer.ts'
import type { EventGroup } from '../../journal/event-record.ts'
import type { GroupCommit } from '../../journal/group-commit.ts'
import type { Tenant } from '../../platform/tenant.ts'

/**
 * Records the events of a request, once their people are written, and updates the first touches of their contacts. When it
 * returns, the events are durable.
 * @param touches the first touches of contacts that the caller has read or written.
 * @throws ServiceError 503 if a database is unavailable; then nothing is recorded.
 */
export type RecordEvents = (
  tenant: Tenant,
  groups: readonly EventGroup[],
  touches?: ReadonlyMap<string, FirstTouch>,
) => Promise<void>

export function createEventRecorder(
  dependencies: WriteServices & { groupCommit: Pick<GroupCommit, 'record'> },
): RecordEvents {
  const { groupCommit, log } = dependencies
  const watchFirstTouch = createFirstTouchWatch(dependencies)
  return async (tenant, groups, touches) => {
    if (groups.length === 0) return
    await groupCommit.record(groups)
    const events = groups.flatMap((group) => group.events)
    // The events are recorded, so a failure from here on must not make the sender repeat them.
    await watchFirstTouch(tenant, events, touches).catch((error: unknown) =>
      log.warn({ err: error }, "contacts' first touches could not be recorded"),
    )
  }
}
