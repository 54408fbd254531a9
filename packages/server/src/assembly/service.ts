import { claimantsOfHost } from '../access/domains.ts'
import { createLookups } from '../access/lookups.ts'
import { prepareSignIn } from '../access/sign-in/start.ts'
import type { WriteDependencies } from '../contacts/change-log.ts'
import { createSentRecorder } from '../conversations/record-sent.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import { createHookLookup } from '../hooks/tokens.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import { moveMails } from '../identities/mail/reservation.ts'
import { countRows } from '../journal/batches.ts'
import { urlOfServer } from '../listen-url.ts'
import type { McpDependencies } from '../mcp/routes.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import type { App } from '../platform/http/app-types.ts'
import { type Jobs, openJobs } from '../platform/jobs/jobs.ts'
import { createMetrics } from '../platform/metrics.ts'
import type { OutboundOptions } from '../platform/outbound/client.ts'
import type { SitePagesOptions } from '../platform/outbound/site-pages.ts'
import { createTxtLookup } from '../platform/outbound/txt-records.ts'
import { listenForChanges } from '../platform/postgres/invalidation.ts'
import { createReadiness } from '../platform/readiness.ts'
import { type Clock, systemClock } from '../platform/time.ts'
import { createCallRecorder } from '../sites/ingestion/record-calls.ts'
import { startProblemRecorder } from '../sites/problems/record.ts'
import { buildTrackerScript } from '../sites/track/script.ts'
import { startSourceUsage } from '../sources/usage.ts'
import { createSourceLookup } from '../sources/write-keys.ts'
import type { DeliveryWorker } from '../webhooks/queue/worker.ts'
import { createApp } from './app.ts'
import { type Connections, openConnections } from './connections.ts'
import { type EngineOptions, type Engines, openEngines } from './engines.ts'
import type { PurposeDependencies } from './purposes.ts'
import { startRecording } from './recording.ts'
import { QUEUES, startWorkers } from './workers.ts'

/** A running service. */
export interface Service extends Engines, Omit<Connections, 'close'> {
  /** What changes of contacts need. */
  writing: WriteDependencies
  secrets: SecretBox
  /** What sending and receiving mail need. */
  mail: MailDependencies
  jobs: Jobs
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
  outbound?: Partial<OutboundOptions> & Pick<SitePagesOptions, 'sitePort'>
  /** Who is asked for TXT records, as `address:port`, in place of the system's name servers; for tests. */
  dnsServers?: string[]
  /** Base URLs in place of those of connected systems, by the connector's name; for tests. */
  connectorUrls?: Record<string, string>
  /** Base URLs in place of those of OAuth providers, by name; for tests. */
  providerUrls?: Record<string, string>
  /** Mail servers in place of those of OAuth providers, by name; for tests. */
  mailServers?: PurposeDependencies['mailServers']
  /** Adds to the MCP server of each request; for tests of the protocol. */
  extendMcpServer?: McpDependencies['extendMcpServer']
  /** Sees the application before it answers the first request. */
  beforeListen?: (app: App) => void
}

/** Starts the service: engines, connections to other hosts, recording, workers, HTTP. */
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
    const invalidation = await listenForChanges(postgres.address, log)
    cleanup.push(invalidation.close)

    // The embedded ClickHouse belongs to one process: nobody else records events.
    const hasOthers = config.clickhouseUrl !== null
    const recording = await startRecording({ engines, invalidation, clock, log, metrics, hasOthers })
    cleanup.push(recording.stop)
    const { groupCommit, live, writing } = recording

    const secrets = await openSecretBox(config)
    const connections = openConnections(config, clock, options.outbound, options.providerUrls)
    cleanup.push(connections.close)
    const { connector, tokenApi, providerApi } = connections
    const { providerUrls = {} } = options
    const providers = { secrets, config, tokenApi: providerApi, clock, providerUrls }
    const recordSent = createSentRecorder(writing)
    const { publicUrl } = config
    const mail = { secrets, connector, tokenApi, providers, clock, publicUrl, recordSent, writing, log }

    const lookups = createLookups({ config, stores, secrets, invalidation, clock, log })
    const sourceUsage = startSourceUsage({ database: stores.database, clock, log })
    cleanup.push(sourceUsage.stop)

    const { connectorApi } = connections
    const { connectorUrls = {} } = options
    const connecting = { secrets, providers, connectorApi, connectorUrls, clock }
    const recorder = { ...writing, ...lookups, sourceUsage }
    const recordCalls = createCallRecorder({ ...recorder, groupCommit })
    const pulling = {
      ...connecting,
      ...writing,
      refuseWhileErasing,
      moveMails,
      recordCalls,
      recordHistory: createCallRecorder({ ...recorder, groupCommit: recording.historyCommit }),
      journalRows: async () => (await countRows(stores.database)).waiting,
      pullMinutes: config.pullMinutes,
    }

    const jobs = await openJobs(postgres.address, QUEUES, log)
    cleanup.push(jobs.stop)
    const hookServices = { ...writing, recordCalls }
    const own = {
      config,
      invalidation,
      jobs,
      secrets,
      providers,
      writing,
      mail,
      pulling,
      hookServices,
      clock,
      log,
      metrics,
    }
    const workers = await startWorkers({ ...engines, ...connections, ...own })
    cleanup.push(workers.stop)

    const findClaimants = (host: string) => claimantsOfHost(stores.database, host)
    const problems = startProblemRecorder({ database: stores.database, findClaimants, clock, log })
    cleanup.push(problems.stop)

    const signIn = prepareSignIn({ config, stores, secrets, clock, log })
    const app = await createApp({
      ...writing,
      ...connections,
      ...signIn,
      ...lookups,
      findSource: createSourceLookup(stores.database, invalidation, clock),
      findHook: createHookLookup(stores.database, invalidation, clock),
      recordCalls,
      invalidation,
      config,
      stores,
      secrets,
      jobs,
      providers,
      connecting,
      mail,
      groupCommit,
      live,
      problems,
      metrics,
      findProblems: createReadiness({ ...stores, ...engines }),
      lookUpTxt: createTxtLookup(options.dnsServers),
      extendMcpServer: options.extendMcpServer,
      mailServers: options.mailServers,
    })
    cleanup.push(() => app.close())
    options.beforeListen?.(app)
    await app.listen({ port: config.port, host: config.host })
    const url = urlOfServer(app.server, config.host)
    const { deliveryWorker } = workers
    const findSetupLink = () => signIn.findSetupLink(url)
    return { ...connections, ...engines, writing, secrets, mail, jobs, deliveryWorker, app, url, findSetupLink, close }
  } catch (error) {
    await close()
    throw error
  }
}
