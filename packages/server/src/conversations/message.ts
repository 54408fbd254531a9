/** Someone who writes or is written to. A chat participant may have no address. */
export interface Participant {
  address: string | null
  name: string | null
  /** The person's id in the messaging tool, which also identifies a contact. */
  externalId?: string | null
}

export interface MessageAttachment {
  filename: string | null
  contentType: string
  bytes: number
}

/** A message of any channel, before it is assigned to a thread and contacts. */
export interface IncomingMessage {
  channel: 'email' | 'chat'
  /** `email` for mailboxes, else the name of the messaging tool, e.g. `intercom`. */
  source: string
  /** The Message-ID without its angle brackets, or the tool's id. A message is stored once per tenant and source. */
  messageId: string
  /** The tool's thread id; null for mail, which is threaded by references, then by subject and participants. */
  threadKey: string | null
  inReplyTo: string | null
  references: readonly string[]
  subject: string | null
  from: Participant
  to: readonly Participant[]
  cc: readonly Participant[]
  sentAt: Date
  /** `outbound`: written by the tenant. */
  direction: 'inbound' | 'outbound'
  text: string
  /** Unsanitized. */
  html: string | null
  attachments: readonly MessageAttachment[]
  /** The identity whose mailbox received or sent it. */
  identityId: string | null
  /** Written by a machine (an out-of-office notice, a bounce), so it does not count as a reply. */
  isAutomatic?: boolean
}
