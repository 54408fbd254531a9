import Type, { type Static } from 'typebox'
import { RoleName } from '../../operations/roles.ts'
import { emailInput, idInput } from '../../platform/http/inputs.ts'
import { Id, Nullable, success, Timestamp } from '../../platform/http/responses.ts'
import { NAME_LENGTH_MAX } from '../../platform/names.ts'
import { LABEL, personal, WORD } from '../../platform/personal.ts'
import { ZONE_LENGTH_MAX } from '../../platform/time-zone.ts'
import { PASSWORD_LENGTH_MAX } from '../passwords.ts'

const strict = { additionalProperties: false }

export const Address = emailInput()
/** The minimum length is checked where a new password is set; an existing one is only compared. */
export const Password = Type.String({ minLength: 1, maxLength: PASSWORD_LENGTH_MAX })
export const Code = Type.String({ minLength: 1, maxLength: 64 })
/** A redirect target, which must not be another site. */
export const LocalPath = Type.String({
  pattern: '^/(?![/\\\\])[A-Za-z0-9/_.~?&=%:,+-]{0,500}$',
  'x-expected': 'a path of the dashboard, such as /contacts',
})

export const PersonName = Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX })

/** The time zone of a new tenant, such as that of the person's browser. Default: UTC. */
const ZoneName = Type.String({ minLength: 1, maxLength: ZONE_LENGTH_MAX })

export const SetupBody = Type.Object(
  {
    setup_token: Type.String({ minLength: 1, maxLength: 200 }),
    name: PersonName,
    email: Address,
    password: Password,
    tenant_name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }),
    time_zone: Type.Optional(ZoneName),
  },
  strict,
)

export const SetupResponse = success({ needed: Type.Boolean() })

export const SignInOptions = success({
  setup_needed: Type.Boolean(),
  oidc: Nullable(Type.Object({ label: Type.String(WORD) })),
  password_reset: Type.Enum(['mail', 'operator'], {
    description: 'mail: a link is sent on request; operator: only the command line creates one.',
  }),
})

export const TenantBody = Type.Object({ tenant_id: idInput() }, strict)
export const NewTenantBody = Type.Object(
  { name: Type.String({ minLength: 1, maxLength: NAME_LENGTH_MAX }), time_zone: Type.Optional(ZoneName) },
  strict,
)

export const MyNameBody = Type.Object({ name: PersonName }, strict)

const Closed = Nullable(Type.Object({ closed_at: Timestamp, deletes_at: Timestamp }))
const SHOWN = { tenant_id: Id, name: Type.String(LABEL), time_zone: Type.String(WORD), closed: Closed }

/** Who is signed in. If the person was removed from the session's tenant, `tenant` is null until they choose another. */
export const Me = success({
  user: Type.Object({
    user_id: Id,
    email: Type.String(personal('email')),
    email_verified: Type.Boolean({
      description: 'Whether a mail, the OpenID provider or the operator has verified the address.',
    }),
    name: Type.String(personal('name')),
    two_factor_enabled: Type.Boolean(),
    has_password: Type.Boolean(),
  }),
  tenant: Nullable(Type.Object(SHOWN)),
  tenants: Type.Array(Type.Object({ ...SHOWN, role: RoleName })),
  role: Nullable(RoleName),
  scopes: Type.Array(Type.String(WORD)),
  sign_in: Type.Object({ oidc: Type.Object({ enabled: Type.Boolean(), label: Nullable(Type.String(WORD)) }) }),
})

export const InvitationSeen = success({
  email: Type.String(personal('email')),
  tenant_name: Type.String(LABEL),
  role: RoleName,
  proves_address: Type.Boolean({ description: 'Whether the link was only sent by mail, which verifies the address.' }),
})
export const AcceptBody = Type.Object({ name: Type.Optional(PersonName), password: Type.Optional(Password) }, strict)
export const Accepted = success({ tenant_id: Id, signed_in: Type.Boolean() })

export type MeResponse = Static<typeof Me>
export type SignInOptionsResponse = Static<typeof SignInOptions>
export type InvitationResponse = Static<typeof InvitationSeen>
