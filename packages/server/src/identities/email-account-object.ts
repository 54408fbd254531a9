import Type from 'typebox'
import { Id, Nullable, Timestamp } from '../platform/http/responses.ts'
import type { MailSecurity } from './email-account.ts'

export const Security = Type.Unsafe<MailSecurity>({ type: 'string', enum: ['tls', 'starttls', 'none'] })

const MailServerDescription = Type.Object(
  {
    host: Type.String(),
    port: Type.Integer(),
    security: Security,
    user: Type.String(),
    login: Type.Enum(['password', 'access_token'] as const),
  },
  { title: 'MailServer' },
)

/** A mail server as it may be shown. */
export type MailServerDescription = Type.Static<typeof MailServerDescription>

const Renewal = Type.Object({ client_id: Type.String(), token_url: Type.String() })
export type RenewalDescription = Type.Static<typeof Renewal>

export const EmailAccount = Type.Object(
  {
    identity_id: Id,
    address: Type.String(),
    smtp: MailServerDescription,
    imap: Nullable(MailServerDescription),
    renewal: Nullable(Renewal, 'Where access tokens are renewed, and as which client; null if they are not.'),
    daily_limit: Type.Integer({ description: 'Mails in any 24 hours.' }),
    spacing_seconds: Type.Integer({ description: 'Between two mails.' }),
    connected: Type.Boolean({ description: 'Whether the mail servers accepted the log-in when it was last tried.' }),
    verified_at: Nullable(Timestamp),
    error: Nullable(Type.String(), 'What the servers answered when the last log-in failed.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'EmailAccount' },
)

/** An e-mail account as its owner sees it: no secret. */
export type EmailAccountDescription = Type.Static<typeof EmailAccount>
