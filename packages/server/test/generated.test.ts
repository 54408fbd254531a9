import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { Compile } from 'typebox/compile'
import { beforeAll, expect, test } from 'vitest'
import { pagesWithShownCode } from '../../../scripts/shown-code.ts'
import { MIGRATIONS } from '../src/assembly/migrations.ts'
import { renderCliReference } from '../src/cli/reference.ts'
import { readConfig } from '../src/config.ts'
import { renderSettingsPage } from '../src/docs/settings-page.ts'
import { EVENTS_TABLE } from '../src/events/table.ts'
import { createTableStatements } from '../src/platform/clickhouse/tables.ts'
import { renderOpenapi } from '../src/platform/http/openapi.ts'
import { migratePostgres } from '../src/platform/postgres/migrate.ts'
import { EXAMPLES } from './recorded-examples.ts'
import { sharedService, type TestService } from './service.ts'
import { undeclaredFields } from './undeclared-fields.ts'

let service: TestService
beforeAll(async () => {
  service = await sharedService()
})

const MEND = 'run: npm run generate'

test('openapi.json matches the routes', () => {
  expect(readFileSync('openapi.json', 'utf8'), MEND).toBe(renderOpenapi(service.app.swagger()))
})

test('docs/cli.md has the commands and their options', () => {
  expect(readFileSync('docs/cli.md', 'utf8'), MEND).toBe(renderCliReference())
})

test('docs/settings.md has the settings of .env.example', () => {
  expect(readFileSync('docs/settings.md', 'utf8'), MEND).toBe(renderSettingsPage(readFileSync('.env.example', 'utf8')))
})

test('the docs have the code that the dashboard shows', () => {
  const pages = pagesWithShownCode()
  expect(pages.length).toBeGreaterThan(4)
  for (const { path, text, expected } of pages) expect(text, `${path}: ${MEND}`).toBe(expected)
})

test('every operation has a summary, a tag, documented responses and errors, and its scope', () => {
  const { paths } = service.app.swagger() as unknown as { paths: Record<string, Record<string, Record<string, never>>> }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      expect(operation, `${method} ${path}`).toMatchObject({
        operationId: expect.any(String),
        summary: expect.any(String),
        tags: [expect.any(String)],
        responses: { default: expect.anything() },
      })
      // Whoever asks for the health of the process, which looks at nothing, gets no error.
      const statuses = Object.keys(operation.responses ?? {}).filter((status) => /^[45]/.test(status))
      if (path !== '/v1/health') expect(statuses, `${method} ${path}`).not.toEqual([])
      const isPublic = 'security' in operation && (operation.security as unknown[]).length === 0
      if (!isPublic) expect(operation.description, `${method} ${path}`).toMatch(/Needs the scope/)
    }
  }
})

test('every operation shows a response that its schema allows', () => {
  const { paths, components } = service.app.swagger() as unknown as {
    paths: Record<string, Record<string, { operationId: string; responses: Record<string, Shown> }>>
    components: { schemas: Record<string, object>; responses: object }
  }
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const recorded = readdirSync(EXAMPLES).map((file) => file.replace('.json', ''))
  const successes = operations.flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, { content = {} }], index) => ({
        name: index === 0 ? operationId : `${operationId}.${status}`,
        media: content['application/json'],
      })),
  )
  const names = successes.map(({ name }) => name)
  const files = successes.flatMap(({ name, media }) => (media === undefined ? [name] : []))
  expect(names.filter((name) => !recorded.includes(name))).toEqual(files)
  expect(recorded.filter((name) => !names.includes(name) && !(name in components.responses))).toEqual([])
  for (const { name, media } of successes) {
    if (media === undefined) continue
    const schema = inPlace(media.schema, components.schemas)
    expect([name, [...Compile(schema).Errors(media.example)]]).toEqual([name, []])
    expect([name, undeclaredFields(schema, media.example)]).toEqual([name, []])
  }
})

test('a generated client has a name for every body, response and object that is in several of them', () => {
  const { paths, components } = service.app.swagger() as unknown as {
    paths: Record<string, Record<string, { requestBody?: Shown; responses: Record<string, Shown> }>>
    components: Record<string, object>
  }
  const bodies = Object.values(paths).flatMap((methods) =>
    Object.values(methods).flatMap(({ requestBody, responses }) => [requestBody ?? {}, ...Object.values(responses)]),
  )
  for (const { content } of bodies) {
    const media = content?.['application/json']
    if (media) expect(media.schema).toEqual({ $ref: expect.any(String) })
  }
  const places = new Map<string, string[]>()
  const visit = (value: unknown, place: string) => {
    if (value === null || typeof value !== 'object') return
    const {
      properties,
      description: _,
      ...rest
    } = value as { type?: unknown; properties?: object; description?: string }
    if (rest.type === 'object' && properties && Object.keys(properties).length > 1 && place.includes('.')) {
      const text = JSON.stringify({ properties, ...rest })
      places.set(text, [...(places.get(text) ?? []), place])
    }
    for (const [name, part] of Object.entries(value)) visit(part, place === '' ? name : `${place}.${name}`)
  }
  visit(components.schemas, '')
  expect([...places.values()].filter((each) => each.length > 1)).toEqual([])
})

interface Shown {
  content?: Record<string, { schema: object; example?: unknown }>
}

/** A schema with the components that it names in their place. */
function inPlace(schema: unknown, components: Record<string, object>): object {
  return JSON.parse(JSON.stringify(schema), (_, value) => {
    const name = value?.$ref?.split('/').at(-1)
    return name === undefined ? value : inPlace(components[name], components)
  })
}

test("the tables' types match the migrations", () => {
  const tables = 'packages/server/src/platform/postgres/generated/tables.ts'
  const options = [
    '--dialect',
    'postgres',
    '--url',
    service.config.databaseUrl ?? '',
    '--exclude-pattern',
    '{kysely_*,pgboss.*}',
    '--out-file',
    tables,
    '--verify',
  ]
  const { status, stdout, stderr } = spawnSync('node_modules/.bin/kysely-codegen', options, { encoding: 'utf8' })
  expect(status, `${MEND}\n${stdout}${stderr}`).toBe(0)
})

test('migrations have no effect when they run again', async () => {
  expect(await migratePostgres(service.stores.database, MIGRATIONS)).toEqual([])
  for (const statement of createTableStatements(EVENTS_TABLE, null)) await service.stores.clickhouse.command(statement)
})

test('.env.example lists every variable of the configuration, and its values are valid', () => {
  const example = readFileSync('.env.example', 'utf8')
  const listed = [...example.matchAll(/^#?\s?([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value])
  const read = new Set<string>()
  const spy = new Proxy({} as Record<string, string>, { get: (_, name: string) => void read.add(name) })
  readConfig(spy)
  expect(new Set(listed.map(([name]) => name))).toEqual(read)
  readConfig(Object.fromEntries(listed))
})
