import { beforeAll, expect, test, vi } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { exampleOf, fill, fillBody, oneOfEach } from '../../test/one-of-each.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import { routeOf } from '../operations/declare.ts'
import { isObject } from '../platform/is-object.ts'
import type { Values } from './command.ts'
import { COMMANDS, DATABASE_COMMANDS } from './commands.ts'
import { renderCliReference } from './reference.ts'

let service: TestService
let tenant: TestTenant
let ids: Record<string, string>

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  ids = await oneOfEach(service, tenant, 'printed')
})

async function run(name: string, values: Values): Promise<Record<string, unknown>> {
  const command = DATABASE_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  const result = await command.run(commandSession(service), { tenant: tenant.id, json: true, ...values }, new Date())
  return JSON.parse(JSON.stringify(result))
}

/** What reads other services, or shows what only the process that serves requests knows. */
const ELSEWHERE = ['getLimits', 'checkSocialConnection', 'checkLinkedinConnection']

const READS = OPERATIONS.filter(({ http, name }) => http.startsWith('GET ') && !ELSEWHERE.includes(name))

/** The names of all fields, in objects and lists too; `[]` is an item. */
function fieldsIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsIn(each, `${at}[]`))
  if (!isObject(value)) return [at]
  return Object.entries(value).flatMap(([name, each]) => fieldsIn(each, `${at}.${name}`))
}

test.each(READS.map((operation) => [operation.command, operation] as const))(
  '%s --json prints the response of its operation without status',
  async (command, operation) => {
    const sent = JSON.parse(fillBody(exampleOf(operation), ids)) as Record<string, unknown>
    const { url } = routeOf(operation)
    const inPath = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, ids[name] ?? name])
    const query = new URLSearchParams(
      Object.entries(sent).map(([name, value]) => [name, isObject(value) ? JSON.stringify(value) : String(value)]),
    )
    const { status, body } = await tenant.call('GET', `${fill(url, ids)}?${query}`)
    const options = Object.fromEntries(
      [...inPath, ...query].map(([name = '', value]) => [name.replaceAll('_', '-'), value]),
    )
    if (status !== 200) {
      await expect(run(command, options)).rejects.toMatchObject({ code: body.error.code })
      return
    }
    // Others, such as a login, have a status of their own.
    const { status: word, ...rest } = body
    const response = word === 'success' ? rest : body
    const printed = await run(command, options)
    expect([...new Set(fieldsIn(printed))].sort()).toEqual([...new Set(fieldsIn(response))].sort())
    expect(Object.keys(printed)).toEqual(Object.keys(response))
  },
)

test('a warning is part of the JSON, as in the response; without --json it is on standard error', async () => {
  const question = { entity: 'contacts', group_by: 'country', metric: 'count', metric_field: 'price' }
  const { warnings } = (await tenant.call('POST', '/v1/aggregate', question)).body
  expect(warnings).toHaveLength(1)
  const options = { entity: 'contacts', 'group-by': 'country', metric: 'count', 'metric-field': 'price' }
  const said = vi.spyOn(console, 'error').mockImplementation(() => {})
  try {
    expect(await run('aggregate', options)).toMatchObject({ warnings })
    expect(said).not.toHaveBeenCalled()
    expect(await run('aggregate', { ...options, json: false })).not.toHaveProperty('warnings')
    expect(said).toHaveBeenCalledWith(`cdsctl: ${warnings[0]}`)
  } finally {
    said.mockRestore()
  }
})

test('docs/cli.md names what every command prints', () => {
  const reference = renderCliReference()
  for (const [name, { prints }] of Object.entries(COMMANDS)) {
    const section =
      reference
        .split(`\n    cdsctl ${name}`)
        .slice(1)
        .find((each) => /^[ \n]/.test(each)) ?? ''
    const fields = typeof prints === 'string' ? prints : prints.map((field) => `\`${field}\``).join(', ')
    expect([name, section.split('\n## ')[0]]).toEqual([name, expect.stringContaining(`With \`--json\`: ${fields}.`)])
  }
})
