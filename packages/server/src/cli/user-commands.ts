import { allowNewPassword } from '../access/password-reset.ts'
import { passwordLink } from '../access/sign-in/links.ts'
import { createTenantUser } from '../access/users.ts'
import { isRole, ROLES, type Role } from '../operations/roles.ts'
import { ServiceError } from '../platform/errors.ts'
import { type CommandOnce, existingTenant, optional, required, tenant, type Values } from './command.ts'
import { passwordProblem, readPassword } from './password-input.ts'

/** `cdsctl user …` */
export const USER_COMMANDS: Record<string, CommandOnce> = {
  'user create': {
    summary:
      'Create a person who may sign in to the tenant, as an owner unless --role is given. Asks for the password or reads it from standard input',
    options: {
      tenant,
      email: required('EMAIL'),
      'password-stdin': { type: 'boolean' },
      password: optional('PASSWORD'),
      name: optional('NAME'),
      role: optional(ROLES.join('|')),
    },
    prints: ['user_id'],
    check: passwordProblem,
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const person = {
        email: String(values.email),
        password: await readPassword(values),
        role: roleOf(values.role),
        ...(values.name === undefined ? {} : { name: String(values.name) }),
      }
      const userId = await createTenantUser(session.stores, tenantId, person, { kind: 'command_line' }, now)
      return { user_id: userId }
    },
  },
  'user reset-password': {
    summary: 'Print a password reset link that is valid for an hour',
    options: { email: required('EMAIL'), 'remove-second-factor': { type: 'boolean' } },
    prints: ['link', 'expires_at'],
    run: async ({ stores, config }, values, now) => {
      const without = values['remove-second-factor'] === true
      const { token, expiresAt } = await allowNewPassword(stores, String(values.email), without, now)
      return { link: passwordLink(config.publicUrl, token), expires_at: expiresAt.toISOString() }
    },
  },
}

function roleOf(text: Values[string]): Role {
  const role = text === undefined ? 'owner' : String(text)
  if (!isRole(role)) throw new ServiceError(400, 'invalid_option', `--role must be one of ${ROLES.join(', ')}.`)
  return role
}
