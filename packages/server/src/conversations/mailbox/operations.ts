import Type from 'typebox'
import { idInPath, operation } from '../../operations/declare.ts'
import { CARRIES_MAIL } from '../../operations/further-scopes.ts'
import { Pagination, pageParameters, paginationOf } from '../../platform/http/pagination.ts'
import { Id } from '../../platform/http/responses.ts'
import { listMailboxes, MailboxDescription, readMailbox, rereadMailbox } from './mailboxes.ts'

const tag = 'Identities'

export const MAILBOX_OPERATIONS = [
  operation({
    name: 'listMailboxes',
    tag,
    http: 'GET /v1/mailboxes',
    command: 'mailbox list',
    scope: 'identities:read',
    summary: 'List the mailboxes of the identities and their state',
    input: pageParameters(100, 100),
    output: { mailboxes: Type.Array(MailboxDescription), pagination: Pagination },
    async run({ tenant }, { page, limit }) {
      const { mailboxes, total } = await listMailboxes(tenant, { page, limit })
      return { mailboxes, pagination: paginationOf({ page, limit }, total) }
    },
  }),
  operation({
    name: 'getMailbox',
    tag,
    http: 'GET /v1/mailboxes/:identity_id',
    command: 'mailbox get',
    scope: 'identities:read',
    summary: 'Get the mailbox of an identity and its state',
    input: { identity_id: idInPath('identity') },
    output: { mailbox: MailboxDescription },
    run: async ({ tenant }, { identity_id }) => ({ mailbox: await readMailbox(tenant, identity_id) }),
  }),
  operation({
    name: 'rereadMailbox',
    tag,
    http: 'POST /v1/mailboxes/:identity_id/reread',
    command: 'mailbox reread',
    scope: 'identities:write',
    also: [{ scopes: CARRIES_MAIL }],
    summary: 'Read a mailbox from the start again, to find earlier mails of new contacts',
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
