/** The service with connected systems on this machine, at the base URLs in BENCH_CONNECTOR_URLS (JSON, by connector). */
import { startService } from '../packages/server/src/assembly/service.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { createLog } from '../packages/server/src/platform/log.ts'

const config = readConfig(process.env)
const connectorUrls = JSON.parse(process.env.BENCH_CONNECTOR_URLS ?? '{}') as Record<string, string>
const service = await startService({ config, log: createLog(config.logLevel), connectorUrls })
process.once('SIGTERM', async () => {
  await service.close()
  process.exit(0)
})
console.log(`The service is running at ${service.url}`)
