import { resolve } from 'node:path'
import type { Config } from '../config.ts'
import { createLog } from '../platform/log.ts'
import { say } from '../platform/progress.ts'
import { explain, keepFilesPrivate } from './process.ts'
import { type Service, type ServiceOptions, startService } from './service.ts'

/** Ctrl-C, a supervisor, or a closed terminal. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** npm forwards the Ctrl-C that the terminal has already sent to both, so one Ctrl-C arrives twice. */
const SAME_SIGNAL_WITHIN_MS = 2_000

/**
 * Runs the service until it is asked to stop, then lets it finish its work. During startup, it stops as soon as it has
 * started, because a database left behind would keep the data directory locked. A second Ctrl-C ends it at once.
 * @param whenRunning called once the service responds.
 */
export async function runService(
  readConfiguration: () => Config,
  whenRunning: (service: Service, config: Config) => Promise<void> = announce,
  options: Pick<ServiceOptions, 'beforeListen' | 'beforeChange' | 'connectorUrls' | 'postgresConnections'> = {},
): Promise<void> {
  keepFilesPrivate()
  outliveTerminal()
  let service: Service | null = null
  let toldAt: number | null = null
  let ended: Promise<void> = Promise.resolve()
  const stop = (signal: string) => {
    const isAgain = toldAt !== null && performance.now() - toldAt > SAME_SIGNAL_WITHIN_MS
    if (isAgain && signal === 'SIGINT') process.exit(1)
    if (toldAt === null && service) ended = end(service)
    toldAt ??= performance.now()
  }
  for (const signal of STOP_SIGNALS) process.on(signal, stop)
  try {
    const config = readConfiguration()
    const log = createLog(config.logLevel, { format: config.logFormat ?? (process.stdout.isTTY ? 'words' : 'json') })
    service = await startService({ config, log, onProgress: say, ...options })
    await (toldAt === null ? whenRunning(service, config) : end(service))
  } catch (error) {
    // An error caused by the stop itself.
    await ended
    console.error(explain(error))
    process.exit(1)
  }
}

/** Ends the process. */
async function end(service: Service): Promise<void> {
  const { log } = service.app
  log.info('stopping: finishing requests and flushing the journal')
  try {
    await service.close()
    process.exit(0)
  } catch (error) {
    log.error({ err: error }, 'the service did not stop cleanly')
    process.exit(1)
  }
}

/** Output to a closed terminal is lost; that must not end the process before the databases are closed. */
function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {})
}

/** The last line says where to go. */
async function announce(service: Service, config: Config): Promise<void> {
  const { url } = service
  console.error(`
The Customer Data Service is running at ${url} (documentation: ${url}/docs)
${placesOf(service, config)}
  ${await whereToGo(service)}
`)
}

/** Where the data lies: what a backup needs. */
export function placesOf({ directories, outsideCluster }: Service, { dataDirectory }: Config): string {
  const directory = resolve(dataDirectory)
  if (outsideCluster !== null) {
    return `Its data is in two places: events in ${directory}, contacts and everything else in ${outsideCluster}. A backup needs both: deploy/backup.sh takes both.\n`
  }
  return directories.includes(directory) ? `Its data is in ${directory}\n` : ''
}

async function whereToGo({ url, findSetupLink }: Service): Promise<string> {
  try {
    const link = await findSetupLink()
    return link === null ? `Sign in at ${url}/` : `Create the first account at ${link}`
  } catch (error) {
    // The API works without accounts.
    return `The first account cannot be created in the dashboard. ${(error as Error).message}`
  }
}
