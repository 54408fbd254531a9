/**
 * The rules of this repository that a compiler does not check: the length of files, and which code may use which.
 * Exits 1 and names every violation. Long files are only noted: whether one holds two rules is for people to judge.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join, matchesGlob, normalize } from 'node:path'

/** Longer files are noted. A limit that fails would be met by cutting where a file is full, not where a rule ends. */
const LONG_SOURCE_LINES = 300
const LONG_TEST_LINES = 500
/** No file is so long that nobody can judge it. Biome limits the length of functions. */
const LINES_MAX = 600
/** A shorter file joins the only file that imports it, unless that is in another folder. */
const SHORT_LINES = 30
/** Short files of their own: there is one for each of a kind, or readers see them one by one. */
const SHORT = [/^examples\//, /\/cli\/[a-z-]+-commands\.ts$/, /\/event-formats\/[a-z]+\.ts$/]
const SERVER = 'packages/server/src/'
const TRACKER = 'packages/tracker/src/'
const DASHBOARD = 'packages/dashboard/src/'
/** Modules that may read every tenant's rows, because they serve all tenants at once. */
const UNSCOPED = [
  'platform',
  'access',
  'journal',
  'operations/idempotency.ts',
  'webhooks/queue',
  'erasure/erase-events.ts',
  'providers/retention.ts',
  'conversations/mailbox',
  'identification/retention.ts',
  'identification/erase.ts',
  'sites/problems/record.ts',
  'sources/usage.ts',
  'sources/write-keys.ts',
  'hooks/tokens.ts',
  'hooks/workers.ts',
  'contacts/visitors/erase.ts',
  'cli',
  'demo',
  'assembly',
]
/**
 * The files that use the connection to ClickHouse, and why. All others read events through the tenant's handle, whose
 * barrier makes every read see what was acknowledged before it.
 */
const USES_CLICKHOUSE: Record<string, string> = {
  'assembly/engines.ts': 'opens and closes it',
  'cli/doctor.ts': 'reports its version',
  'cli/session.ts': 'replaces it while the service has the embedded engine',
  'erasure/erase-events.ts': 'deletes events, after the barrier',
  'journal/insert-again.ts': 'looks up the rows that an interrupted insertion may have stored',
  'journal/projector.ts': 'inserts the rows that the barrier waits for',
  'platform/clickhouse/installation.ts': 'checks at the start whose events it has',
  'platform/clickhouse/tables.ts': 'creates tables',
  'platform/clickhouse/tenant-events.ts': "is the tenant's handle",
  'platform/clickhouse/version.ts': 'reads its version',
  'platform/operations-routes.ts': 'only names a field of a response like it',
  'platform/read-lanes.ts': 'reads how many threads it uses',
  'platform/readiness.ts': 'pings it',
  'platform/tenant.ts': 'declares it',
}
/** Calls to an address. Addresses from users must be checked, so one folder makes all calls. (METHODS is a list of words.) */
const CALLS_OUT =
  /(?<!import \{ (METHODS|STATUS_CODES) \} )from '(node:)?(undici|https?|http2)'|import\('(node:)?(undici|https?|http2)'\)|(?<![\w.])fetch\(/

/** A text for people as an attribute or a field, which belongs into a catalogue; text within tags is Biome's to find. */
const TEXT_IN_CODE =
  /(?<![\w-])(label|placeholder|title|description|header|message|explanation|confirmLabel|alt|aria-label)(=|=\{|'?: )(["'`])(?=[^"'`]*[A-Za-z]{2}|`[^`]*[A-Za-z]{2})/
/** The files that hold a feature's texts. */
const CATALOGUE = /\/([a-z]+-)?text\.ts$/
/** Code that the dashboard shows to be copied, and does not run. */
const SHOWN_CODE = `${DASHBOARD}connect/snippets.ts`
/** The parts of the dashboard that have their texts in catalogues: Biome's rule applies to the same ones. */
const hasCatalogue = partsOfBiomeOverride()

/** The tables of other folders that a folder may write, and why. */
const MAY_WRITE: Record<string, Record<string, string>> = {
  journal: { visitors: 'a flush registers the visitors of its events in its one statement' },
  seed: {
    companies: 'loads sample data in bulk',
    contacts: 'loads sample data in bulk',
    contact_sources: 'loads sample data in bulk',
    visitors: 'loads sample data in bulk',
    identity_links: 'loads sample data in bulk',
  },
}
/** The tables of other folders that a folder may read, because a join is cheaper than a call for each row. */
const MAY_READ: Record<string, Record<string, string>> = {
  contacts: {
    segment_members: 'a contact is returned with its segments',
    imports: 'a list has the contacts of an import',
    import_changes: 'which says what an import wrote',
    companies: 'an unmerged contact gets its company back if that still exists',
    owner_links: 'linking visitors depends on what was linked before',
  },
  identification: {
    contacts: 'finds the contact of an identification',
    visitors: 'finds the visitor of a fingerprint',
  },
  companies: { contacts: 'deleting a company changes its contacts' },
  events: { contacts: 'a page of events has their contacts', companies: 'and their companies' },
  sites: {
    tenants: 'a problem is kept only for a tenant that exists',
    contacts: 'the people of a batch of events are looked up at once',
    visitors: 'and their visitors',
  },
  segments: { contacts: 'a segment is a query of contacts', companies: 'values are suggested with names' },
  audit: {
    agents: 'an entry has the name of its subject',
    agent_runs: 'an entry has the name of its subject',
    api_keys: 'an entry has the name of its subject',
    domains: 'an entry has the name of its subject',
    hooks: 'an entry has the name of its subject',
    identities: 'an entry has the name of its subject',
    imports: 'an entry has the name of its subject',
    invitations: 'an entry has the name of its subject',
    saved_views: 'an entry has the name of its subject',
    segments: 'an entry has the name of its subject',
    sources: 'an entry has the name of its subject',
    connections: 'an entry has the name of its subject',
    warehouse_destinations: 'an entry has the name of its subject',
    webhook_subscriptions: 'an entry has the name of its subject',
  },
  connectors: { contacts: 'only contacts that still exist are noted to be written back' },
  aggregate: { segments: 'a group is labelled with its name' },
  overview: { contacts: 'figures of everything', agent_actions: 'figures of everything' },
  identities: { contacts: 'a mail needs its recipient', agents: 'an identity is shown with the agents that use it' },
  conversations: {
    contacts: 'participants are matched with contacts',
    contact_sources: 'participants are matched with contacts',
    contact_source_ids: 'participants are matched with contacts',
    contact_aliases: 'participants are matched with merged contacts',
    contact_merges: 'participants are matched with merged contacts',
    email_accounts: 'a mailbox is read with its account',
  },
  agents: {
    contacts: 'an agent evaluates contacts',
    companies: 'with their companies',
    notes: 'and notes',
    segments: 'chosen by a segment',
    segment_members: 'chosen by a segment',
    identities: 'an agent sends as an identity',
    email_accounts: 'which has an address',
  },
  warehouse: {
    contacts: 'all of them are exported',
    companies: 'all of them are exported',
    erasures: 'a manifest names erased contacts',
  },
  platform: { owner_links: 'queries of ClickHouse resolve owners' },
  cli: { journal: 'doctor counts what waits' },
}

/** What is installed, built or written by the service. */
const NOT_SOURCES = new Set(['node_modules', 'dist', 'data', 'data-demo', 'coverage', '.next', 'next-env.d.ts'])

const problems: string[] = []
const owners = ownersOfTables()
/** The imports between folders, by folder, each with an example. */
const arrows = new Map<string, Map<string, string>>()
const files = filesLike('**/*.{ts,tsx}').filter((file) => !file.includes('/generated/'))
const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

for (const [file, text] of texts) {
  checkLength(file, text)
  if (file.endsWith('.test.ts') && text.includes('useFakeTimers')) {
    problems.push(`${file}: fake timers stop the worker's shared service; shorten the one timer instead`)
  }
  if (file.startsWith(TRACKER)) checkTrackerImports(file, text)
  if (file.startsWith(DASHBOARD)) checkPages(file, text)
  if (file.startsWith(SERVER) && !file.endsWith('.test.ts')) {
    for (const imported of importsOf(file, text)) checkImport(file, imported)
    checkTables(file, text)
    checkClickHouse(file, text)
    // The scripts of the documentation run in the browser.
    const mayCall = file.startsWith(`${SERVER}platform/outbound/`) || file.startsWith(`${SERVER}docs/browser/`)
    if (CALLS_OUT.test(text) && !mayCall) {
      problems.push(`${file}: only platform/outbound calls other hosts`)
    }
  }
}
checkShortFiles()
checkCircles()
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}

