import { createLookups } from '../access/lookups.ts'
import { prepareSignIn } from '../access/sign-in/start.ts'
import { ACTION_QUEUE } from '../agents/actions/queue.ts'
import { createSenders } from '../agents/actions/senders.ts'
import { workOnActions } from '../agents/actions/worker.ts'
import { RUN_QUEUE } from '../agents/runs/queue.ts'
import { startAgents } from '../agents/runs/start.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { forgetConversations } from '../conversations/forget.ts'
import { PULL_QUEUE } from '../conversations/intercom/schedule.ts'
import { startReceiving } from '../conversations/receive.ts'
import { createSentRecorder } from '../conversations/record-sent.ts'
import { EVENTS_TABLE, OWNER_LINKS_TABLE } from '../events/table.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { SocialConnector } from '../identities/social/connector.ts'
import { openConnector, startSocialLogins } from '../identities/social/open.ts'
import { SOCIAL_LOGINS } from '../identities/social/sessions.ts'
import { keepEventIds } from '../journal/event-ids.ts'
import { createGroupCommit } from '../journal/group-commit.ts'
import { startLiveFeed } from '../live/feed.ts'
import { onCluster, storageTable, type TableDefinition } from '../platform/clickhouse/tables.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import type { App } from '../platform/http/app-types.ts'
import { urlOfServer } from '../platform/http/listen-url.ts'
import { type JobQueue, type Jobs, openJobs } from '../platform/jobs/jobs.ts'
import { createMetrics } from '../platform/metrics.ts'
import { type ApiFetch, createApiFetch } from '../platform/outbound/api-fetch.ts'
import { createOutbound, type Outbound, type OutboundOptions } from '../platform/outbound/client.ts'
import { type Connector, createConnector } from '../platform/outbound/connect.ts'
import { createJsonApi } from '../platform/outbound/json-api.ts'
import { createTxtLookup } from '../platform/outbound/txt-records.ts'
import { type Invalidation, listenForChanges } from '../platform/postgres/invalidation.ts'
import { createReadiness } from '../platform/readiness.ts'
import { type Clock, systemClock } from '../platform/time.ts'
import { watchSegments } from '../segments/watch.ts'
import { buildTrackerScript } from '../sites/track/script.ts'
import { prepareDeliveries } from '../webhooks/flush-part.ts'
import { startDeliveryRetention } from '../webhooks/queue/retention.ts'
import { type DeliveryWorker, startDeliveryWorker } from '../webhooks/queue/worker.ts'
import { createApp } from './app.ts'
import { type EngineOptions, type Engines, openEngines } from './engines.ts'
import { keepTables } from './retention.ts'
import { startTasks, TASK_QUEUES } from './tasks.ts'

/** Every queue of jobs, so that the command line can send to each. */
export const QUEUES: readonly JobQueue<object>[] = [...TASK_QUEUES, ACTION_QUEUE, RUN_QUEUE, SOCIAL_LOGINS, PULL_QUEUE]

/** A running service. */
export interface Service extends Engines {
  /** What changes of contacts need. */
  writing: WriteDependencies
  secrets: SecretBox
  outbound: Outbound
  /** What sending and receiving mail need. */
  mail: MailDependencies
  connector: Connector
  jobs: Jobs
  llmOutbound: ApiFetch
  social: SocialConnector
  deliveryWorker: DeliveryWorker
  app: App
  /** Where it listens, e.g. http://localhost:8080. */
  url: string
  /**
   * The setup link for the first person; null once the service is set up. @throws ServiceError 503
   * `secret_key_missing`.
   */
  findSetupLink(): Promise<string | null>
  /** Finishes the requests under way, writes what waits in the journal, and closes the engines it started. */
  close(): Promise<void>
}

export interface ServiceOptions extends EngineOptions {
  clock?: Clock
  /** How addresses that users gave are called; for tests. */
  outbound?: Partial<OutboundOptions>
  /** Who is asked for TXT records, as `address:port`, in place of the system's name servers; for tests. */
  dnsServers?: string[]
  /** Where Intercom is; for tests. */
  intercomUrl?: string
  /** Sees the application before it answers the first request. */
  beforeListen?: (app: App) => void
}

