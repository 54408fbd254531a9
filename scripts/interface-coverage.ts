/**
 * Generates docs/interface-coverage.md from the requests and responses of the last full test run: for each endpoint the
 * tests of its success, parameters, errors, scope and tenancy. Exits 1 if an endpoint lacks one, or if its declared
 * errors are not the ones that were returned.
 * `--check` leaves the page as it is. It checks that the page has each endpoint and that the run confirms what the page
 * says: of the tests that a cell names, one received it, and all made the request. A run may show more: a new test does
 * not have to be on the page, and a slow machine returns errors that a fast one does not.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { OPERATIONS as DECLARED } from '../packages/server/src/assembly/all-operations.ts'
import { groupOf } from './test-groups.ts'

const RECORDS = 'node_modules/.cache/interface-coverage'
const PAGE = 'docs/interface-coverage.md'
const COLUMNS = ['success', 'parameters', 'errors', 'scope', 'tenancy']
const FILES_SHOWN = 4
/** Errors of a busy machine, which a test may get by chance. */
const BY_CHANCE = ['429 rate_limited', '429 too_many_reads', '499 client_closed_request']
/** Errors of the hooks and the body's parser that all routes share: walk.test.ts shows them of one route of each kind. */
const OF_ALL_ROUTES = ['400 invalid_json', '403 cross_site_request', '413 body_too_large']
const NOT_ITS_OWN = [...BY_CHANCE, ...OF_ALL_ROUTES]
/** Their requests are random, or those of pages in a browser, which may close before they send one: they prove nothing. */
const isEvidence = (file: string) => !/interleavings|\.property\.test/.test(file) && groupOf(file) !== 'browser'
/** They report the state of the service to anyone; they have no input and belong to no tenant. */
const OPERATIONS = ['health', 'ready', 'metrics', 'openapi']

/** Downloads of a list, which read the same parameters: the requests of the list count for both. */
const DOWNLOAD_OF: Readonly<Record<string, string>> = {
  exportContacts: 'listContacts',
  exportCompanies: 'listCompanies',
  exportEvents: 'listEvents',
}

/** Public operations that do not ask for a domain, and the error of a caller who may not use them. */
const DENIED_ELSEWHERE: Readonly<Record<string, string>> = { receiveHook: 'invalid_signature' }
/** Public operations that refuse nobody: what a stranger gets instead is tested as another tenant's. */
const REFUSING_NOBODY = ['trackerScript', 'readShared']
/** Fields with which a provider reports a failure: no request that has them succeeds. */
const OF_FAILURES = ['completeAuthorization error', 'completeAuthorization error_description']

interface Seen {
  operation: string
  status: number
  code: string | null
  parameters: string[]
  file: string
  test: string
}

/** What the tests show of one endpoint, in the order of the page's columns. */
interface Endpoint {
  name: string
  /** Files of all tests that request it, whatever they receive. */
  requesting: string[]
  cells: Cell[]
}

interface Cell {
  /** Number of parameters, or codes of errors. */
  said: string[]
  /** Files of the tests. */
  tests: string[]
}

interface Body {
  $ref?: string
  properties?: Record<string, unknown>
  anyOf?: Body[]
}

interface Operation {
  operationId: string
  responses: Record<string, { description: string }>
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Body }> }
  security?: unknown[]
}

const { paths, components } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Body> }
}
const recorded = readdirSync(RECORDS).flatMap(
  (file) => JSON.parse(readFileSync(`${RECORDS}/${file}`, 'utf8')) as Seen[],
)
const evidence = new Set(filesOf(recorded).filter(isEvidence))
const seen = recorded.filter(({ file }) => evidence.has(file))

const problems: string[] = []
const endpoints = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const name = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`
    findUndeclaredErrors(name, operation)
    return OPERATIONS.includes(operation.operationId) ? [] : [proofsOf(name, operation)]
  }),
)
for (const operation of DECLARED) findUnseenErrors(operation)

if (process.argv.includes('--check')) checkPage(readFileSync(PAGE, 'utf8'))
else writeFileSync(PAGE, pageOf(endpoints))
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}

/** openapi.json has every error that a test received. */
function findUndeclaredErrors(name: string, { operationId, responses }: Operation): void {
  // A caller who has disconnected, 499, gets no response.
  const received = seen.filter(({ operation: id, status }) => id === operationId && status >= 400 && status !== 499)
  const undeclared = codesOf(
    received.filter(({ status, code }) => !responses[status]?.description.includes(`\`${code}\``)),
  )
  if (undeclared.length > 0) problems.push(`${name}: openapi.json lacks the errors ${undeclared.join(', ')}`)
}

/** A test receives every declared error, from one of the operations that declare it. */
function findUnseenErrors({ name, errors = [] }: (typeof DECLARED)[number]): void {
  const unseen = errors.filter((error) => !isReceived(error))
  if (unseen.length > 0) problems.push(`${name}: no test receives ${unseen.join(', ')}`)
}

function isReceived(error: string): boolean {
  const sharing = new Set(DECLARED.flatMap(({ name, errors = [] }) => (errors.includes(error as never) ? [name] : [])))
  return seen.some(({ operation, status, code }) => sharing.has(operation) && `${status} ${code}` === error)
}

