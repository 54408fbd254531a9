import { beforeAll, expect, test } from 'vitest'
import { Browser, PASSWORD } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Values } from './command.ts'
import type { Session } from './session.ts'
import { USER_COMMANDS } from './user-commands.ts'

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
})

/** As `cdsctl` runs it beside the running service. */
async function run(name: string, values: Values) {
  const { stores, config } = service
  const session: Session = {
    stores,
    config,
    serviceRuns: true,
    tenant: () => tenant.handle,
    writing: () => service.writing,
    close: async () => {},
  }
  const command = USER_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  return command.run(session, values, new Date())
}

const create = (email: string, more: Values = {}) =>
  run('user create', { tenant: tenant.id, email, password: PASSWORD, ...more })
const me = async (browser: Browser) => (await browser.call('GET', '/api/me')).body

test('a person is created as an owner, or with the role that is given', async () => {
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

test('the link of reset-password lets a person in again, also without the second factor that was lost', async () => {
  await create('lost@example.com')
  const person = await new Browser(service).signIn('lost@example.com')
  await service.stores.database
    .updateTable('users')
    .set({ two_factor_enabled: true })
    .where('email', '=', 'lost@example.com')
    .execute()
  const answer = await run('user reset-password', { email: 'lost@example.com', 'remove-second-factor': true })
  const link = new URL(String(answer.link))
  expect(`${link.origin}${link.pathname}`).toBe(`${service.config.publicUrl}/reset-password`)
  const reset = { token: link.searchParams.get('token'), newPassword: 'a new password' }
  expect((await person.call('POST', '/api/auth/reset-password', reset)).status).toBe(200)
  const again = await new Browser(service).signIn('lost@example.com', 'a new password')
  expect(await me(again)).toMatchObject({ user: { two_factor_enabled: false } })
  await expect(run('user reset-password', { email: 'no@example.com' })).rejects.toMatchObject({ code: 'not_found' })
})
