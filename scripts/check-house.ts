/**
 * The habits of this repository that a compiler does not check: short files, and which code may use which.
 * Exits 1 and names every place that breaks one.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const SOURCE_LINES_MAX = 300
const TEST_LINES_MAX = 500
const SERVER = 'packages/server/src/'
const TRACKER = 'packages/tracker/src/'
const DASHBOARD = 'packages/dashboard/src/'
/** May see every tenant's rows at once, because they serve all tenants at once. */
const UNSCOPED = [
  'platform',
  'access',
  'journal',
  'operations/idempotency.ts',
  'webhooks/queue',
  'erasure/erase-events.ts',
  'conversations/mailbox',
  'identification/retention.ts',
  'identification/erase.ts',
  'contacts/visitors/erase.ts',
  'cli',
  'demo',
  'assembly',
]
/** Calls an address. Those that users gave must be checked, so one folder does it for all. (METHODS is a list of words.) */
const CALLS_OUT =
  /(?<!import \{ METHODS \} )from '(node:)?(undici|https?|http2)'|import\('(node:)?(undici|https?|http2)'\)|(?<![\w.])fetch\(/

const problems: string[] = []
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.ts', '*.tsx'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.includes('/generated/'))

for (const file of files) {
  const text = readFileSync(file, 'utf8')
  checkLength(file, text)
  if (file.endsWith('.test.ts') && text.includes('useFakeTimers')) {
    problems.push(`${file}: fake timers stop the worker's shared service; shorten the one timer instead`)
  }
  if (file.startsWith(TRACKER)) checkTrackerImports(file, text)
  if (file.startsWith(DASHBOARD)) checkPages(file, text)
  if (file.startsWith(SERVER) && !file.endsWith('.test.ts')) {
    for (const imported of importsOf(file, text)) checkImport(file, imported)
    if (CALLS_OUT.test(text) && !file.startsWith(`${SERVER}platform/outbound/`)) {
      problems.push(`${file}: only platform/outbound calls other hosts`)
    }
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}

function checkLength(file: string, text: string): void {
  const lines = text.split('\n').length - 1
  const max = file.endsWith('.test.ts') ? TEST_LINES_MAX : SOURCE_LINES_MAX
  if (lines > max) problems.push(`${file}: ${lines} lines; at most ${max}`)
}

/** What pages load holds nothing that is not written for it. */
function checkTrackerImports(file: string, text: string): void {
  for (const [, imported = ''] of text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)) {
    if (!/^\.\/[^/]+$/.test(imported)) problems.push(`${file} imports ${imported}: the tracker imports nothing`)
  }
}

/** What holds for the dashboard's pages: the service is asked in one place, its code stays out, markup is made by React. */
function checkPages(file: string, text: string): void {
  const calls = /(?<![\w.])fetch\(|new (XMLHttpRequest|EventSource|WebSocket)\b/.test(text)
  if (calls && !file.startsWith(`${DASHBOARD}api/`)) problems.push(`${file}: only api/ asks the service`)
  if (/dangerouslySetInnerHTML|\.(inner|outer)HTML\s*=/.test(text)) {
    problems.push(`${file} writes markup: what comes from outside must stay a text`)
  }
  for (const [statement] of text.matchAll(/\b(?:import|export)\b[^']*'[^']*\/server\/[^']*'/g)) {
    if (!/^import type\b/.test(statement)) problems.push(`${file}: takes only types from the server: ${statement}`)
  }
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? '')),
  )
}

function checkImport(file: string, imported: string): void {
  const [from, to] = [file, imported].map((path) => path.slice(SERVER.length).split('/'))
  const [feature = '', target = ''] = [from?.[0], to?.[0]]
  const forbid = (rule: string) => problems.push(`${file} imports ${imported}: ${rule}`)
  if (target === 'assembly' && feature !== 'assembly' && !['main.ts', 'cli.ts', 'cli', 'demo'].includes(feature))
    forbid('only assembly/ knows all parts')
  if (feature === 'platform' && target !== 'platform' && target !== 'config.ts') forbid('platform knows no feature')
  if (target !== feature && to?.at(-1) === 'routes.ts' && feature !== 'assembly')
    forbid('routes are the end of the line')
  // What reads a model's words proposes and does nothing: it cannot reach what sends, approves or executes.
  const acts = /\/(identities|agents\/actions\/(?!settings|action-object))/.test(imported)
  if (from?.slice(0, 2).join('/') === 'agents/reasoning' && acts) forbid('an agent that thinks has no way to act')
  const seesAllTenants = /(postgres\/(database|connect)|clickhouse\/connect)\.ts$/.test(imported)
  const unscoped = UNSCOPED.some((path) => `${from?.join('/')}/`.startsWith(`${path}/`))
  if (seesAllTenants && !unscoped && !isTypeOfParameters(file)) {
    forbid('reach tenant data through the tenant handle')
  }
}

/** Some need the types of placeholders and tables, which give no access. */
function isTypeOfParameters(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  return (
    [...text.matchAll(/import (type )?.*(?:database|connect)\.ts'/g)].every(([, type]) => type !== undefined) &&
    !/\bDatabase\b/.test(text)
  )
}