/** Reports what the tests of an endpoint lack. @returns what they show */
function proofsOf(name: string, operation: Operation): Endpoint {
  const own = seen.filter(({ operation: id }) => id === operation.operationId)
  const successes = own.filter(({ status }) => status < 300)
  const isPublic = operation.security?.length === 0
  const denied = isPublic ? (DENIED_ELSEWHERE[operation.operationId] ?? 'domain_not_allowed') : 'insufficient_scope'
  const errors = own.filter(
    ({ status, code }) =>
      status >= 400 && status < 500 && status !== 401 && code !== denied && !NOT_ITS_OWN.includes(`${status} ${code}`),
  )
  const tenancy = own.filter(({ test }) => /another tenant|a stranger/i.test(test))
  const scope = REFUSING_NOBODY.includes(operation.operationId) ? tenancy : own.filter(({ code }) => code === denied)

  const parameters = parametersOf(operation)
  const ofList = seen.filter(({ operation: id, status }) => id === DOWNLOAD_OF[operation.operationId] && status < 300)
  const unused = parameters.filter(
    (parameter) =>
      !OF_FAILURES.includes(`${operation.operationId} ${parameter}`) &&
      ![...successes, ...ofList].some(({ parameters: sent }) => sent.includes(parameter)),
  )
  if (unused.length > 0) problems.push(`${name}: no test succeeds with ${unused.join(', ')}`)
  // A list accepts every filter; it has no errors except those of its parameters.
  const needsError = parameters.length > 0 || name.includes(':')
  for (const [kind, responses] of Object.entries({ success: successes, errors, scope, tenancy })) {
    if (responses.length === 0 && (kind !== 'errors' || needsError)) problems.push(`${name}: no test of its ${kind}`)
  }
  const withParameters = parameters.length === 0 ? [] : successes.filter(({ parameters: sent }) => sent.length > 0)
  return {
    name,
    requesting: filesOf(own),
    cells: [
      { said: [], tests: filesOf(successes) },
      { said: [parameters.length === 0 ? 'none' : `${parameters.length}`], tests: filesOf(withParameters) },
      { said: errors.length === 0 ? ['none'] : codesOf(errors), tests: filesOf(errors) },
      { said: [], tests: filesOf(scope) },
      { said: [], tests: filesOf(tenancy) },
    ],
  }
}

function pageOf(proven: Endpoint[]): string {
  const rows = proven.map(({ name, cells }) => `| ${[`\`${name}\``, ...cells.map(cellText)].join(' | ')} |`)
  return `# Interface coverage

Made by \`npm run coverage\` from the requests that the tests sent to a running service, and its responses. \`npm test\`
fails if an endpoint lacks a test of one of these kinds, or if the run does not confirm what this page says. Every
response of every test is checked against the endpoint's schema in openapi.json. Errors that all endpoints share, such as
413 \`body_too_large\`, are tested at one endpoint of each kind, in \`walk.test.ts\`, and not shown.

| Endpoint | Success | Every parameter and field used | Errors | Scope or domain | Tenancy |
|---|---|---|---|---|---|
${rows.join('\n')}
`
}

function cellText({ said, tests }: Cell): string {
  const shown = tests.slice(0, FILES_SHOWN)
  const links = shown.map((file) => `[${file.split('/').at(-1)?.replace('.test.ts', '')}](../${file})`)
  return [said.join(', '), links.join(', ')].filter((part) => part !== '').join(': ')
}

/** Reports what the page says but the run does not show. */
function checkPage(page: string): void {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'))
  const named = rows.map((row) => row.split('`')[1] ?? '')
  const missing = endpoints.filter(({ name }) => !named.includes(name)).map(({ name }) => `${name} is not on it`)
  const wrong = rows.flatMap((row, at) => differencesOf(row, named[at] ?? ''))
  if (missing.length + wrong.length > 0)
    problems.push(`${PAGE} is out of date; run: npm run coverage`, ...[...missing, ...wrong].map((line) => `  ${line}`))
}

function differencesOf(row: string, name: string): string[] {
  const endpoint = endpoints.find((one) => one.name === name)
  if (endpoint === undefined) return [`${name} is not an endpoint`]
  const cells = row.slice(0, -' |'.length).split(' | ').slice(1)
  return endpoint.cells.flatMap(({ said, tests }, at) => {
    const cell = cells[at] ?? ''
    const files = [...cell.matchAll(/\(\.\.\/([^)]+)\)/g)].map(([, file = '']) => file)
    const words = cell.startsWith('[') ? [] : (cell.split(': [')[0] ?? '').split(', ').filter((word) => word !== '')
    // What a test receives may depend on time: whether a run has ended, or a record exists yet. One of them is enough.
    const isShown = files.length === 0 || files.some((file) => tests.includes(file))
    const unshown = isShown ? files.filter((file) => !endpoint.requesting.includes(file)) : files
    return [...words.filter((word) => !said.includes(word)), ...unshown].map(
      (claim) => `${name}: the run does not show ${claim} (${COLUMNS[at]})`,
    )
  })
}

/** Names of the query's parameters and of the body's top-level fields. */
function parametersOf({ parameters = [], requestBody }: Operation): string[] {
  const schemaOf = (body: Body) => components.schemas[body.$ref?.split('/').at(-1) ?? ''] ?? body
  const bodies = Object.values(requestBody?.content ?? {}).map(({ schema }) => schemaOf(schema))
  const alternatives = bodies.flatMap((body) => body.anyOf?.map(schemaOf) ?? [body])
  const fields = alternatives.flatMap(({ properties = {} }) => Object.keys(properties))
  const query = parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name)
  return [...new Set([...query, ...fields])]
}

function codesOf(responses: Seen[]): string[] {
  return [...new Set(responses.map(({ status, code }) => `${status} ${code}`))].sort()
}

function filesOf(responses: Seen[]): string[] {
  return [...new Set(responses.map(({ file }) => file))].sort()
}
