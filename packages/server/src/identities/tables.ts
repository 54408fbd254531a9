import type { Tables } from '../platform/postgres/table-rules.ts'
import { emailPlace } from './email-secrets.ts'
import { codePlace, credentialsPlace } from './social/sessions.ts'

export const IDENTITY_TABLES = {
  identities: { key: ['identity_id'], export: {} },
  email_accounts: {
    key: ['identity_id'],
    export: {},
    sealed: { sealed: ({ tenant_id = '', identity_id = '' }) => emailPlace(tenant_id, identity_id) },
  },
  email_suppressions: { key: ['address'], erasedWith: 'agent_actions', export: {} },
  // Links in mails to a merged contact unsubscribe the survivor. Who got a mail is erased with the actions that sent it.
  mail_sends: {
    key: ['message_id'],
    contact: 'moves',
    erasedWith: 'agent_actions',
    export: { without: ['claimed_until', 'unsubscribe_hash'] },
  },
  social_profiles: { key: ['identity_id'], export: {} },
  social_sessions: {
    key: ['session_id'],
    export: 'none',
    sealed: {
      credentials_sealed: ({ tenant_id = '', session_id = '' }) => credentialsPlace(tenant_id, session_id),
      code_sealed: ({ tenant_id = '', session_id = '' }) => codePlace(tenant_id, session_id),
    },
  },
  social_sandbox_logins: { key: ['session_id'], export: 'none' },
  social_sandbox_outbox: { key: ['external_id'], erasedWith: 'agent_actions', export: 'none' },
} satisfies Tables
