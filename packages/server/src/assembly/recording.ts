import { tenantsOfRefusedHost } from '../access/domains.ts'
import type { FindIdentificationKeys } from '../access/identification-settings.ts'
import { executedText } from '../agents/actions/read.ts'
import { cacheReacting } from '../agents/triggers/append.ts'
import { keepCompany } from '../companies/write.ts'
import { createComputedChecks, prepareChecks } from '../computed/checks.ts'
import { cacheComputed } from '../computed/definitions.ts'
import { createActivityOutbox } from '../connectors/activities/outbox.ts'
import { createOutbox } from '../connectors/write-back/outbox.ts'
import { visitorStatements } from '../contacts/visitors/flush.ts'
import { createWriter, type WriteServices } from '../contacts/writing/writer.ts'
import { duplicateChecks } from '../duplicates/checks.ts'
import { createEnrichment } from '../enrichment/enrich.ts'
import type { FindEnrichmentSettings } from '../enrichment/settings.ts'
import { startVisitPlaces } from '../enrichment/visit-places.ts'
import { startEventIdCleanup } from '../journal/event-ids.ts'
import { createGroupCommit } from '../journal/group-commit.ts'
import { startLiveFeed } from '../live/feed.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import type { FindIgnoredIds } from '../platform/ids-of-nobody.ts'
import type { Logger } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { PlaceOf } from '../platform/places.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { Clock } from '../platform/time.ts'
import { watchSegments } from '../segments/watch.ts'
import { createCallRecorder } from '../sites/ingestion/record-calls.ts'
import { startProblemRecorder } from '../sites/problems/record.ts'
import { startSourceUsage } from '../sources/usage.ts'
import { createAppend, prepareConsequences } from './append.ts'
import type { Engines } from './engines.ts'
import { TABLES } from './tables.ts'

/**
 * Starts what records events, changes of contacts, and the usage and problems of sources; and what follows them: segments
 * and the live feed.
 */
export async function startRecording({
  engines,
  invalidation,
  clock,
  log,
  metrics,
  findIdentificationKeys,
  findIgnoredIds,
  findEnrichmentSettings,
  placeOf,
  hasOthers,
}: {
  engines: Engines
  invalidation: Invalidation
  clock: Clock
  log: Logger
  metrics: Metrics
  findIdentificationKeys: FindIdentificationKeys
  findIgnoredIds: FindIgnoredIds
  findEnrichmentSettings: FindEnrichmentSettings
  placeOf: PlaceOf
  /** Whether other processes may record events too. */
  hasOthers: boolean
}) {
  const { stores, postgres, projector } = engines
  const cleanup: Cleanup = []
  const stop = () => undoAll(cleanup)
  try {
    const problems = startProblemRecorder({
      database: stores.database,
      tenantsOfRefusedHost: (host) => tenantsOfRefusedHost(stores.database, host),
      clock,
      log,
    })
    cleanup.push(problems.stop)
    const sourceUsage = startSourceUsage({ database: stores.database, clock, log })
    cleanup.push(sourceUsage.stop)
    const eventIds = await startEventIdCleanup(stores.database, clock, log)
    cleanup.push(eventIds.stop)
    const findReacting = cacheReacting(invalidation)
    const findComputed = cacheComputed(invalidation)
    const append = createAppend({ findReacting, findComputed })
    const segments = await watchSegments({ stores, clock, log, append })
    cleanup.push(segments.stop)
    // Events that an earlier process accepted but did not project.
    await projector.drain()
    const live = startLiveFeed({ stores, clock, log, hasOthers })
    cleanup.push(live.stop)
    const groupCommit = createGroupCommit({
      pool: postgres.pool,
      projector,
      visitorStatements,
      preparePart: prepareConsequences(stores, invalidation, { findReacting, findComputed }),
      clock,
      log,
      metrics,
      onRecorded: (batches) => {
        segments.onRecorded(batches)
        live.onRecorded(batches)
        visitPlaces.onRecorded(batches)
      },
    })
    cleanup.push(groupCommit.drain)
    // What happened long ago causes no webhook deliveries, and no agent reacts to it; it counts for computed properties.
    const historyCommit = createGroupCommit({
      pool: postgres.pool,
      projector,
      visitorStatements,
      preparePart: prepareChecks(stores, findComputed),
      clock,
      log,
      metrics,
      onRecorded: segments.onRecorded,
    })
    cleanup.push(historyCommit.drain)
    const outboxes = [
      createOutbox(invalidation, clock),
      duplicateChecks,
      createActivityOutbox(executedText),
      createComputedChecks(findComputed),
    ]
    const changing = {
      clock,
      segments: segments.follower,
      outboxes,
      enrich: createEnrichment(findEnrichmentSettings),
      append,
      tables: TABLES,
      findIgnoredIds,
      findComputedNames: async (tenant: Tenant) => (await findComputed(tenant)).names,
      keepCompany,
      live,
      log,
    }
    const writing = { ...changing, writer: createWriter(changing) }
    const visitPlaces = startVisitPlaces({ stores, writer: writing.writer, findSettings: findEnrichmentSettings, log })
    cleanup.push(visitPlaces.stop)
    const recorder = { ...writing, sourceUsage, findIdentificationKeys, placeOf }
    return {
      groupCommit,
      live,
      problems,
      /** What changes of contacts need. */
      writing: writing satisfies WriteServices,
      recordCalls: createCallRecorder({ ...recorder, groupCommit }),
      recordHistory: createCallRecorder({ ...recorder, groupCommit: historyCommit }),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

export type Recording = Awaited<ReturnType<typeof startRecording>>
