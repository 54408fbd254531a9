#!/usr/bin/env node
import { keepCompiledCode } from './platform/compiled-code.ts'

keepCompiledCode()
const { runCommand } = await import('./cli/run-command.ts')
process.exit(await runCommand(process.argv.slice(2)))
