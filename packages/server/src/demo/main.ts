import { cacheCompiledCode, writeCompiledCode } from '../platform/compiled-code.ts'
import { reserveThreads } from '../platform/threads.ts'

reserveThreads()
cacheCompiledCode()
await import('./demo.ts')
writeCompiledCode()
