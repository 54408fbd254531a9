import { ensureBuilt } from '../../dashboard/ensure-built.ts'
import { readConfig } from './config.ts'
import { runService } from './run.ts'

await runService(() => readConfig(process.env))
// After the start, which does not wait for its pages nor share the processor with their build.
await ensureBuilt((message) => console.error(`· ${message}`))