/** Starts the service: engines, caches, journal, HTTP. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, clock = systemClock } = options
  // Bundled while the engines start; the application waits for it.
  buildTrackerScript(config.trackerScriptPath, config.trackerCollectPath).catch(() => {})
  const engines = await openEngines(options)
  const cleanup: Cleanup = [engines.close]
  const close = () => undoAll(cleanup)
  try {
    const { stores, postgres, projector } = engines
    const metrics = createMetrics(postgres.pool, stores.reads, projector.counts)
    const invalidation: Invalidation = await listenForChanges(postgres.address, log)
    cleanup.push(() => invalidation.close())
    const eventIds = await keepEventIds(stores.database, clock, log)
    cleanup.push(() => eventIds.stop())
    const segments = await watchSegments({ stores, clock, log })
    cleanup.push(() => segments.stop())
    // What an earlier process accepted and could not project any more.
    await projector.drain()
    const secrets = await openSecretBox(config)
    const outbound = createOutbound({ allowPrivate: config.webhookAllowPrivate, ...options.outbound })
    cleanup.push(() => outbound.close())
    const deliveryWorker = startDeliveryWorker({ stores, outbound, secrets, clock, log, metrics })
    cleanup.push(() => deliveryWorker.stop())
    invalidation.onWork(deliveryWorker.wake)
    const retention = startDeliveryRetention(stores.database, config.webhookRetentionDays, clock, log)
    cleanup.push(() => retention.stop())
    const tables = keepTables(stores.database, clock, log)
    cleanup.push(() => tables.stop())
    // The embedded ClickHouse belongs to one process: nobody else records events.
    const live = startLiveFeed({ stores, clock, log, hasOthers: config.clickhouseUrl !== null })
    cleanup.push(() => live.stop())
    const groupCommit = createGroupCommit({
      pool: postgres.pool,
      projector,
      preparePart: prepareDeliveries(stores, invalidation),
      clock,
      log,
      metrics,
      onRecorded: (batches) => {
        segments.onRecorded(batches)
        live.onRecorded(batches)
      },
    })
    cleanup.push(() => groupCommit.drain())
    const writing = { clock, segments: segments.follower, forgetConversations, live, log }
    const connector = createConnector({ ...options.outbound, allowPrivate: config.mailAllowPrivate })
    const tokenApi = createApiFetch({ ...options.outbound, allowPrivate: config.mailAllowPrivate })
    cleanup.push(() => tokenApi.close())
    const recordSent = createSentRecorder(writing)
    const mail = { secrets, connector, tokenApi, clock, publicUrl: config.publicUrl, recordSent, writing, log }
    const network = openConnector(config, clock, options.outbound)
    cleanup.push(() => network.close())
    const api = createJsonApi({ allowPrivate: config.webhookAllowPrivate, ...options.outbound })
    cleanup.push(() => api.close())
    const llmOutbound = createApiFetch({ allowPrivate: config.llm.allowPrivate, allowHttp: config.llm.allowPrivate })
    cleanup.push(() => llmOutbound.close())
    const jobs = await openJobs(postgres.address, QUEUES, log)
    cleanup.push(() => jobs.stop())
    const storageOf = (table: TableDefinition) =>
      `${storageTable(table, config.clickhouseCluster)}${onCluster(config.clickhouseCluster)}`
    const storage = { events: storageOf(EVENTS_TABLE), owner_links: storageOf(OWNER_LINKS_TABLE) }
    await startTasks({ stores, jobs, writing, projector, storage, config, log })
    const { social } = network
    const socialLogins = await startSocialLogins({ stores, social, jobs, secrets, clock, log })
    cleanup.push(() => socialLogins.stop())
    const senders = createSenders(mail, { social, clock })
    await workOnActions(stores, jobs, { ...writing, senders })
    const agents = await startAgents({ ...writing, stores, jobs, llm: config.llm, llmOutbound })
    cleanup.push(() => agents.stop())
    const receiving = await startReceiving({ config, stores, mail, api, jobs, intercomUrl: options.intercomUrl })
    cleanup.push(() => receiving.stop())
    invalidation.onChange(receiving.look)
    const signIn = prepareSignIn({ config, stores, secrets, clock, log })
    const app = await createApp({
      ...writing,
      jobs,
      llmOutbound,
      config,
      stores,
      secrets,
      social,
      groupCommit,
      ...signIn,
      ...createLookups({ stores, secrets, invalidation, clock, log }),
      outbound,
      live,
      findProblems: createReadiness({ ...stores, ...engines }),
      lookUpTxt: createTxtLookup(options.dnsServers),
      mail,
      log,
      metrics,
    })
    cleanup.push(() => app.close())
    options.beforeListen?.(app)
    await app.listen({ port: config.port, host: config.host })
    const sending = { outbound, mail, connector, llmOutbound, social, deliveryWorker }
    const parts = { writing, secrets, jobs, ...sending }
    const url = urlOfServer(app.server, config.host)
    return { ...engines, ...parts, app, url, findSetupLink: () => signIn.findSetupLink(url), close }
  } catch (error) {
    await close()
    throw error
  }
}
