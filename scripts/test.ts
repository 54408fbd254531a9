/**
 * `npm test`: prepares the tests, runs the checks and all tests, and checks that every endpoint has its kinds of test.
 * `npm test -- PATH …`: the tests of some files or folders.
 * `npm test -- --changed`, or `--changed=COMMIT`: the tests that the change since `main`, or since a commit, can break.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { mayBreakAll, testsOfChange } from './changed-tests.ts'
import { groupOf } from './test-groups.ts'

/** How long the chosen files may take: with four at a time, and the start of the workers, two minutes. */
const CHANGE_SECONDS_MAX = 240
/** How long a file usually takes, if this machine has not run it yet. */
const SECONDS_OF_GROUP = new Map(
  Object.entries({ crash: 60, engines: 30, browser: 35, process: 15, clock: 8, service: 5 }),
)

const args = process.argv.slice(2)
const changed = args.find((arg) => /^--changed(=|$)/.test(arg))
const others = args.filter((arg) => arg !== changed)

if (changed !== undefined) runChanged(changed.split('=')[1])
else {
  run('node', 'scripts/prepare-tests.ts')
  if (others.length === 0) run('node', 'scripts/check.ts')
  run('vitest', 'run', ...others)
  if (others.length === 0) run('node', 'scripts/interface-coverage.ts', '--check')
}

function runChanged(commit: string | undefined): void {
  if (commit !== undefined && spawnSync('git', ['rev-parse', '--verify', `${commit}^{commit}`]).status !== 0) {
    console.error(`Git knows no commit ${commit}. Name another, such as HEAD~1, or leave it out to compare with main.`)
    process.exit(1)
  }
  const base = commit ?? git('merge-base', 'HEAD', mainBranch())[0] ?? 'HEAD'
  const changes = [...git('diff', '--name-only', '--no-renames', base), ...untracked()]
  if (mayBreakAll(changes)) console.log('This change may break every test. Run npm test before you push it.\n')
  const { chosen, left } = testsOfChange(changes, readFiles(changes), secondsOf(), CHANGE_SECONDS_MAX)
  console.log(`${changes.length} changed files can break ${chosen.length + left.length} test files.`)
  if (left.length > 0) {
    console.log(`There is no time for ${left.length}, which are further from the change; npm test runs them:`)
    for (const [folder, some] of Map.groupBy(left, (file) => dirname(file)))
      console.log(`  ${folder}: ${some.map((file) => basename(file, '.test.ts')).join(', ')}`)
  }
  run('node', 'scripts/prepare-tests.ts')
  run('vitest', 'run', ...others, ...chosen)
}

/** The branch that a change will be merged into, as the server has it. */
function mainBranch(): string {
  return git('for-each-ref', '--format=%(refname)', 'refs/remotes/origin/main', 'refs/heads/main').at(-1) ?? 'HEAD'
}

function untracked(): string[] {
  return git('ls-files', '--others', '--exclude-standard')
}

/** The lines of Git's answer. */
function git(...words: string[]): string[] {
  return execFileSync('git', words, { encoding: 'utf8' }).split('\n').filter(Boolean)
}

/** The project's files, with the text of those that can import others. Deleted ones are among the changes. */
function readFiles(changes: readonly string[]): Map<string, string> {
  const files = [...new Set([...git('ls-files'), ...untracked(), ...changes])]
  const isCode = (file: string) => /\.tsx?$/.test(file) && existsSync(file)
  return new Map(files.map((file) => [file, isCode(file) ? readFileSync(file, 'utf8') : '']))
}

/** How long each test file took the last time, from Vitest's cache, or what is usual for its group. */
function secondsOf(): (test: string) => number {
  const known = new Map(
    globSync('node_modules/.vite/vitest/*/results.json').flatMap((path) => {
      const { results } = JSON.parse(readFileSync(path, 'utf8')) as { results: [string, { duration: number }][] }
      return results.map(([file, { duration }]) => [file.replace(/^:/, ''), duration / 1_000] as const)
    }),
  )
  return (test) => known.get(test) || (SECONDS_OF_GROUP.get(groupOf(test)) ?? 0)
}

function run(program: string, ...args: string[]): void {
  const { status } = spawnSync(program, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}
