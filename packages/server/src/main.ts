import { readConfig } from './config.ts'
import { runService } from './run.ts'

await runService(() => readConfig(process.env))
