import type { Config } from '../../config.ts'
import type { Mailer } from '../../platform/mail.ts'
import type { Stores } from '../../platform/tenant.ts'
import type { Clock } from '../../platform/time.ts'
import { countPasswordLink } from '../mail-limits.ts'
import { newPasswordToken } from '../password-reset.ts'
import { passwordLink } from './links.ts'

export interface PasswordMailDependencies {
  config: Pick<Config, 'mailLimits' | 'publicUrl'>
  stores: Stores
  mailer: Mailer | null
  clock: Clock
}

/** Mails a password reset link to an address that has an account, within the hourly limit. */
export async function mailPasswordLink(
  { config, stores, mailer, clock }: PasswordMailDependencies,
  email: string,
): Promise<void> {
  if (mailer === null) return
  const token = await newPasswordToken(stores.database, email, clock())
  if (token === null) return
  if (!(await countPasswordLink(stores.database, email, config.mailLimits, clock()))) return
  await mailer.send({
    to: email,
    subject: 'Choose a new password',
    text: `Someone, probably you, requested a new password for ${email}.\n\nChoose one within an hour: ${passwordLink(config.publicUrl, token)}\n\nIf it was not you, ignore this mail.`,
  })
}
