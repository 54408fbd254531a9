import { PassThrough, Readable } from 'node:stream'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { Browser, PASSWORD } from '../../test/people.ts'
import { startCommand } from '../../test/process.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Values } from './command.ts'
import { askForPassword } from './password-input.ts'
import { USER_COMMANDS } from './user-commands.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** Runs a command like `cdsctl` beside the running service. */
async function run(name: string, values: Values) {
  const session = commandSession(service)
  const command = USER_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  return command.run(session, values, new Date())
}

const create = (email: string, more: Values = {}) =>
  run('user create', { tenant: tenant.id, email, password: PASSWORD, ...more })
const me = async (browser: Browser) => (await browser.call('GET', '/api/me')).body

test('a person is created as an owner, or with the given role', async () => {
  await create('Owner@Example.com')
  expect(await me(await new Browser(service).signIn('owner@example.com'))).toMatchObject({
    user: { email: 'owner@example.com', name: 'owner@example.com' },
    role: 'owner',
  })
  await create('viewer@example.com', { role: 'viewer', name: 'Vera' })
  expect(await me(await new Browser(service).signIn('viewer@example.com'))).toMatchObject({
    user: { name: 'Vera' },
    role: 'viewer',
  })
})

test.each<[Values, string]>([
  [{ role: 'king' }, 'invalid_option'],
  [{ email: 'no address' }, 'invalid_email'],
  [{ email: 'jürgen@müller.example' }, 'invalid_email'],
  [{ password: 'short' }, 'invalid_password'],
  [{ name: 'x'.repeat(201) }, 'invalid_name'],
  [{ tenant: 'none' }, 'not_found'],
  [{ email: 'taken@example.com' }, 'user_email_taken'],
])('%j is refused, and nobody is created', async (values, code) => {
  await create('taken@example.com').catch(() => {})
  const count = () => service.stores.database.selectFrom('users').select('id').execute()
  const before = (await count()).length
  await expect(create('fresh@example.com', values)).rejects.toMatchObject({ code })
  expect((await count()).length).toBe(before)
})

test('the link from reset-password restores access, also after losing the second factor', async () => {
  await create('lost@example.com')
  const person = await new Browser(service).signIn('lost@example.com')
  await service.stores.database
    .updateTable('users')
    .set({ two_factor_enabled: true })
    .where('email', '=', 'lost@example.com')
    .execute()
  const result = await run('user reset-password', { email: 'lost@example.com', 'remove-second-factor': true })
  const link = new URL(String(result.link))
  expect(`${link.origin}${link.pathname}`).toBe(`${service.config.publicUrl}/reset-password`)
  const reset = { token: link.searchParams.get('token'), newPassword: 'a new password' }
  expect((await person.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
  const again = await new Browser(service).signIn('lost@example.com', 'a new password')
  expect(await me(again)).toMatchObject({ user: { two_factor_enabled: false } })
  await expect(run('user reset-password', { email: 'no@example.com' })).rejects.toMatchObject({ code: 'not_found' })
})

/** Runs `user create` with a text at standard input, which is no terminal. */
function createFrom(input: string, email: string, values: Values = { 'password-stdin': true }) {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from([input]) as typeof process.stdin)
  return run('user create', { tenant: tenant.id, email, ...values })
}
afterEach(() => void vi.restoreAllMocks())

test('cdsctl reads the password from standard input, without a trailing line break', async () => {
  const { databaseUrl, dataDirectory } = service.config
  const args = ['user', 'create', '--tenant', tenant.id, '--email', 'piped@example.com', '--password-stdin']
  const environment = { DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }
  const { exit, stdout, stderr } = await startCommand(args, environment, { input: `${PASSWORD}\r\n` }).ended
  expect([exit, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual({ user_id: expect.any(String) })
  await new Browser(service).signIn('piped@example.com')
  for (const [email, ending] of [
    ['piped1@example.com', ''],
    ['piped2@example.com', '\n'],
  ] as const) {
    await createFrom(PASSWORD + ending, email)
    await new Browser(service).signIn(email)
  }
  await expect(createFrom('\n', 'piped3@example.com')).rejects.toMatchObject({ code: 'invalid_password' })
})

test.each([
  ['two lines', 'two', `${PASSWORD}\n${PASSWORD}\n`],
  ['two lines of Windows', 'windows', `${PASSWORD}\r\n${PASSWORD}`],
  ['two lines of an old Mac', 'mac', `${PASSWORD}\r${PASSWORD}`],
  ['a line after an empty one', 'after', `\n${PASSWORD}\n`],
  ['an empty line at the end', 'end', `${PASSWORD}\n\n`],
])('a password from standard input with %s is refused, and nobody is created', async (_what, name, input) => {
  const email = `${name}@lines.example`
  const error = await createFrom(input, email).catch((error: Error) => error)
  const people = service.stores.database.selectFrom('users').select('id').where('email', '=', email)
  expect(await people.execute()).toEqual([])
  expect(error).toMatchObject({ code: 'invalid_password', message: expect.not.stringContaining(PASSWORD) })
})

test('a password on the command line still works, with a warning', async () => {
  const printed = vi.spyOn(console, 'error').mockReturnValue()
  await createFrom('', 'old@example.com', { password: PASSWORD })
  expect(printed.mock.calls).toEqual([[expect.stringContaining('--password-stdin')]])
  expect(printed.mock.calls).not.toEqual([[expect.stringContaining(PASSWORD)]])
  await new Browser(service).signIn('old@example.com')
})

test.each<[string, Values]>([
  ['no password and no terminal', {}],
  ['both ways at once', { password: PASSWORD, 'password-stdin': true }],
])('%s is a wrong call', (_what, values) => {
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(Readable.from(['']) as typeof process.stdin)
  expect(USER_COMMANDS['user create']?.check?.({ email: 'wrong@example.com', ...values })).toContain('--password-stdin')
})

test('a terminal asks for the password twice and never shows it', async () => {
  const typed = (...lines: string[]) => {
    const [input, output] = [new PassThrough(), new PassThrough()]
    let shown = ''
    output.on('data', (chunk: Buffer) => {
      shown += chunk
      const line = /: $/.test(shown) ? lines.shift() : undefined
      if (line !== undefined) input.write(line)
    })
    return askForPassword({ input, output }).then(
      (password) => ({ password, shown }),
      ({ code }: { code: string }) => ({ code, shown }),
    )
  }
  expect(await typed(`${PASSWORD}\r`, `${PASSWORD}\r`)).toEqual({
    password: PASSWORD,
    shown: 'Password: \nRepeat the password: \n',
  })
  expect(await typed(`${PASSWORD}\r`, 'another password\r')).toMatchObject({ code: 'invalid_password' })
  // Ctrl-C.
  expect(await typed('\u0003')).toMatchObject({ code: 'invalid_password', shown: 'Password: \n' })
})
