/** A process of a KillableService: loads the service, says so, and starts it when it is told to. */
import { keepCompiledCode, writeCompiledCode } from '../src/platform/compiled-code.ts'
import type { Start } from './killable.ts'

keepCompiledCode()
const [{ readConfig }, { createLog }, { startService }] = await Promise.all([
  import('../src/config.ts'),
  import('../src/platform/log.ts'),
  import('../src/assembly/service.ts'),
])
writeCompiledCode()
// A test that ends takes its processes along.
process.on('disconnect', () => process.exit(1))
process.once('message', async ({ aheadMs }: Start) => {
  const config = readConfig(process.env)
  const clock = () => new Date(Date.now() + aheadMs)
  const service = await startService({ config, log: createLog(config.logLevel), clock })
  process.on('SIGTERM', () => service.close().then(() => process.exit(0)))
  process.send?.({ url: service.url })
})
