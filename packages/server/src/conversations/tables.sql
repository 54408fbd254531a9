-- `thread_key` is the tool's own id of the thread; mail has none. Counts and display columns are stored with the
-- thread, so that a list reads no messages.
CREATE TABLE conversation_threads (
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
);
CREATE UNIQUE INDEX conversation_threads_key ON conversation_threads (tenant_id, source, thread_key)
  WHERE thread_key IS NOT NULL;
CREATE INDEX conversation_threads_subject ON conversation_threads
  (tenant_id, source, subject_key, last_message_at DESC) WHERE thread_key IS NULL AND subject_key <> '';

-- Participants, by key: an email address (directory 'email'), or a tool's id for a person (directory: the tool's
-- name). Contacts are not stored here, so a contact that gets an address later has the conversations of that address
-- at once.
CREATE TABLE conversation_participants (
  tenant_id uuid NOT NULL,
  directory text NOT NULL,
  key text NOT NULL,
  thread_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, directory, key, thread_id),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES conversation_threads ON DELETE CASCADE
);
CREATE INDEX conversation_participants_thread ON conversation_participants (tenant_id, thread_id);

-- Each message once, by its id in the source. The sender's key is that of conversation_participants.
CREATE TABLE conversation_messages (
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
);
CREATE INDEX conversation_messages_newest ON conversation_messages (tenant_id, thread_id, sent_at, message_id);
CREATE INDEX conversation_messages_identity ON conversation_messages (tenant_id, identity_id)
  WHERE identity_id IS NOT NULL;

-- The thread of every message that is stored or that a stored one refers to: a reply may arrive before the message it
-- replies to.
CREATE TABLE conversation_references (
  tenant_id uuid NOT NULL,
  source text NOT NULL,
  message_id text NOT NULL,
  thread_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, source, message_id),
  FOREIGN KEY (tenant_id, thread_id) REFERENCES conversation_threads ON DELETE CASCADE
);
CREATE INDEX conversation_references_thread ON conversation_references (tenant_id, thread_id);

-- The state of reading an identity's mail. One process at a time claims a mailbox; it has one `claim` for all of its mailboxes.
-- `failed_setting` is a digest of the account that failed: a changed account is tried immediately.
CREATE TABLE mailboxes (
  tenant_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  state text NOT NULL,
  error text,
  failures integer NOT NULL DEFAULT 0,
  failed_setting text,
  claim uuid,
  claimed_until timestamptz,
  next_attempt_at timestamptz NOT NULL,
  connected_at timestamptz,
  synced_at timestamptz,
  PRIMARY KEY (tenant_id, identity_id),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES email_accounts ON DELETE CASCADE
);
-- The reading position in each folder. UIDs and mod-sequences are numbers of up to 64 bits, stored as text.
CREATE TABLE mailbox_folders (
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
);
-- Mails that could not be parsed, which are skipped.
CREATE TABLE mailbox_skipped (
  tenant_id uuid NOT NULL,
  identity_id uuid NOT NULL,
  role text NOT NULL,
  uid_validity text NOT NULL,
  uid bigint NOT NULL,
  reason text NOT NULL,
  at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, identity_id, role, uid_validity, uid),
  FOREIGN KEY (tenant_id, identity_id) REFERENCES mailboxes ON DELETE CASCADE
);