function checkLength(file: string, text: string): void {
  const lines = linesOf(text)
  if (lines > LINES_MAX) problems.push(`${file}: ${lines} lines; at most ${LINES_MAX}. Divide it by rule`)
  // A catalogue of texts is a list.
  else if (lines > (file.endsWith('.test.ts') ? LONG_TEST_LINES : LONG_SOURCE_LINES) && !CATALOGUE.test(file))
    console.log(`note: ${file} has ${lines} lines; if it holds two rules, divide it between them`)
}

/**
 * A few lines that only one file in the folder needs are easier to read in that file. Files that are loaded when they are
 * needed, and rules with a test of their own, stay.
 */
function checkShortFiles(): void {
  const importers = new Map<string, string[]>()
  const loadedLater = new Set<string>()
  for (const [file, text] of texts) {
    for (const imported of importsOf(file, text)) importers.set(imported, [...(importers.get(imported) ?? []), file])
    for (const [, path = ''] of text.matchAll(/import\(\s*'(\.[^']+)'/g))
      loadedLater.add(normalize(join(dirname(file), path)))
  }
  for (const [file, text] of texts) {
    const [importer, ...others] = importers.get(file) ?? []
    if (importer === undefined || others.length > 0 || dirname(importer) !== dirname(file)) continue
    if (loadedLater.has(file) || CATALOGUE.test(file) || SHORT.some((place) => place.test(file))) continue
    const fits = linesOf(text) + linesOf(texts.get(importer) ?? '') <= LONG_SOURCE_LINES
    if (linesOf(text) < SHORT_LINES && fits)
      problems.push(`${file}: ${linesOf(text)} lines, imported only by ${importer}; join them`)
  }
}

function linesOf(text: string): number {
  return text.split('\n').length - 1
}

/** The tracker imports nothing, so that pages load only code written for it. */
function checkTrackerImports(file: string, text: string): void {
  for (const [, imported = ''] of text.matchAll(/(?:from|import\(?)\s*'([^']+)'/g)) {
    if (!/^\.\/[^/]+$/.test(imported)) problems.push(`${file} imports ${imported}: the tracker imports nothing`)
  }
}

/** Rules for the dashboard: only api/ calls the service, no server code is imported, and React creates all markup. */
function checkPages(file: string, text: string): void {
  const calls = /(?<![\w.])fetch\(|new (XMLHttpRequest|EventSource|WebSocket)\b/.test(text)
  if (calls && !file.startsWith(`${DASHBOARD}api/`) && file !== SHOWN_CODE)
    problems.push(`${file}: only api/ calls the service`)
  if (/dangerouslySetInnerHTML|\.(inner|outer)HTML\s*=/.test(text)) {
    problems.push(`${file} writes markup: text from outside must stay text`)
  }
  if (hasCatalogue(file) && !CATALOGUE.test(file)) {
    for (const [index, line] of text.split('\n').entries()) {
      if (TEXT_IN_CODE.test(line)) problems.push(`${file}:${index + 1}: put the text into text.ts: ${line.trim()}`)
    }
  }
  for (const [statement] of text.matchAll(/\b(?:import|export)\b[^']*'[^']*\/server\/[^']*'/g)) {
    if (!/^import type\b/.test(statement)) problems.push(`${file}: may import only types from the server: ${statement}`)
  }
}

/** Whether a file is in the includes of the rule `noJsxLiterals` in biome.json. */
function partsOfBiomeOverride(): (file: string) => boolean {
  const { overrides } = JSON.parse(readFileSync('biome.json', 'utf8')) as { overrides: { includes: string[] }[] }
  const [{ includes } = { includes: [] }] = overrides.filter((each) => JSON.stringify(each).includes('noJsxLiterals'))
  const [not, only] = [
    includes.filter((part) => part.startsWith('!')),
    includes.filter((part) => !part.startsWith('!')),
  ]
  return (file) => only.some((part) => matchesGlob(file, part)) && !not.some((part) => matchesGlob(file, part.slice(1)))
}

function importsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import\()\s*'(\.[^']+)'/g)].map(([, path]) =>
    normalize(join(dirname(file), path ?? '')),
  )
}

