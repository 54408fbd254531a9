import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import { personal, TEXT, WORD } from '../platform/personal.ts'
import type { MailSecurity } from './email-account.ts'

export const Security = Type.Unsafe<MailSecurity>({ type: 'string', enum: ['tls', 'starttls', 'none'] })

const MailServerDescription = Type.Object(
  {
    host: Type.String(WORD),
    port: Type.Integer(),
    security: Security,
    user: Type.String(personal('username')),
    login: Type.Enum(['password', 'access_token'] as const),
  },
  { title: 'MailServer' },
)

/** A mail server without its secrets. */
export type MailServerDescription = Type.Static<typeof MailServerDescription>

const Renewal = Type.Object({
  client_id: Type.String(WORD),
  token_url: Type.String(WORD),
  provider: Nullable(
    Type.String(WORD),
    'The provider where a person signed in, such as google; null if the refresh token was entered.',
  ),
})
export type RenewalDescription = Type.Static<typeof Renewal>

export const EmailAccount = Type.Object(
  {
    identity_id: Id,
    address: Type.String(personal('email')),
    smtp: MailServerDescription,
    imap: Nullable(MailServerDescription),
    renewal: Nullable(Renewal, 'The endpoint and the client that renew access tokens; null if they are not renewed.'),
    daily_limit: Type.Integer({ description: 'Maximum mails in any 24 hours.' }),
    spacing_seconds: Type.Integer({ description: 'Minimum time between two mails.' }),
    connected: Type.Boolean({ description: 'Whether the mail servers accepted the latest login.' }),
    verified_at: Nullable(Timestamp),
    error: Nullable(Type.String(TEXT), 'The replies of the servers, if the latest login failed.'),
    needs_sign_in: Type.Boolean({
      description: 'Whether the access was revoked or has expired. If true, only another sign-in helps.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'EmailAccount' },
)

/** An email account without its secrets. */
export type EmailAccountDescription = Type.Static<typeof EmailAccount>
