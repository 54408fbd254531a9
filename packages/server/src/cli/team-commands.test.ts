import { beforeAll, expect, test } from 'vitest'
import { commandSession } from '../../test/command-session.ts'
import { createPerson } from '../../test/people.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'
import type { Values } from './command.ts'
import { DATABASE_COMMANDS } from './commands.ts'
import type { Session } from './session.ts'

let service: TestService
let tenant: TestTenant
let session: Session

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  session = commandSession(service)
})

/** Runs a command like `cdsctl` beside the running service. */
async function run(name: string, values: Values = {}) {
  const command = DATABASE_COMMANDS[name]
  if (!command) throw new Error(`There is no command ${name}.`)
  return command.run(session, { tenant: tenant.id, ...values }, new Date())
}

async function actions() {
  const rows = await tenant.handle.db.selectFrom('audit_log').select(['action', 'actor']).orderBy('entry_id').execute()
  return rows.map(({ action, actor }) => [action, (actor as { kind: string }).kind])
}

test('the operator manages members and invitations, including owners', async () => {
  const person = { email: 'lee@example.com', name: 'Lee', role: 'member' } as const
  const userId = await createPerson(service.stores, tenant.id, person)
  expect(await run('member list')).toMatchObject({ members: [{ user_id: userId, ...person }] })
  const updated = await run('member update', { 'user-id': userId, role: 'owner' })
  expect(updated).toMatchObject({ member: { user_id: userId, role: 'owner' } })
  await expect(run('member remove', { 'user-id': userId })).rejects.toMatchObject({ code: 'last_owner' })
  const second = { email: 'kim@example.com', name: 'Kim', role: 'owner' } as const
  await createPerson(service.stores, tenant.id, second)
  expect(await run('member remove', { 'user-id': userId })).toEqual({ deleted: true, user_id: userId })

  const invited = { email: 'new@example.com', role: 'owner' }
  const created = await run('invitation create', invited)
  expect(created).toMatchObject({ invitation: invited, mailed: false })
  expect(created.link).toContain(`${service.config.publicUrl}/invitation/`)
  const { invitation_id: id } = created.invitation as { invitation_id: string }
  expect(await run('invitation list')).toMatchObject({ invitations: [{ invitation_id: id, ...invited }] })
  const renewed = await run('invitation renew', { 'invitation-id': id })
  expect(renewed.link).not.toBe(created.link)
  expect(await run('invitation delete', { 'invitation-id': id })).toEqual({
    deleted: true,
    invitation_id: id,
    ...invited,
  })
  expect(await run('invitation list')).toMatchObject({ invitations: [] })
  expect(await actions()).toEqual(
    ['member.role_changed', 'member.removed', 'invitation.created', 'invitation.renewed', 'invitation.deleted'].map(
      (action) => [action, 'command_line'],
    ),
  )
})

test.each<[string, Values, string]>([
  ['member update', { 'user-id': 'none', role: 'viewer' }, 'not_found'],
  ['member update', { 'user-id': 'none', role: 'king' }, 'invalid_option'],
  ['member remove', { 'user-id': 'none' }, 'not_found'],
  ['invitation create', { email: 'no address', role: 'viewer' }, 'invalid_email'],
  ['invitation renew', { 'invitation-id': 'none' }, 'not_found'],
  ['invitation delete', { 'invitation-id': 'none' }, 'not_found'],
])('%s %j is refused', async (name, values, code) => {
  await expect(run(name, values)).rejects.toMatchObject({ code })
})
