import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import type { RecordSent } from '../identities/mail/dependencies.ts'
import { recordMessages } from './record.ts'

/** Records a sent mail as a message of its thread and an event of its contact. Idempotent. */
export function createSentRecorder(writing: WriteDependencies): RecordSent {
  return (tenant, { account, mail, text, html, sentAt }) => {
    const message = {
      channel: 'email',
      source: 'email',
      messageId: mail.messageId,
      threadKey: null,
      inReplyTo: mail.inReplyTo ?? null,
      references: mail.references ?? [],
      subject: mail.subject,
      from: { address: account.address, name: account.name },
      to: [{ address: mail.to, name: null }],
      cc: [],
      sentAt,
      direction: 'outbound',
      text,
      html,
      attachments: [],
      identityId: account.identityId,
    } as const
    return recordMessages(tenant, writing, [message])
  }
}
