/**
 * Generates docs/interface-coverage.md from the requests and answers of the last full test run: for each endpoint the tests
 * of its success, parameters, errors, scope and tenancy. Exits 1 if an endpoint lacks one, or if its declared errors are
 * not the ones that were answered.
 * `--check` compares the page instead of writing it.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { OPERATIONS as DECLARED } from '../packages/server/src/assembly/all-operations.ts'
import { errorsOf } from '../packages/server/src/operations/errors.ts'

const RECORDS = 'node_modules/.cache/interface-coverage'
const PAGE = 'docs/interface-coverage.md'
const FILES_SHOWN = 4
/** Their requests are random, or those of a browser, so they prove nothing. */
const NO_EVIDENCE = /interleavings|\.property\.test|^packages\/(dashboard|tracker)\/test|demo\/site|test\/browser/
/** They report the state of the service to anyone; they have no input and belong to no tenant. */
const OPERATIONS = ['health', 'ready', 'metrics', 'openapi']

/** Public operations that do not ask for a domain, and the error of a caller who may not use them. */
const DENIED_ELSEWHERE: Readonly<Record<string, string>> = { receiveHook: 'invalid_signature' }
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

interface Body {
  $ref?: string
  properties?: Record<string, unknown>
}

interface Operation {
  operationId: string
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { schema: Body & { anyOf?: Body[] } }> }
  security?: unknown[]
}

const { paths, components } = JSON.parse(readFileSync('openapi.json', 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Body> }
}
const seen = readdirSync(RECORDS)
  .flatMap((file) => JSON.parse(readFileSync(`${RECORDS}/${file}`, 'utf8')) as Seen[])
  .filter(({ file }) => !NO_EVIDENCE.test(file))

const problems: string[] = []
const rows = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).flatMap(([method, operation]) => {
    const name = `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`
    return OPERATIONS.includes(operation.operationId) ? [] : [rowOf(name, operation)]
  }),
)
for (const operation of DECLARED) compareErrors(operation)
const page = `# Interface coverage

Made by \`npm test\` from what the tests asked a running service and what it answered; an endpoint that lacks a test of one
of these kinds fails the run. Every answer of every test is checked against the endpoint's schema in openapi.json.

| Endpoint | Success | Every parameter and field used | Errors | Scope or domain | Tenancy |
|---|---|---|---|---|---|
${rows.join('\n')}
`

if (!process.argv.includes('--check')) writeFileSync(PAGE, page)
else if (readFileSync(PAGE, 'utf8') !== page) problems.push(`${PAGE} is not what the tests say; run: npm run coverage`)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exit(1)
}

/**
 * An operation declares every error that a test received. A test receives every declared error, from one of the operations
 * that declare it.
 */
function compareErrors(operation: (typeof DECLARED)[number]): void {
  // A caller who has disconnected, 499, gets no answer.
  const answers = seen.filter(({ operation: id, status }) => id === operation.name && status >= 400 && status !== 499)
  const answered = [...new Set(answers.map(({ status, code }) => `${status} ${code}`))]
  const declared = errorsOf(operation)
  const undeclared = answered.filter((error) => !declared.includes(error))
  const unseen = (operation.errors ?? []).filter((error) => !isAnswered(error))
  if (undeclared.length > 0) problems.push(`${operation.name}: \`errors\` lacks ${undeclared.join(', ')}`)
  if (unseen.length > 0) problems.push(`${operation.name}: no test is answered ${unseen.join(', ')}`)
}

function isAnswered(error: string): boolean {
  const sharing = new Set(DECLARED.flatMap(({ name, errors = [] }) => (errors.includes(error as never) ? [name] : [])))
  return seen.some(({ operation, status, code }) => sharing.has(operation) && `${status} ${code}` === error)
}

function rowOf(name: string, operation: Operation): string {
  const own = seen.filter(({ operation: id }) => id === operation.operationId)
  const successes = own.filter(({ status }) => status < 300)
  const isPublic = operation.security?.length === 0
  const denied = isPublic ? (DENIED_ELSEWHERE[operation.operationId] ?? 'domain_not_allowed') : 'insufficient_scope'
  const kinds: Record<string, Seen[]> = {
    success: successes,
    errors: own.filter(({ status, code }) => status >= 400 && status < 500 && status !== 401 && code !== denied),
    scope: own.filter(({ code }) => code === denied),
    tenancy: own.filter(({ test }) => /another tenant|a stranger/i.test(test)),
  }
  const unused = parametersOf(operation).filter(
    (parameter) =>
      !OF_FAILURES.includes(`${operation.operationId} ${parameter}`) &&
      !successes.some(({ parameters }) => parameters.includes(parameter)),
  )
  if (unused.length > 0) problems.push(`${name}: no test succeeds with ${unused.join(', ')}`)
  // A list accepts every filter; it has no errors except those of its parameters.
  const needsError = parametersOf(operation).length > 0 || name.includes(':')
  for (const [kind, answers] of Object.entries(kinds)) {
    if (answers.length === 0 && (kind !== 'errors' || needsError)) problems.push(`${name}: no test of its ${kind}`)
  }
  const codes = [...new Set(kinds.errors?.map(({ status, code }) => `${status} ${code}`))].sort()
  const used = parametersOf(operation).length
  const cells = [
    `\`${name}\``,
    filesOf(kinds.success),
    used === 0 ? 'none' : `${used}: ${filesOf(successes.filter(({ parameters }) => parameters.length > 0))}`,
    codes.length === 0 ? 'none' : `${codes.join(', ')}: ${filesOf(kinds.errors)}`,
    filesOf(kinds.scope),
    filesOf(kinds.tenancy),
  ]
  return `| ${cells.join(' | ')} |`
}

/** Names of the query's parameters and of the body's top-level fields. */
function parametersOf({ parameters = [], requestBody }: Operation): string[] {
  const bodies = Object.values(requestBody?.content ?? {}).flatMap(({ schema }) => schema.anyOf ?? [schema])
  const named = bodies.map((body) => components.schemas[body.$ref?.split('/').at(-1) ?? ''] ?? body)
  const fields = named.flatMap(({ properties = {} }) => Object.keys(properties))
  const query = parameters.filter((parameter) => parameter.in === 'query').map((parameter) => parameter.name)
  return [...new Set([...query, ...fields])]
}

function filesOf(answers: Seen[] = []): string {
  const files = [...new Set(answers.map(({ file }) => file))].sort()
  return files
    .slice(0, FILES_SHOWN)
    .map((file) => `[${file.split('/').at(-1)?.replace('.test.ts', '')}](../${file})`)
    .join(', ')
}
