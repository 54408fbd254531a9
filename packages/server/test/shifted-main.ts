import { readConfig } from '../src/config.ts'
import { createLog } from '../src/platform/log.ts'
import { startService } from '../src/service.ts'

/** The service with a clock that is ahead by TEST_CLOCK_AHEAD_MS: for tests that kill it and do not wait for leases. */
const ahead = Number(process.env.TEST_CLOCK_AHEAD_MS ?? 0)
const config = readConfig(process.env)
const clock = () => new Date(Date.now() + ahead)
const service = await startService({ config, log: createLog(config.logLevel), clock })
process.on('SIGTERM', () => service.close().then(() => process.exit(0)))
console.error(`The service is running at ${service.url}`)
