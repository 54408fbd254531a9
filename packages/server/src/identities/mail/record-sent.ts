import { recordMessages } from '../../conversations/record.ts'
import type { Tenant } from '../../platform/tenant.ts'
import type { EmailAccount } from '../email-account.ts'
import type { ComposedMail } from './compose.ts'
import type { MailDependencies } from './dependencies.ts'
import type { OutgoingMail } from './outgoing.ts'
import { markRecorded } from './reservation.ts'

/** Makes a sent mail a message of its thread and an event of its contact; a second time changes nothing. */
export async function recordSent(
  tenant: Tenant,
  { writing, clock }: MailDependencies,
  { identityId, name, address }: EmailAccount,
  mail: OutgoingMail,
  { text, html }: Pick<ComposedMail, 'text' | 'html'>,
  sentAt: Date,
): Promise<void> {
  await recordMessages(tenant, writing, [
    {
      channel: 'email',
      source: 'email',
      messageId: mail.messageId,
      threadKey: null,
      inReplyTo: mail.inReplyTo ?? null,
      references: mail.references ?? [],
      subject: mail.subject,
      from: { address, name },
      to: [{ address: mail.to, name: null }],
      cc: [],
      sentAt,
      direction: 'outbound',
      text,
      html,
      attachments: [],
      identityId,
    },
  ])
  await markRecorded(tenant, mail.messageId, clock())
}
