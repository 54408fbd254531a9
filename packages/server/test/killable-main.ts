/** A process of a KillableService: loads the service, starts it on request, reports it, and moves its clock. */
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
process.once('message', async (start: Start) => {
  const config = readConfig(process.env)
  let { aheadMs } = start
  const clock = () => new Date(Date.now() + aheadMs)
  const service = await startService({ config, log: createLog(config.logLevel), clock })
  process.on('SIGTERM', () => service.close().then(() => process.exit(0)))
  process.on('message', (moved: Start) => {
    aheadMs = moved.aheadMs
    service.deliveryWorker.wake()
  })
  process.send?.({ url: service.url })
})
