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

/** What an e-mail account is set with. */
export const EmailAccountInput = {
  address: Type.String({ minLength: 1, maxLength: 320 }),
  smtp: Server,
  imap: Nullable(Server),
  password: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 8_192,
      description: 'Of both servers. Without it the stored one stays, unless a host or a user changes.',
    }),
  ),
  daily_limit: Type.Integer({ minimum: 1, maximum: 10_000, description: 'Mails in any 24 hours.' }),
  spacing_seconds: Type.Integer({ minimum: 0, maximum: 86_400, description: 'Between two mails.' }),
}
export type EmailAccountInput = Type.Static<Type.TObject<typeof EmailAccountInput>>

/**
 * The settings that an input asks for. Without a password, the log-ins are those of the known account.
 * @throws ServiceError 400 for a password that is missing.
 */
export function settingsOf(input: EmailAccountInput, known: EmailAccount | null): EmailAccountSettings {
  const smtp = serverOf(input.smtp, input.password, known?.smtp)
  const imap = input.imap === null ? null : serverOf(input.imap, input.password, known?.imap)
  const limits = { dailyLimit: input.daily_limit, spacingSeconds: input.spacing_seconds }
  // Without a password the log-ins are those that were known, and so is what renews them.
  const renewal = input.password === undefined ? (known?.renewal ?? null) : null
  return { address: input.address, smtp, imap, renewal, ...limits }
}

function serverOf(
  { user, ...server }: Type.Static<typeof Server>,
  password: string | undefined,
  known: MailServer | null | undefined,
): MailServer {
  if (password !== undefined) return { ...server, login: { user, password } }
  // A password that is kept goes to the server that it was given for, and to no other.
  if (known && known.host === server.host && known.login.user === user) return { ...server, login: known.login }
  const message = 'is required for a new account, another server or another user'
  throw validationError([{ path: 'password', message }])
}
