/**
 * `npm test`: prepares the tests, runs the checks and all tests, and checks that every endpoint has its kinds of test.
 * `npm test -- PATH …`: the tests of some files or folders.
 */
import { spawnSync } from 'node:child_process'

const paths = process.argv.slice(2)

run('node', 'scripts/prepare-tests.ts')
if (paths.length === 0) run('node', 'scripts/check.ts')
run('vitest', 'run', ...paths)
if (paths.length === 0) run('node', 'scripts/interface-coverage.ts', '--check')

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
