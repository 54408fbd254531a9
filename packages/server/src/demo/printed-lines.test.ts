import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isInstalled } from '../../test/docs-code.ts'
import { openDirectory, startProcess } from '../../test/process.ts'
import { type Running, runProgram } from '../../test/programs.ts'
import { insertTenantOf } from '../../test/service.ts'

const LAST_LINE = /domain=localhost.*\n/
/** These shells parse a line like zsh as long as it has nothing that `EXCEPTIONS` matches. */
const SHELLS = ['sh', 'bash']
/** Outside quotation marks: comments, which an interactive zsh does not support; globs, which it rejects; history. */
const EXCEPTIONS = /[#?*[\]!&;()<>^~=]/

let directory: string
let demo: Running
let lines: string[]

beforeAll(async () => {
  directory = await openDirectory()
  demo = await runProgram('npm', ['run', 'demo'], { CDS_DATA_DIR: directory }, LAST_LINE)
  lines = commandsOf(demo.output())
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** The lines of a text that start with a command. */
function commandsOf(text: string): string[] {
  return [...text.matchAll(/^ {2,4}((?:curl|npx|npm|watch) .*)$/gm)].map(([, command = '']) => command)
}

test.skipIf(!isInstalled('curl')).each(SHELLS)('each line that the demo prints works on its own in %s', (shell) => {
  const results = lines.map((line) => JSON.parse(execFileSync(shell, ['-c', line], { encoding: 'utf8' })))
  expect(results).toMatchObject([
    { status: 'success', accepted: 1 },
    // Bots are not counted on the home page.
    { events: [{ event: 'page_view', url: 'https://www.example.com/hello', is_bot: false }] },
    { agents: [{}, {}, {}] },
    { events: [] },
  ])
})

test('no line of the demo or the README has anything that an interactive zsh parses differently', () => {
  const readme = commandsOf(readFileSync('README.md', 'utf8').replaceAll(/ \\\n\s+/g, ' '))
  expect(readme.length).toBeGreaterThan(3)
  for (const line of [...lines, ...readme]) {
    expect(line.replaceAll(/'[^']*'|"[^"!]*"/g, '').replaceAll(' && ', ' '), line).not.toMatch(EXCEPTIONS)
  }
})

test('SIGTERM to npm stops the demo cleanly', async () => {
  demo.process.kill('SIGTERM')
  expect(await demo.ended).toBe(0)
})

test('the demo starts again on its own data, but not once that has another workspace', async () => {
  const environment = { CDS_DATA_DIR: directory }
  const again = await runProgram('npm', ['run', 'demo'], environment, LAST_LINE)
  await insertTenantOf(directory)
  again.process.kill('SIGTERM')
  expect(await again.ended).toBe(0)
  const refused = startProcess('packages/server/src/demo/main.ts', [], { PORT: '0', ...environment }, LAST_LINE)
  await expect(refused).rejects.toThrow(/ended with 1:\n([^\n]*\n)*The database has the workspace "Test"/)
  const allowed = await runProgram('npm', ['run', 'demo', '--', '--allow-other-workspaces'], environment, LAST_LINE)
  allowed.process.kill('SIGTERM')
  expect(await allowed.ended).toBe(0)
})
