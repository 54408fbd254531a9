import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { App } from '../../platform/http/app-types.ts'
import { pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { pathId, success } from '../../platform/http/responses.ts'
import type { Logger } from '../../platform/log.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { personOf } from '../authentication.ts'
import {
  type Invitation,
  invite,
  listInvitations,
  type NewInvitation,
  renewInvitation,
  withdraw,
} from '../invitations.ts'
import { fitsInMail } from '../names.ts'
import { isAtLeast } from '../roles.ts'
import type { SignedIn } from '../sessions.ts'
import { invitationLink } from '../sign-in/links.ts'
import { changeRole, listMembers, removeMember } from '../team.ts'
import { InvitationMade, InviteBody, RoleBody, Team } from './schema.ts'

export interface TeamDependencies {
  config: Config
  stores: Stores
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
  const policy = { isMailed: mailer !== null, limits: config.mailLimits }

  app.get(
    '/api/team',
    {
      config: { access: { role: 'viewer' } },
      schema: { querystring: Type.Object(pageParameters(50, 100)), response: { 200: Team } },
    },
    async (request) => {
      const { page = 1, limit = 50 } = request.query
      const isAdmin = isAtLeast(personOf(request).membership?.role ?? 'viewer', 'admin')
      const [{ members, total }, invitations] = await Promise.all([
        listMembers(stores, request.tenant.id, { page, limit }),
        isAdmin ? listInvitations(stores, request.tenant.id, clock()) : [],
      ])
      return { status: 'success' as const, members, invitations, pagination: paginationOf({ page, limit }, total) }
    },
  )

  app.post(
    '/api/team',
    {
      config: { access: { role: 'admin' } },
      schema: { body: InviteBody, response: { 201: InvitationMade } },
    },
    async (request, reply) => {
      const person = personOf(request)
      const invited = await invite(stores, person, request.tenant.id, request.body, policy, clock())
      return reply.code(201).send(await passOn(invited, person))
    },
  )

  app.post(
    '/api/invitations/:invitation/link',
    {
      config: { access: { role: 'admin' } },
      schema: { params: InvitationPath, response: { 200: InvitationMade } },
    },
    async (request) => {
      const person = personOf(request)
      const invitationId = pathId(request.params.invitation, 'invitation')
      const renewed = await renewInvitation(stores, person, request.tenant.id, invitationId, policy, clock())
      return passOn(renewed, person)
    },
  )

  /** Mails a link or, without a mail server, shows it to its creator, this once. */
  async function passOn({ token, ...invitation }: NewInvitation, inviter: SignedIn) {
    const link = invitationLink(config.publicUrl, token)
    if (mailer === null) return { status: 'success' as const, invitation, link, mailed: false }
    const mailed = await mail(mailer, { ...invitation, link }, inviter)
    return { status: 'success' as const, invitation, link: null, mailed }
  }

  async function mail(
    { send }: Mailer,
    { email, role, link }: Invitation & { link: string },
    { user }: SignedIn,
  ): Promise<boolean> {
    const isNamed = user.name !== user.email && fitsInMail(user.name)
    const inviter = isNamed ? `${user.name} (${user.email})` : user.email
    const text = `${inviter} invites you to the Customer Data Service, as ${role}.\n\nAccept within a week: ${link}\n\nIf you do not know this person, ignore this mail.`
    try {
      await send({ to: email, subject: 'You are invited to the Customer Data Service', text })
      return true
    } catch (error) {
      // The invitation remains, and its link can be sent again.
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
      await withdraw(stores, personOf(request), request.tenant.id, invitationId, clock())
      return { status: 'success' as const, invitation_id: invitationId }
    },
  )
}
