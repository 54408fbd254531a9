import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { Id } from '../../platform/http/responses.ts'
import { listMailboxes, MailboxDescription, rereadMailbox } from './mailboxes.ts'

const tag = 'Identities'

/** The mailboxes from which the mail of identities is received. */
export const MAILBOX_OPERATIONS = [
  operation({
    name: 'listMailboxes',
    tag,
    http: 'GET /v1/mailboxes',
    command: 'mailbox list',
    scope: 'identities:read',
    summary: 'List how the receiving of mail goes, for each identity that receives mail',
    input: pageParameters(100, 100),
    output: { mailboxes: Type.Array(MailboxDescription), pagination: Pagination },
    async run({ tenant }, { page = 1, limit = 100 }) {
      const { mailboxes, total } = await listMailboxes(tenant, { page, limit })
      return { mailboxes, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'rereadMailbox',
    tag,
    http: 'POST /v1/mailboxes/:identity_id/reread',
    command: 'mailbox reread',
    scope: 'identities:write',
    summary: 'Have a mailbox read from its first day again, which finds the mails of contacts that are new',
    input: { identity_id: idInPath('identity') },
    output: { identity_id: Id },
    status: 202,
    async run({ tenant }, { identity_id }) {
      await rereadMailbox(tenant, identity_id)
      return { identity_id }
    },
    audit: ({ identity_id }) => ({
      action: 'identity.mailbox_reread',
      subjectKind: 'identity',
      subjectId: identity_id,
    }),
  }),
]
