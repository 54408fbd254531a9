import { type Kysely, sql } from 'kysely'

/** Conversations of every channel, the mailboxes that mail comes from, and the messaging tools that are asked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // `thread_key` is the tool's own name of the thread; mail has none. What is counted and shown of a thread is kept with
  // it, so that a list reads no messages.
  `CREATE TABLE conversation_threads (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    thread_id uuid NOT NULL,
    channel text NOT NULL CHECK (channel IN ('email', 'chat')),
    source text NOT NULL,
    thread_key text,
    subject text,
    subject_key text NOT NULL,
    participants jsonb NOT NULL,
    message_count integer NOT NULL,
    last_message_at timestamptz NOT NULL,
    last_message_id text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, thread_id)
  )`,
  `CREATE UNIQUE INDEX conversation_threads_key ON conversation_threads (tenant_id, source, thread_key)
    WHERE thread_key IS NOT NULL`,
  `CREATE INDEX conversation_threads_subject ON conversation_threads
    (tenant_id, source, subject_key, last_message_at DESC) WHERE thread_key IS NULL AND subject_key <> ''`,

  // Who takes part, by the key that a contact is found by: an e-mail address (directory 'email'), or the id that a tool
  // has for a person (directory: the tool's name). No contact stands here, so whoever gets an address later, or another
  // one, has the conversations of that address at once.
  `CREATE TABLE conversation_participants (
    tenant_id uuid NOT NULL,
    directory text NOT NULL,
    key text NOT NULL,
    thread_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, directory, key, thread_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES conversation_threads ON DELETE CASCADE
  )`,
  'CREATE INDEX conversation_participants_thread ON conversation_participants (tenant_id, thread_id)',

  // Each message once, by the id that its source has for it. The sender's key is that of conversation_participants.
  `CREATE TABLE conversation_messages (
    tenant_id uuid NOT NULL,
    source text NOT NULL,
    message_id text NOT NULL,
    thread_id uuid NOT NULL,
    direction text NOT NULL CHECK (direction IN ('inbound', 'outbound')),
    sender_directory text NOT NULL,
    sender_key text,
    sender jsonb NOT NULL,
    recipients jsonb NOT NULL,
    cc jsonb NOT NULL,
    sent_at timestamptz NOT NULL,
    text text NOT NULL,
    html text,
    attachments jsonb NOT NULL,
    is_automatic boolean NOT NULL,
    identity_id uuid,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, source, message_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES conversation_threads ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, identity_id) REFERENCES identities ON DELETE SET NULL (identity_id)
  )`,
  'CREATE INDEX conversation_messages_newest ON conversation_messages (tenant_id, thread_id, sent_at, message_id)',
  `CREATE INDEX conversation_messages_identity ON conversation_messages (tenant_id, identity_id)
    WHERE identity_id IS NOT NULL`,

  // The thread of every message that is stored or that a stored one refers to: a reply may come before what it answers.
  `CREATE TABLE conversation_references (
    tenant_id uuid NOT NULL,
    source text NOT NULL,
    message_id text NOT NULL,
    thread_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, source, message_id),
    FOREIGN KEY (tenant_id, thread_id) REFERENCES conversation_threads ON DELETE CASCADE
  )`,
  'CREATE INDEX conversation_references_thread ON conversation_references (tenant_id, thread_id)',

  // How the receiving of an identity's mail goes. One process at a time holds a mailbox, for as long as it renews that.
  // `failed_setting` is a digest of the account that failed: one that is set anew is tried at once.
  `CREATE TABLE mailboxes (
    tenant_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    state text NOT NULL,
    error text,
    failures integer NOT NULL DEFAULT 0,
    failed_setting text,
    holder uuid,
    held_until timestamptz,
    next_attempt_at timestamptz NOT NULL,
    connected_at timestamptz,
    synced_at timestamptz,
    PRIMARY KEY (tenant_id, identity_id),
    FOREIGN KEY (tenant_id, identity_id) REFERENCES email_accounts ON DELETE CASCADE
  )`,
  // How far each folder has been read. UIDs and mod-sequences are numbers of up to 64 bits, kept as texts.
  `CREATE TABLE mailbox_folders (
    tenant_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('inbox', 'sent')),
    path text NOT NULL,
    uid_validity text NOT NULL,
    last_uid bigint NOT NULL,
    mod_sequence text,
    synced_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, identity_id, role),
    FOREIGN KEY (tenant_id, identity_id) REFERENCES mailboxes ON DELETE CASCADE
  )`,
  // Mails that could not be read; the rest goes on without them.
  `CREATE TABLE mailbox_skipped (
    tenant_id uuid NOT NULL,
    identity_id uuid NOT NULL,
    role text NOT NULL,
    uid_validity text NOT NULL,
    uid bigint NOT NULL,
    reason text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, identity_id, role, uid_validity, uid),
    FOREIGN KEY (tenant_id, identity_id) REFERENCES mailboxes ON DELETE CASCADE
  )`,
  // A mailbox that is set, changed or removed is noticed by whichever process reads it.
  `CREATE TRIGGER email_accounts_changed AFTER INSERT OR DELETE OR UPDATE OF address, settings, sealed ON email_accounts
    FOR EACH STATEMENT EXECUTE FUNCTION announce_change()`,

  // A messaging tool whose API is asked. `position` says how far, so that a pull goes on where one was broken off.
  `CREATE TABLE messaging_connections (
    tenant_id uuid NOT NULL REFERENCES tenants ON DELETE CASCADE,
    source text NOT NULL,
    settings jsonb NOT NULL,
    sealed text NOT NULL,
    position jsonb NOT NULL,
    state text NOT NULL,
    error text,
    next_pull_at timestamptz NOT NULL,
    synced_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, source)
  )`,
  'CREATE INDEX messaging_connections_due ON messaging_connections (next_pull_at)',
]
