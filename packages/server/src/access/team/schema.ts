import Type, { type Static } from 'typebox'
import { Pagination } from '../../platform/http/pagination.ts'
import { Id, Nullable, success, Timestamp } from '../../platform/http/responses.ts'
import { ROLES } from '../roles.ts'

const strict = { additionalProperties: false }
const RoleName = Type.Enum([...ROLES])

const Member = Type.Object({
  user_id: Id,
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  joined_at: Timestamp,
})

const Invitation = Type.Object({
  invitation_id: Id,
  email: Type.String(),
  role: RoleName,
  expires_at: Timestamp,
})

export const Team = success({
  members: Type.Array(Member),
  invitations: Type.Array(Invitation),
  /** Of the members. */
  pagination: Pagination,
})
export const InvitationMade = success({
  invitation: Invitation,
  link: Nullable(
    Type.String({
      description:
        'For you to pass on; never shown again. Null when a mail server is set up: then the link is only in the mail.',
    }),
  ),
  mailed: Type.Boolean({ description: 'Whether the link was sent.' }),
})

export const InviteBody = Type.Object({ email: Type.String({ minLength: 1, maxLength: 254 }), role: RoleName }, strict)
export const RoleBody = Type.Object({ role: RoleName }, strict)

export const InvitationSeen = success({
  email: Type.String(),
  tenant_name: Type.String(),
  role: RoleName,
  proves_address: Type.Boolean({ description: 'Whether the link was only mailed, which verifies the address.' }),
})
export const AcceptBody = Type.Object(
  {
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    password: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
  },
  strict,
)
export const Accepted = success({ tenant_id: Id, signed_in: Type.Boolean() })

export type TeamAnswer = Static<typeof Team>
