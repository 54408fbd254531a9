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
const PARTS = ['contact events', 'identity social-status', 'identity linkedin-status']

/** What is listed but not read one by one, and why. */
const ONLY_LISTED: Record<string, string> = {
  'event-type': 'a name; event stats counts its events',
  'webhook-event-type': 'a name; the list shows a sample',
  visit: 'has no id; event list shows its events',
  'personal-property': 'a name and what decides about it, which the list shows',
  problem: 'has no id',
  scope: 'a name',
  tool: 'a name; the list describes it',
  duplicate: 'a pair and why, which the list shows',
  'connection-run': 'only counts, which the list shows',
  'connection-error': 'one line, which the list shows',
}

const commands = OPERATIONS.map(({ command }) => command)

test('what has an id is read by a command that ends with get, and listed', () => {
  const reading = OPERATIONS.flatMap(({ http, command }) =>
    /^GET .*\/:\w+$/.test(http) && !PARTS.includes(command) ? [command] : [],
  )
  expect(reading.length).toBeGreaterThan(30)
  expect(reading.filter((command) => !command.endsWith(' get'))).toEqual([])
  expect(reading.filter((command) => !commands.includes(command.replace(/get$/, 'list')))).toEqual([])
  const listed = commands.flatMap((command) => (command.endsWith(' list') ? command.replace(/ list$/, '') : []))
  const alone = listed.filter((noun) => !commands.includes(`${noun} get`))
  expect(alone.sort()).toEqual(Object.keys(ONLY_LISTED).sort())
})

test('every command starts with a noun in the singular', () => {
  const nouns = new Set(Object.keys(DATABASE_COMMANDS).map((command) => command.split(' ')[0] ?? ''))
  // One object with several settings.
  nouns.delete('agent-settings')
  expect([...nouns].filter((noun) => noun.endsWith('s') && !noun.endsWith('ss'))).toEqual([])
})

test("the tracker's snippet is printed", async () => {
  const { publicUrl } = service.config
  expect(await run('tracker get')).toMatchObject({
    snippet: `<script async src="${publicUrl}/tracker.js?tenant=${tenant.id}"></script>`,
    form_url: `${publicUrl}/v1/public/form-submission/${tenant.id}/FORM_ID`,
    first_event: null,
  })
})
