import type { Client } from 'pg'
import { watchClosedTenants } from '../access/closed-tenants.ts'
import { createLookups } from '../access/lookups.ts'
import { prepareSignIn } from '../access/sign-in/start.ts'
import type { ModelDoor } from '../agents/reasoning/model-view.ts'
import { type Config, listenUrl } from '../config.ts'
import { createSentRecorder } from '../conversations/record-sent.ts'
import { createProviderLookup } from '../enrichment/providers/providers.ts'
import { createEnrichmentLookup } from '../enrichment/settings.ts'
import { createHookLookup } from '../hooks/tokens.ts'
import type { MailDependencies } from '../identities/mail/dependencies.ts'
import type { HandlerDependencies } from '../mcp/handler.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { type Cleanup, undoAll } from '../platform/every.ts'
import type { App } from '../platform/http/app-types.ts'
import { type Jobs, openJobs } from '../platform/jobs/jobs.ts'
import { createMetrics } from '../platform/metrics.ts'
import { openPlaces } from '../platform/places.ts'
import { listenForChanges } from '../platform/postgres/invalidation.ts'
import { createReadiness } from '../platform/readiness.ts'
import { type Clock, systemClock } from '../platform/time.ts'
import { buildTrackerScript } from '../sites/track/script.ts'
import { createSourceLookup } from '../sources/write-keys.ts'
import type { DeliveryWorker } from '../webhooks/queue/worker.ts'
import { createApp } from './app.ts'
import { type ConnectionOptions, type Connections, openConnections } from './connections.ts'
import { type EngineOptions, type Engines, openEngines } from './engines.ts'
import { POSTGRES_OBJECTS, requireAllOfClickHouse, requireAllOfPostgres } from './known-tables.ts'
import { operationServices } from './operation-services.ts'
import type { PurposeDependencies } from './purposes.ts'
import { type Recording, startRecording } from './recording.ts'
import { QUEUES, type SweepMs, startWorkers } from './workers.ts'

/** A running service. */
export interface Service extends Engines, Omit<Connections, 'close'>, Pick<Recording, 'writing'> {
  secrets: SecretBox
  /** What sending and receiving mail need. */
  mail: MailDependencies
  jobs: Jobs
  /** What the models of agents look up. */
  modelDoor: ModelDoor
  /** Sends webhook deliveries. Tests wake it after they move the clock, and stop it to claim deliveries themselves. */
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

export interface ServiceOptions extends EngineOptions, ConnectionOptions {
  clock?: Clock
  /** Mail servers in place of those of OAuth providers, by name; for tests. */
  mailServers?: PurposeDependencies['mailServers']
  /** For tests that wait for due work. */
  sweepMs?: SweepMs
  /** Adds to the MCP server of each request; for tests of the protocol. */
  extendMcpServer?: HandlerDependencies['extendMcpServer']
  /** Sees the application before it serves the first request. */
  beforeListen?: (app: App) => void
}

/** Starts the service: engines, connections to other hosts, recording, workers, HTTP. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { config, log, clock = systemClock } = options
  // Bundled while the engines start; the application waits for it.
  buildTrackerScript(config.trackerScriptPath, config.trackerCollectPath).catch(() => {})
  const placeOf = openPlaces(config.geoDatabase)
  const engines = await openEngines(options)
  const cleanup: Cleanup = [engines.close]
  const close = () => undoAll(cleanup)
  try {
    const { stores, postgres, projector } = engines
    const secrets = await openSecretBox(config)
    const metrics = createMetrics(postgres.pool, stores.reads, projector.counts)
    const invalidation = await listenForChanges(postgres.address, log)
    cleanup.push(invalidation.close)
    await watchClosedTenants(stores, engines.closed, invalidation, log)
    const common = { config, clock, log, stores, secrets, metrics, invalidation, placeOf }

    const lookups = {
      ...createLookups(common),
      findEnrichmentSettings: createEnrichmentLookup(stores, invalidation),
      findProviderInputs: createProviderLookup(stores, invalidation),
      findSource: createSourceLookup(stores.database, invalidation, clock),
      findHook: createHookLookup(stores.database, invalidation, clock),
    }
    // The embedded ClickHouse belongs to one process: nobody else records events.
    const hasOthers = config.clickhouseUrl !== null
    const recording = await startRecording({ ...common, ...lookups, engines, hasOthers })
    cleanup.push(recording.stop)
    const { writing } = recording

    const connections = openConnections(options, common)
    cleanup.push(connections.close)
    const { publicUrl } = config
    const mail = { ...connections.mail, publicUrl, recordSent: createSentRecorder(writing), writing, log }

    const jobs = await openJobs(postgres.address, QUEUES, log, stores.closed)
    cleanup.push(jobs.stop)
    const given = { ...engines, ...connections, ...recording, ...common, mail, jobs }
    // The models of agents read through operations, which the workers start before there is a server.
    const { mailServers } = options
    const { modelDoor } = operationServices({ ...given, mailServers, mailer: null, ...WITHOUT_SERVER })
    const parts = { ...given, modelDoor }
    const workers = await startWorkers({ ...parts, sweepMs: options.sweepMs ?? {} })
    cleanup.push(workers.stop)

    const signIn = prepareSignIn(common)
    const app = await createApp({
      ...writing,
      ...lookups,
      ...signIn,
      ...parts,
      findProblems: createReadiness({ ...stores, ...engines, requireAll: requireAllOf(stores, config) }),
      mailServers: options.mailServers,
      extendMcpServer: options.extendMcpServer,
    })
    cleanup.push(() => app.close())
    options.beforeListen?.(app)
    await app.listen({ port: config.port, host: config.host })
    const url = urlOfServer(app.server, config.host)
    const { deliveryWorker } = workers
    const findSetupLink = () => signIn.findSetupLink(url)
    const opened = { ...connections, ...engines, writing, secrets, mail, jobs, modelDoor }
    return { ...opened, deliveryWorker, app, url, findSetupLink, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** What operations ask of the server, for those that are performed without it. */
const WITHOUT_SERVER = {
  rateLimiter: {
    checkAudited: () => {},
    usedByApiKey: () => null,
    usedByTenant: () => ({ tracking: null, forms: null }),
  },
  isClosing: () => false,
}

/** For readiness: whether the databases still have every table and function that the service needs. */
function requireAllOf({ clickhouse }: Engines['stores'], { clickhouseCluster }: Config) {
  return {
    postgres: (client: Client) => requireAllOfPostgres((text) => client.query(text), POSTGRES_OBJECTS),
    clickhouse: () => requireAllOfClickHouse(clickhouse, clickhouseCluster),
  }
}

/** The URL of a server that listens, with the port that the system assigned for port 0. */
function urlOfServer(server: { address(): { port: number } | string | null }, host: string): string {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a port.')
  return listenUrl(host, address.port)
}
