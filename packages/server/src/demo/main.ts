import { keepCompiledCode, writeCompiledCode } from '../platform/compiled-code.ts'

keepCompiledCode()
await import('./demo.ts')
writeCompiledCode()
