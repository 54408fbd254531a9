import { keepCompiledCode, writeCompiledCode } from '../platform/compiled-code.ts'
import { reserveThreads } from '../platform/threads.ts'

reserveThreads()
keepCompiledCode()
await import('./demo.ts')
writeCompiledCode()
