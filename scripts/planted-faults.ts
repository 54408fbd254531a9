/**
 * `npx node scripts/planted-faults.ts`: plants each fault of the list in turn, runs the tests named for it, and fails unless they
 * fail. It shows that changed tests still prove what they did. All faults take an hour. `--only NAME …` plants those
 * whose name contains a NAME; `--list` prints them, after checking that each can be planted.
 */
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_FAULTS, problemsOf } from './planted-faults/all.ts'
import type { Fault } from './planted-faults/fault.ts'

const VITEST = 'node_modules/vitest/vitest.mjs'
const DIST = 'packages/dashboard/dist'
/** With a fault, the end of a file may hang for as long as its hooks may take. */
const LIMITS = ['--testTimeout=300000', '--hookTimeout=120000']

interface Report {
  testResults: { name: string; message: string; assertionResults: TestResult[] }[]
}

interface TestResult {
  status: 'passed' | 'failed' | 'pending' | 'skipped' | 'todo'
  fullName: string
  failureMessages: string[]
}

interface Outcome {
  isCaught: boolean
  /** The test that failed, or why the fault counts as missed. */
  by: string
}

const words = process.argv.slice(2)
const names = words.filter((word) => !['--only', '--list'].includes(word))
const chosen = ALL_FAULTS.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
const problems = [...problemsOf(chosen), ...(words.includes('--list') ? [] : changedFiles(chosen))]
if (chosen.length === 0) problems.push(`No fault has a name with ${names.join(' or ')}.`)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}
if (words.includes('--list')) {
  for (const { name, area, file } of chosen) console.log(`${name.padEnd(44)}  ${area.padEnd(24)}  ${file}`)
  process.exit(0)
}

const directory = mkdtempSync(join(tmpdir(), 'planted-faults-'))
/** Takes the planted fault away. */
let restore = () => {}
let running: ReturnType<typeof spawn> | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    running?.kill('SIGTERM')
    process.exit(1)
  })
}
process.on('exit', () => {
  restore()
  rmSync(directory, { recursive: true, force: true })
})

let missed = 0
for (const fault of chosen) {
  const startedAt = performance.now()
  plant(fault)
  const { isCaught, by } = await tryOut(fault)
  restore()
  if (!isCaught) missed++
  const seconds = Math.round((performance.now() - startedAt) / 1_000)
  console.log(`${isCaught ? '✓' : '✗'} ${fault.name.padEnd(44)}  ${`${seconds} s`.padStart(6)}  ${by}`)
}
console.log(`${chosen.length - missed} of ${chosen.length} faults were caught.`)
process.exit(missed === 0 ? 0 : 1)

function plant({ file, find, replace }: Fault): void {
  const before = readFileSync(file, 'utf8')
  // The tests build the pages from the changed sources; the build from before is kept.
  const kept = join(directory, 'dist')
  const isPage = file.startsWith('packages/dashboard/src/') && existsSync(DIST)
  if (isPage) cpSync(DIST, kept, { recursive: true, preserveTimestamps: true })
  restore = () => {
    writeFileSync(file, before)
    if (isPage) {
      rmSync(DIST, { recursive: true, force: true })
      cpSync(kept, DIST, { recursive: true, preserveTimestamps: true })
      rmSync(kept, { recursive: true, force: true })
    }
    restore = () => {}
  }
  writeFileSync(
    file,
    before.replace(find, () => replace),
  )
}

async function tryOut({ tests, only }: Fault): Promise<Outcome> {
  const file = join(directory, 'report.json')
  rmSync(file, { force: true })
  const titles = only === undefined ? [] : ['-t', only]
  const report = ['--reporter=json', `--outputFile=${file}`]
  const child = spawn(process.execPath, [VITEST, 'run', ...tests, ...titles, '--bail=1', ...LIMITS, ...report], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  running = child
  let output = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-2_000)
  })
  await new Promise((resolve) => child.once('close', resolve))
  if (!existsSync(file)) return { isCaught: false, by: `no result: ${output.trim().split('\n').at(-1) ?? ''}` }
  return outcomeOf(JSON.parse(readFileSync(file, 'utf8')) as Report)
}

/** A fault is caught if a test fails that ran: not one that timed out, nor one whose file cannot be loaded. */
function outcomeOf({ testResults }: Report): Outcome {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  const failed = results.find(({ status }) => status === 'failed')
  if (failed !== undefined) {
    const [message = ''] = failed.failureMessages
    const isHanging = /^Error: (Test|Hook) timed out/.test(message)
    return { isCaught: !isHanging, by: `${failed.fullName.trim()}: ${firstLine(message)}` }
  }
  const broken = testResults.find(({ message }) => message !== '')
  if (broken !== undefined) return { isCaught: false, by: `outside of a test: ${firstLine(broken.message)}` }
  const passed = results.filter(({ status }) => status === 'passed').length
  return { isCaught: false, by: passed === 0 ? 'no test ran' : `${passed} tests passed` }
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').slice(0, 160)
}

/** Restoring a file would lose changes that are not committed. */
function changedFiles(faults: readonly Fault[]): string[] {
  const files = [...new Set(faults.map(({ file }) => file))]
  const { stdout } = spawnSync('git', ['status', '--porcelain', '--', ...files], { encoding: 'utf8' })
  return stdout
    .split('\n')
    .flatMap((line) => (line === '' ? [] : `${line.slice(3)} has changes that are not committed.`))
}
