/**
 * The service as main.ts starts it, with connections to its PostgreSQL for the bare writes, and with connected systems on
 * this machine at the base URLs in BENCH_CONNECTOR_URLS (JSON, by connector).
 */
import { reserveThreads } from '../packages/server/src/platform/threads.ts'

/** The service's own, and one for each bare writer. */
const POSTGRES_CONNECTIONS = 64 + 64

reserveThreads()
const [{ readConfig }, { runService }] = [
  await import('../packages/server/src/config.ts'),
  await import('../packages/server/src/assembly/run.ts'),
]
await runService(() => readConfig(process.env), undefined, {
  connectorUrls: JSON.parse(process.env.BENCH_CONNECTOR_URLS ?? '{}') as Record<string, string>,
  postgresConnections: POSTGRES_CONNECTIONS,
})