function checkImport(file: string, imported: string): void {
  const [from, to] = [file, imported].map((path) => path.slice(SERVER.length).split('/'))
  const [feature = '', target = ''] = [from?.[0], to?.[0]]
  if (from && to && from.length > 1 && to.length > 1 && feature !== target && imported.startsWith(SERVER)) {
    const known = arrows.get(feature) ?? new Map<string, string>()
    arrows.set(feature, known.set(target, `${file} imports ${imported}`))
  }
  const forbid = (rule: string) => problems.push(`${file} imports ${imported}: ${rule}`)
  if (target === 'assembly' && feature !== 'assembly' && !['main.ts', 'cli.ts', 'cli', 'demo'].includes(feature))
    forbid('only assembly/ may import all parts')
  if (feature === 'platform' && !['platform', 'config.ts', 'config-values.ts'].includes(target))
    forbid('platform must not import features')
  if (feature.startsWith('config') && target === 'platform')
    forbid('platform reads the configuration, which knows no folder')
  if (target !== feature && to?.at(-1) === 'routes.ts' && feature !== 'assembly') forbid('nothing imports routes')
  // Code that reads a model's output only proposes: it cannot reach code that sends, approves or executes.
  const acts = /\/(identities|agents\/actions\/(?!settings|action-object))/.test(imported)
  if (from?.slice(0, 2).join('/') === 'agents/reasoning' && acts)
    forbid('the reasoning of agents must not import code that acts')
  const seesAllTenants = /(postgres\/(database|connect)|clickhouse\/connect(ions)?)\.ts$/.test(imported)
  const unscoped = UNSCOPED.some((path) => `${from?.join('/')}/`.startsWith(`${path}/`))
  if (seesAllTenants && !unscoped && !isTypeOfParameters(file)) {
    forbid('reach tenant data through the tenant handle')
  }
}

