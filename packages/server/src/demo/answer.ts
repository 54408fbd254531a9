import type { WriteDependencies } from '../contacts/writing/transaction.ts'
import { recordMessages } from '../conversations/record.ts'
import { newId } from '../platform/ids.ts'
import type { Tenant } from '../platform/tenant.ts'
import type { SandboxMail } from './mailbox.ts'

/** Records an answer to a mail of the sandbox, as if the sender's mailbox had received it. */
export async function answerMail(
  tenant: Tenant,
  writing: WriteDependencies,
  identityId: string | null,
  { messageId, from, to, subject }: SandboxMail,
  text: string,
): Promise<void> {
  const sentIds = messageId === '' ? [] : [messageId]
  await recordMessages(tenant, writing, [
    {
      channel: 'email',
      source: 'email',
      messageId: `${newId()}@sandbox.invalid`,
      threadKey: null,
      inReplyTo: sentIds[0] ?? null,
      references: sentIds,
      subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
      from: { address: to[0] ?? null, name: null },
      to: [{ address: from, name: null }],
      cc: [],
      sentAt: writing.clock(),
      direction: 'inbound',
      text,
      html: null,
      attachments: [],
      identityId,
    },
  ])
}
