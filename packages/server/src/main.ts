import { ensureBuilt } from '../../dashboard/ensure-built.ts'
import { readConfig } from './config.ts'
import { runService } from './run.ts'

// The service does not wait for its pages.
void ensureBuilt((message) => console.error(`· ${message}`))
await runService(() => readConfig(process.env))
