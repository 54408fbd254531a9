import { describeMailboxes, rereadMailbox } from '../conversations/mailbox/position.ts'
import { pathId } from '../platform/http/responses.ts'
import { about, audited } from './audited.ts'
import { type Command, existingTenant, required, tenant } from './command.ts'

/** What `cdsctl mailbox …` can do. */
export const MAILBOX_COMMANDS: Record<string, Command> = {
  'mailbox status': {
    summary: 'Show how the receiving of mail goes, for each identity that has a mailbox',
    options: { tenant },
    run: async (session, values) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      return { mailboxes: await describeMailboxes(owner) }
    },
  },
  'mailbox reread': {
    summary: 'Have a mailbox read from its first day again, which finds the mails of contacts that are new',
    options: { tenant, identity: required('IDENTITY_ID') },
    run: async (session, values, now) => {
      const tenantId = await existingTenant(session.stores, values)
      const identityId = pathId(String(values.identity), 'identity')
      await audited(
        session,
        tenantId,
        now,
        (tx) => rereadMailbox(tx, identityId),
        () => about('identity', 'mailbox_reread', identityId),
      )
      return { identity_id: identityId, reread: true }
    },
  },
}
