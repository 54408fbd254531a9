import { cacheCompiledCode, writeCompiledCode } from './platform/compiled-code.ts'
import { reserveThreads } from './platform/threads.ts'

reserveThreads()
cacheCompiledCode()
const [{ readConfig }, { runService }] = [await import('./config.ts'), await import('./assembly/run.ts')]
await runService(() => readConfig(process.env))
writeCompiledCode()
// After the start, which does not wait for its pages nor share the processor with their build.
const { ensureBuilt } = await import('../../dashboard/ensure-built.ts')
await ensureBuilt((message) => console.error(`· ${message}`))
