import { cacheCompiledCode } from './platform/compiled-code.ts'
import { reserveThreads } from './platform/threads.ts'

reserveThreads()
cacheCompiledCode()
const { runCommand } = await import('./cli/run-command.ts')
process.exit(await runCommand(process.argv.slice(2)))
