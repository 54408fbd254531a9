import type { Config } from '../config.ts'
import type { Actor } from '../operations/audit.ts'
import type { Logger } from '../platform/log.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Stores } from '../platform/tenant.ts'
import type { Invitation, NewInvitation } from './invitations.ts'
import { fitsInMail } from './names.ts'
import { invitationLink } from './sign-in/links.ts'

/** Delivers invitation links. */
export interface InvitationMail {
  stores: Stores
  config: Pick<Config, 'publicUrl' | 'mailLimits'>
  mailer: Mailer | null
  log: Pick<Logger, 'warn'>
}

/** The link, to be shown once; null if it is only mailed, so that opening it verifies the address. */
export function linkToShow(
  { config, mailer }: Pick<InvitationMail, 'config' | 'mailer'>,
  token: string,
): string | null {
  return mailer === null ? invitationLink(config.publicUrl, token) : null
}

/** @returns whether the link was sent. */
export async function mailInvitation(
  { stores, config, mailer, log }: InvitationMail,
  { invitation, token }: NewInvitation,
  actor: Actor,
): Promise<boolean> {
  if (mailer === null) return false
  const text = textOf(invitation, invitationLink(config.publicUrl, token), await inviterOf(stores, actor))
  try {
    await mailer.send({ to: invitation.email, subject: 'You are invited to the Customer Data Service', text })
    return true
  } catch (error) {
    // The invitation stays valid, and a new link can be sent.
    log.warn({ err: error }, 'an invitation mail could not be sent')
    return false
  }
}

function textOf({ role }: Invitation, link: string, inviter: string | null): string {
  const [invited, unless] =
    inviter === null
      ? ['You are invited', 'If you did not expect this invitation']
      : [`${inviter} invites you`, 'If you do not know this person']
  return `${invited} to the Customer Data Service, as ${role}.\n\nAccept within a week: ${link}\n\n${unless}, ignore this mail.`
}

/** The person who invites. Null for an API key and the command line: the name of a key could contain any text. */
async function inviterOf({ database }: Stores, actor: Actor): Promise<string | null> {
  if (actor.kind !== 'user') return null
  const account = database.selectFrom('users').select(['name', 'email']).where('id', '=', actor.id)
  const user = await account.executeTakeFirst()
  if (!user) return null
  return user.name !== user.email && fitsInMail(user.name) ? `${user.name} (${user.email})` : user.email
}
