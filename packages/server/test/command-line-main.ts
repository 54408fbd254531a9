/** The process of a CommandLine: runs `cdsctl` calls one after another, with the code loaded once. */
import { cacheCompiledCode } from '../src/platform/compiled-code.ts'
import type { Call, Called } from './command-line.ts'

cacheCompiledCode()
const { runCommand } = await import('../src/cli/run-command.ts')
process.on('disconnect', () => process.exit(1))
process.on('message', async ({ args, environment }: Call) => {
  const called: Called = { exit: 0, stdout: '', stderr: '' }
  console.log = (line) => {
    called.stdout += `${line}\n`
  }
  console.error = (line) => {
    called.stderr += `${line}\n`
  }
  const before = { ...process.env }
  Object.assign(process.env, environment)
  called.exit = await runCommand(args)
  for (const name of Object.keys(environment)) delete process.env[name]
  Object.assign(process.env, before)
  process.send?.(called)
})
