import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import * as foundation from './migrations/0001-foundation.ts'
import * as identification from './migrations/0002-identification.ts'
import * as companiesAndSources from './migrations/0003-companies-and-sources.ts'
import * as segments from './migrations/0004-segments.ts'
import * as webhooks from './migrations/0005-webhooks.ts'
import * as identities from './migrations/0006-identities.ts'
import * as agents from './migrations/0007-agents.ts'
import * as mail from './migrations/0008-mail.ts'
import * as conversations from './migrations/0009-conversations.ts'
import * as social from './migrations/0010-social.ts'
import * as actions from './migrations/0011-actions.ts'
import * as dashboardUsers from './migrations/0012-dashboard-users.ts'
import * as dashboard from './migrations/0013-dashboard.ts'
import * as linksAndGrowth from './migrations/0014-links-and-growth.ts'
import * as heldCosts from './migrations/0016-held-costs.ts'
import * as webhookQueue from './migrations/0017-webhook-queue.ts'
import * as webhookBatches from './migrations/0018-webhook-batches.ts'
import * as webhookQueueMoves from './migrations/0019-webhook-queue-moves.ts'
import * as provedAddresses from './migrations/0020-proved-addresses.ts'
import * as verifiedIdentification from './migrations/0022-verified-identification.ts'
import * as bounds from './migrations/0023-bounds.ts'
import * as operations from './migrations/0024-operations.ts'
import * as accountsByAddress from './migrations/0025-accounts-by-address.ts'
import * as sendersOfEventIds from './migrations/0029-senders-of-event-ids.ts'
import * as skippedActions from './migrations/0031-skipped-actions.ts'
import * as leasedDeliveries from './migrations/0032-leased-deliveries.ts'
import * as foldedSearch from './migrations/0033-folded-search.ts'
import * as segmentEventHolders from './migrations/0034-segment-event-holders.ts'
import * as merges from './migrations/0035-merges.ts'
import * as batches from './migrations/0036-batches.ts'
import * as idempotencyKeys from './migrations/0037-idempotency-keys.ts'
import * as webhookCalls from './migrations/0038-webhook-calls.ts'

const MIGRATIONS: Record<string, Migration> = {
  '0001-foundation': foundation,
  '0002-identification': identification,
  '0003-companies-and-sources': companiesAndSources,
  '0004-segments': segments,
  '0005-webhooks': webhooks,
  '0006-identities': identities,
  '0007-agents': agents,
  '0008-mail': mail,
  '0009-conversations': conversations,
  '0010-social': social,
  '0011-actions': actions,
  '0012-dashboard-users': dashboardUsers,
  '0013-dashboard': dashboard,
  '0014-links-and-growth': linksAndGrowth,
  '0016-held-costs': heldCosts,
  '0017-webhook-queue': webhookQueue,
  '0018-webhook-batches': webhookBatches,
  '0019-webhook-queue-moves': webhookQueueMoves,
  '0020-proved-addresses': provedAddresses,
  '0022-verified-identification': verifiedIdentification,
  '0023-bounds': bounds,
  '0024-operations': operations,
  '0025-accounts-by-address': accountsByAddress,
  '0029-senders-of-event-ids': sendersOfEventIds,
  '0031-skipped-actions': skippedActions,
  '0032-leased-deliveries': leasedDeliveries,
  '0033-folded-search': foldedSearch,
  '0034-segment-event-holders': segmentEventHolders,
  '0035-merges': merges,
  '0036-batches': batches,
  '0037-idempotency-keys': idempotencyKeys,
  '0038-webhook-calls': webhookCalls,
}

/** An arbitrary number that no other program uses; both databases are migrated under this lock. */
const MIGRATION_LOCK = 7_300_417_202_611

/**
 * Runs `work` under the migration lock; other processes wait. It is PostgreSQL's session lock, so a crash releases it.
 */
export async function withMigrationLock<T, Tables>(db: Kysely<Tables>, work: () => Promise<T>): Promise<T> {
  return db.connection().execute(async (connection) => {
    await sql`SELECT pg_advisory_lock(${MIGRATION_LOCK})`.execute(connection)
    try {
      return await work()
    } finally {
      await sql`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`.execute(connection)
    }
  })
}

/** Runs pending migrations of PostgreSQL. @returns their names. */
export async function migratePostgres<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } })
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw error
  return (results ?? []).map((result) => result.migrationName)
}
