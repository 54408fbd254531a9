import type { Tables } from '../platform/postgres/table-rules.ts'
import { deleteConversations } from './delete.ts'
import { eraseFromConversations } from './erase.ts'

export const CONVERSATION_TABLES = {
  conversation_threads: {
    key: ['thread_id'],
    release: deleteConversations,
    erase: eraseFromConversations,
    export: { without: ['subject_key'] },
  },
  conversation_participants: {
    key: ['directory', 'key', 'thread_id'],
    erasedWith: 'conversation_threads',
    export: {},
  },
  conversation_messages: {
    key: ['source', 'message_id'],
    erasedWith: 'conversation_threads',
    export: { rowsPerPage: 50 },
  },
  conversation_references: { key: ['source', 'message_id'], export: 'none' },
  mailboxes: { key: ['identity_id'], export: 'none' },
  mailbox_folders: { key: ['identity_id', 'role'], export: 'none' },
  mailbox_skipped: { key: ['identity_id', 'role', 'uid_validity', 'uid'], export: 'none' },
} satisfies Tables
