import Type from 'typebox'
import { validationError } from '../platform/errors.ts'
import { Nullable } from '../platform/http/responses.ts'
import type { EmailAccount, MailServer } from './email-account.ts'
import { Security } from './email-account-object.ts'
import type { EmailAccountSettings } from './email-settings.ts'

const Server = Type.Object(
  {
    host: Type.String({ minLength: 1, maxLength: 255 }),
    port: Type.Integer({ minimum: 1, maximum: 65_535 }),
    security: Security,
    user: Type.String({ minLength: 1, maxLength: 320 }),
  },
  { additionalProperties: false },
)

/** The fields that set an email account. */
export const EmailAccountInput = {
  address: Type.String({ minLength: 1, maxLength: 320 }),
  smtp: Server,
  imap: Nullable(Server),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description:
        'The password for both servers. If omitted, the stored one is kept; required if a host or a user changes.',
    }),
  ),
  daily_limit: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Mails in any 24 hours.' }),
  spacing_seconds: Type.Integer({ minimum: 0, maximum: 86_400, description: 'Between two mails.' }),
}
export type EmailAccountInput = Type.Static<Type.TObject<typeof EmailAccountInput>>

/**
 * Converts an input to settings. Without a password, the stored logins are kept.
 * @throws ServiceError 400 if a password is required but missing.
 */
export function settingsOf(input: EmailAccountInput, known: EmailAccount | null): EmailAccountSettings {
  const smtp = serverOf(input.smtp, input.password, known?.smtp)
  const imap = input.imap === null ? null : serverOf(input.imap, input.password, known?.imap)
  const limits = { dailyLimit: input.daily_limit, spacingSeconds: input.spacing_seconds }
  // The stored logins are kept, so their token renewal is kept too.
  const renewal = input.password === undefined ? (known?.renewal ?? null) : null
  return { address: input.address, smtp, imap, renewal, ...limits }
}

function serverOf(
  { user, ...server }: Type.Static<typeof Server>,
  password: string | undefined,
  known: MailServer | null | undefined,
): MailServer {
  if (password !== undefined) return { ...server, login: { user, password } }
  // A stored password is sent only to the server that it was given for.
  if (known && known.host === server.host && known.login.user === user) return { ...server, login: known.login }
  const message = 'is required for a new account, a different server or a different user'
  throw validationError([{ path: 'password', message }])
}
