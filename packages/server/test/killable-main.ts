/** A process of a KillableService: loads the service, reports it, and starts it on request. */
import { cacheCompiledCode, writeCompiledCode } from '../src/platform/compiled-code.ts'
import type { Start } from './killable.ts'

cacheCompiledCode()
const [{ readConfig }, { createLog }, { startService }] = await Promise.all([
  import('../src/config.ts'),
  import('../src/platform/log.ts'),
  import('../src/assembly/service.ts'),
])
writeCompiledCode()
// When a test ends, its processes end too.
process.on('disconnect', () => process.exit(1))
process.once('message', async ({ aheadMs }: Start) => {
  const config = readConfig(process.env)
  const clock = () => new Date(Date.now() + aheadMs)
  const service = await startService({ config, log: createLog(config.logLevel), clock })
  process.on('SIGTERM', () => service.close().then(() => process.exit(0)))
  process.send?.({ url: service.url })
})
