import type { Selectable } from 'kysely'
import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { personal, TEXT } from '../platform/personal.ts'
import type { TenantTables } from '../platform/postgres/database.ts'
import type { SocialState } from './social/profiles.ts'

export const IDENTITY_COLUMNS = [
  'identities.identity_id',
  'identities.first_name',
  'identities.last_name',
  'identities.role',
  'identities.job_title',
  'identities.created_at',
  'identities.updated_at',
] as const

type IdentityRow = Pick<
  Selectable<TenantTables['identities']>,
  'identity_id' | 'first_name' | 'last_name' | 'role' | 'job_title' | 'created_at' | 'updated_at'
>

/** The public part of an identity's email account. */
export interface EmailState {
  address: string | null
  /** Whether both servers accepted the latest login. */
  connected: boolean
}

const NO_SOCIAL_PROFILE: SocialState = { connected: false, profile_id: null, checked_at: null }

export const Identity = Type.Object(
  {
    identity_id: Id,
    _id: Id,
    firstName: Type.String({ examples: ['Ada'], ...personal('firstname') }),
    lastName: Type.String({ examples: ['Lovelace'], ...personal('lastname') }),
    role: Type.String({ examples: ['Account executive'], ...TEXT }),
    jobTitle: Nullable(Type.String(TEXT)),
    profile_id: Nullable(Type.String({ description: 'The stored social-network profile.', ...personal('url') })),
    email_account: Type.Object({
      address: Nullable(Type.String(personal('email'))),
      connected: Type.Boolean({ description: 'Whether the mail servers accepted the latest login.' }),
    }),
    social: Type.Object({
      connected: Type.Boolean(),
      profile_id: Nullable(Type.String(personal('url'))),
      checked_at: Nullable(Timestamp),
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Identity' },
)

export type IdentityObject = Type.Static<typeof Identity>

/** An identity as the API returns it, without credentials. */
export function toIdentityObject(
  row: IdentityRow,
  { address, connected }: EmailState,
  social: SocialState = NO_SOCIAL_PROFILE,
): IdentityObject {
  return {
    identity_id: row.identity_id,
    _id: row.identity_id,
    firstName: row.first_name,
    lastName: row.last_name,
    role: row.role,
    jobTitle: row.job_title,
    profile_id: social.profile_id,
    email_account: { address, connected },
    social: { connected: social.connected, profile_id: social.profile_id, checked_at: social.checked_at },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}
