import { isTelling } from '../contacts/compared-values.ts'
import type { Outbox } from '../contacts/writing/transaction.ts'
import { isOfOpenTenant } from '../platform/closed-tenants.ts'
import { TENANTS_AT_ONCE, workOnDue } from '../platform/due-rows.ts'
import type { Repeated } from '../platform/every.ts'
import type { Logger } from '../platform/log.ts'
import { openTenant, type Stores } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { checkSome } from './find.ts'

/** Has the duplicates of changed contacts looked for. */
export const duplicateChecks: Outbox = {
  note: async (tx, changed) => {
    const rows = [...changed].flatMap(([contact_id, keys]) =>
      keys === 'everything' || keys.values().some(isTelling) ? { contact_id } : [],
    )
    if (rows.length > 0) await tx.db.insertInto('duplicate_checks').values(rows).execute()
  },
}

/** Looks for the duplicates of contacts that changed. Several processes may do so at the same time. */
export function startDuplicateWorkers({ stores, clock, log }: { stores: Stores; clock: Clock; log: Logger }): Repeated {
  return workOnDue({
    readDue: () =>
      stores.database
        .selectFrom('duplicate_checks')
        .select('tenant_id')
        .distinct()
        .where(isOfOpenTenant(stores))
        .limit(TENANTS_AT_ONCE)
        .execute(),
    work: ({ tenant_id }) => checkSome(openTenant(stores, tenant_id), clock()),
    noun: 'a search for duplicates',
    log,
  })
}
