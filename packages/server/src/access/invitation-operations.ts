import Type from 'typebox'
import { idInPath, operationsWith } from '../operations/declare.ts'
import { RoleName } from '../operations/roles.ts'
import { emailInput } from '../platform/http/inputs.ts'
import { Pagination, pageParameters, paginationOf } from '../platform/http/pagination.ts'
import { Id, Nullable } from '../platform/http/responses.ts'
import { personal, WITHHELD } from '../platform/personal.ts'
import { type InvitationMail, linkToShow, mailInvitation } from './invitation-mail.ts'
import {
  deleteInvitation,
  Invitation,
  invitationEntry,
  invite,
  listInvitations,
  readInvitation,
  renewInvitation,
} from './invitations.ts'

/** Services of the invitation operations. */
export type InvitationServices = InvitationMail

const operation = operationsWith<InvitationServices>()
const tag = 'Invitations'
const InvitationPath = { invitation_id: idInPath('invitation') }

/** An invitation whose link was just created. */
const CreatedInvitation = {
  invitation: Invitation,
  link: Nullable(
    Type.String({
      description:
        'The link, which is never shown again. Null if a mail server is configured: the link is then only sent by mail.',
      ...WITHHELD,
    }),
  ),
  mailed: Type.Boolean({ description: 'Whether the link was sent.' }),
}

const linkPolicyOf = ({ mailer, config }: InvitationServices) => ({
  isMailed: mailer !== null,
  limits: config.mailLimits,
})

/**
 * The invitations to a tenant, which everyone in it can read, like its members. Nobody grants more than they have: an
 * API key can invite to roles whose scopes it has in full, and never to `owner`; see team-authority.ts.
 */
export const INVITATION_OPERATIONS = [
  operation({
    name: 'listInvitations',
    tag,
    http: 'GET /v1/invitations',
    command: 'invitation list',
    scope: 'settings:read',
    summary: 'List the pending invitations, newest first',
    input: pageParameters(50, 100),
    output: { invitations: Type.Array(Invitation), pagination: Pagination },
    async run({ tenant, now }, { page, limit }) {
      const { invitations, total } = await listInvitations(tenant, { page, limit }, now)
      return { invitations, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getInvitation',
    tag,
    http: 'GET /v1/invitations/:invitation_id',
    command: 'invitation get',
    scope: 'settings:read',
    summary: 'Get a pending invitation',
    input: InvitationPath,
    output: { invitation: Invitation },
    run: async ({ tenant, now }, { invitation_id }) => ({
      invitation: await readInvitation(tenant, invitation_id, now),
    }),
  }),
  operation({
    name: 'createInvitation',
    tag,
    http: 'POST /v1/invitations',
    command: 'invitation create',
    scope: 'settings:write',
    summary: 'Invite a person with a link that is valid for a week',
    description:
      'Replaces an earlier invitation to the same address. Only an owner can invite owners. An API key can only invite to roles whose scopes it has in full, and never to `owner`.',
    input: { email: emailInput(), role: RoleName },
    output: CreatedInvitation,
    status: 201,
    example: { email: 'ada@example.com', role: 'viewer' },
    errors: ['400 invalid_email', '409 already_member', '409 too_many_invitations', '429 too_many_invitations_sent'],
    forAudit: { token: Type.String(WITHHELD) },
    async run({ tenant, now, ...context }, sent) {
      const { invitation, token } = await invite(tenant, context, sent, linkPolicyOf(context), now)
      return { invitation, link: linkToShow(context, token), mailed: false, token }
    },
    after: async (context, created) => ({ mailed: await mailInvitation(context, created, context.actor) }),
    audit: ({ invitation }) => invitationEntry('invitation.created', invitation),
  }),
  operation({
    name: 'renewInvitation',
    tag,
    http: 'POST /v1/invitations/:invitation_id/renew',
    command: 'invitation renew',
    scope: 'settings:write',
    summary: 'Create a new link, valid for another week; the previous one stops working',
    input: InvitationPath,
    output: CreatedInvitation,
    errors: ['409 too_many_invitations', '429 too_many_invitations_sent'],
    forAudit: { token: Type.String(WITHHELD) },
    async run({ tenant, now, ...context }, { invitation_id: id }) {
      const { invitation, token } = await renewInvitation(tenant, context, id, linkPolicyOf(context), now)
      return { invitation, link: linkToShow(context, token), mailed: false, token }
    },
    after: async (context, renewed) => ({ mailed: await mailInvitation(context, renewed, context.actor) }),
    audit: ({ invitation }) => invitationEntry('invitation.renewed', invitation),
  }),
  operation({
    name: 'deleteInvitation',
    tag,
    http: 'DELETE /v1/invitations/:invitation_id',
    command: 'invitation delete',
    scope: 'settings:write',
    summary: 'Delete an invitation: its link stops working',
    input: InvitationPath,
    output: { deleted: Type.Literal(true), invitation_id: Id, email: Type.String(personal('email')), role: RoleName },
    async run({ tenant, ...caller }, { invitation_id }) {
      const deleted = await deleteInvitation(tenant, caller, invitation_id)
      return { deleted: true as const, ...deleted }
    },
    audit: (deleted) => invitationEntry('invitation.deleted', deleted),
  }),
]
