import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { SecretBox } from '../../platform/crypto/secret-box.ts'
import type { App } from '../../platform/http/app-types.ts'
import { pathId, success } from '../../platform/http/responses.ts'
import type { Logger } from '../../platform/log.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { personOf } from '../../tenants/authentication.ts'
import { type Invitation, invite, listInvitations, withdraw } from '../../tenants/invitations.ts'
import { isAtLeast, type Role } from '../../tenants/roles.ts'
import { changeRole, listMembers, removeMember } from '../../tenants/team.ts'
import { invitationLink } from '../sign-in/links.ts'
import { InviteBody, OneInvitation, RoleBody, Team } from './schema.ts'

export interface TeamDependencies {
  config: Config
  stores: Stores
  secrets: SecretBox
  mailer: Mailer | null
  clock: Clock
  log: Logger
}

const UserPath = Type.Object({ user_id: Type.String() })
// The same place holds a token where the invitation is read and accepted, and its id where it is ended.
const InvitationPath = Type.Object({ invitation: Type.String() })

/** Who is of the tenant, who is invited, and what they may do. */
export function teamRoutes(app: App, dependencies: TeamDependencies): void {
  const { config, stores, mailer, clock, log } = dependencies

  /** A link makes whoever has it a person of its role: one who may not invite to that role must not see it. */
  const shown = ({ token, ...invitation }: Invitation, role: Role | undefined) => {
    const mayInvite = role === 'owner' || (role === 'admin' && invitation.role !== 'owner')
    return { ...invitation, link: mayInvite ? invitationLink(config.publicUrl, token) : null }
  }

  app.get(
    '/api/team',
    { config: { access: { role: 'viewer' } }, schema: { response: { 200: Team } } },
    async (request) => {
      const role = personOf(request).membership?.role ?? 'viewer'
      const invitations = isAtLeast(role, 'admin')
        ? await listInvitations(dependencies, request.tenant.id, clock())
        : []
      return {
        status: 'success' as const,
        members: await listMembers(stores, request.tenant.id),
        invitations: invitations.map((invitation) => shown(invitation, role)),
      }
    },
  )

  app.post(
    '/api/team',
    {
      config: { access: { role: 'admin' } },
      schema: { body: InviteBody, response: { 201: OneInvitation } },
    },
    async (request, reply) => {
      const person = personOf(request)
      const invited = await invite(dependencies, person, request.tenant.id, request.body, clock())
      const invitation = shown(invited, person.membership?.role)
      const mailed = await mail(invited, person.user.name)
      return reply.code(201).send({ status: 'success', invitation, mailed })
    },
  )

  async function mail({ email, role, token }: Invitation, inviter: string): Promise<boolean> {
    if (mailer === null) return false
    const link = invitationLink(config.publicUrl, token)
    // On one line: a name must not look like another part of the mail.
    const name = inviter.replace(/\s+/g, ' ')
    const text = `${name} invites you to the Customer Data Service, as ${role}.\n\nAccept within a week: ${link}`
    try {
      await mailer.send({ to: email, subject: 'You are invited to the Customer Data Service', text })
      return true
    } catch (error) {
      // The invitation stands, and its link can be passed on by hand.
      log.warn({ err: error }, 'the mail of an invitation could not be sent')
      return false
    }
  }

  app.patch(
    '/api/team/:user_id',
    {
      config: { access: { role: 'admin' } },
      schema: { params: UserPath, body: RoleBody, response: { 200: success({ user_id: Type.String() }) } },
    },
    async (request) => {
      const userId = pathId(request.params.user_id, 'member')
      const change = { userId, role: request.body.role }
      await changeRole(stores, personOf(request), request.tenant.id, change, clock())
      return { status: 'success' as const, user_id: userId }
    },
  )

  app.delete(
    '/api/team/:user_id',
    {
      config: { access: { role: 'admin' } },
      schema: { params: UserPath, response: { 200: success({ user_id: Type.String() }) } },
    },
    async (request) => {
      const userId = pathId(request.params.user_id, 'member')
      await removeMember(stores, personOf(request), request.tenant.id, userId, clock())
      return { status: 'success' as const, user_id: userId }
    },
  )

  app.delete(
    '/api/invitations/:invitation',
    {
      config: { access: { role: 'admin' } },
      schema: { params: InvitationPath, response: { 200: success({ invitation_id: Type.String() }) } },
    },
    async (request) => {
      const invitationId = pathId(request.params.invitation, 'invitation')
      await withdraw(dependencies, personOf(request), request.tenant.id, invitationId, clock())
      return { status: 'success' as const, invitation_id: invitationId }
    },
  )
}
