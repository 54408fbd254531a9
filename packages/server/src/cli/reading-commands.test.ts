import { beforeAll, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import { OPERATIONS } from '../assembly/all-operations.ts'
import type { Values } from './command.ts'
import { DATABASE_COMMANDS } from './commands.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

async function run(name: string, values: Values = {}) {
  const command = DATABASE_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  return command.run(commandSession(service), { tenant: tenant.id, ...values }, new Date())
}

/** Commands that read a part of a thing, and so have its name. */
const PARTS = [
  'contact events',
  'delivery get',
  'hook-body get',
  'warehouse-run get',
  'identity social-status',
  'identity linkedin-status',
]

test('what has an id is read by a command that ends with get', () => {
  const reading = OPERATIONS.flatMap(({ http, command }) =>
    /^GET .*\/:\w+$/.test(http) && command !== undefined && !PARTS.includes(command) ? [command] : [],
  )
  expect(reading.length).toBeGreaterThan(15)
  expect(reading.filter((command) => !command.endsWith(' get'))).toEqual([])
})

test("the tracker's snippet is printed", async () => {
  const { publicUrl } = service.config
  expect(await run('tracker get')).toMatchObject({
    snippet: `<script async src="${publicUrl}/tracker.js"></script>`,
    form_url: `${publicUrl}/v1/public/form-submission/${tenant.id}/FORM_ID`,
    first_event: null,
  })
})
