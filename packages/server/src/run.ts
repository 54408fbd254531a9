import { type Config, ConfigError } from './config.ts'
import type { App } from './platform/http/app-types.ts'
import { createLog } from './platform/log.ts'
import { type Service, startService } from './service.ts'

/**
 * Runs the service until it is told to stop (SIGTERM, Ctrl-C), then lets it finish what it is doing.
 * @param whenRunning is called once the service answers.
 * @param beforeListen sees the application before it answers the first request.
 */
export async function runService(
  readConfiguration: () => Config,
  whenRunning: (service: Service, config: Config) => Promise<void> = announce,
  beforeListen?: (app: App) => void,
): Promise<void> {
  keepFilesPrivate()
  try {
    const config = readConfiguration()
    const log = createLog(config.logLevel)
    const onProgress = (message: string) => console.error(`· ${message}`)
    const service = await startService({ config, log, onProgress, ...(beforeListen ? { beforeListen } : {}) })
    let stopping = false
    const stop = (signal: string) => {
      if (stopping) return
      stopping = true
      log.info({ signal }, 'stopping: finishing requests and flushing the journal')
      service.close().then(
        () => process.exit(0),
        (error) => {
          log.error({ err: error }, 'the service did not stop cleanly')
          process.exit(1)
        },
      )
    }
    process.on('SIGTERM', () => stop('SIGTERM'))
    process.on('SIGINT', () => stop('SIGINT'))
    await whenRunning(service, config)
  } catch (error) {
    console.error(explain(error))
    process.exit(1)
  }
}

/**
 * Everything that the service or an engine in its process writes may hold customer data: no other user may read it.
 */
export function keepFilesPrivate(): void {
  process.umask(0o077)
}

async function announce(service: Service): Promise<void> {
  console.error(`The Customer Data Service is running at ${service.url} (API reference: ${service.url}/docs)`)
  try {
    const link = await service.findSetupLink()
    if (link !== null) console.error(`Create the first account at ${link}`)
  } catch (error) {
    // The API works without accounts.
    console.error(`The first account cannot be created in the dashboard. ${(error as Error).message}`)
  }
}

/** What a person can do about a failed start, in a sentence. */
export function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  const { code, message, port } = error as Error & { code?: string; port?: number }
  if (code === 'EADDRINUSE') {
    return `Port ${port} is taken by another program. Choose another with PORT, e.g. PORT=8090 npm start`
  }
  if (code === 'EACCES' && port !== undefined) return `Port ${port} needs more rights. Choose another with PORT.`
  return `The service could not start: ${message}`
}