/** Some files need the types of placeholders and tables, which give no access. */
function isTypeOfParameters(file: string): boolean {
  const text = readFileSync(file, 'utf8')
  return (
    [...text.matchAll(/import (type )?.*(?:database|connect)\.ts'/g)].every(([, type]) => type !== undefined) &&
    !/\bDatabase\b/.test(text)
  )
}

/** The folder of each PostgreSQL table: the one whose tables.sql creates it. */
function ownersOfTables(): Map<string, string> {
  return new Map(
    filesLike(`${SERVER}**/tables.sql`).flatMap((file) => {
      const created = readFileSync(file, 'utf8').matchAll(/^CREATE TABLE (\w+)/gm)
      return [...created].map(([, table = '']) => [table, file.slice(SERVER.length).split('/')[0] ?? ''] as const)
    }),
  )
}

/** The project's files; a copy without Git's folder is checked too. */
function filesLike(pattern: string): string[] {
  return globSync(pattern, { exclude: (path) => NOT_SOURCES.has(basename(path)) }).sort()
}

/** A folder queries its own tables; it uses others through the functions of their folders. */
function checkTables(file: string, text: string): void {
  const [folder = ''] = file.slice(SERVER.length).split('/')
  const code = withoutComments(text)
  const written = code.matchAll(
    /(?:insertInto|updateTable|deleteFrom)\('(\w+)|\b(?:INSERT INTO|UPDATE|DELETE FROM) (\w+)/g,
  )
  const read = code.matchAll(/(?:selectFrom|\w+Join|using)\(\s*'(\w+)|\b(?:FROM|JOIN|USING) (\w+)/g)
  const check = (places: Iterable<RegExpExecArray>, verb: string, allowed: Record<string, string> = {}) => {
    for (const [, ...tables] of places) {
      const table = tables.find((each) => each !== undefined) ?? ''
      const owner = owners.get(table)
      if (owner !== undefined && owner !== folder && !Object.hasOwn(allowed, table)) {
        problems.push(`${file} ${verb} ${table}, which is a table of ${owner}/`)
      }
    }
  }
  check(written, 'writes', MAY_WRITE[folder])
  check(read, 'reads', { ...MAY_READ[folder], ...MAY_WRITE[folder] })
}

/** Whoever uses the connection to ClickHouse must name it, wherever it comes from. */
function checkClickHouse(file: string, text: string): void {
  const code = withoutComments(text).replace(/"[^"\n]*"|'[^'\n]*'/g, '')
  const uses = /\bclickhouse\b/.test(code)
  const isListed = Object.hasOwn(USES_CLICKHOUSE, file.slice(SERVER.length))
  if (uses && !isListed) {
    problems.push(
      `${file} uses ClickHouse directly: read events through the tenant's handle, or give a reason in USES_CLICKHOUSE of check-house.ts`,
    )
  } else if (!uses && isListed)
    problems.push(`${file}: no longer uses ClickHouse directly; remove it from USES_CLICKHOUSE`)
}

/** Removes the lines that are comments. */
function withoutComments(text: string): string {
  return text.replace(/^\s*(\/\/|\/?\*).*$/gm, '')
}

/** Folders import one another in one direction. */
function checkCircles(): void {
  const done = new Set<string>()
  const visit = (folder: string, path: readonly string[]): void => {
    const start = path.indexOf(folder)
    if (start >= 0) {
      const circle = [...path.slice(start), folder]
      const examples = circle.slice(1).map((next, index) => arrows.get(circle[index] ?? '')?.get(next))
      problems.push(`a circle of folders, ${circle.join(' → ')}:\n  ${examples.join('\n  ')}`)
      return
    }
    if (done.has(folder)) return
    for (const next of arrows.get(folder)?.keys() ?? []) visit(next, [...path, folder])
    done.add(folder)
  }
  for (const folder of arrows.keys()) visit(folder, [])
}
