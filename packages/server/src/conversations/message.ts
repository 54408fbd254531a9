/** Someone who writes or is written to. A chat participant may have no address. */
export interface Participant {
  address: string | null
  name: string | null
  /** The id that the messaging tool has for the person, by which a contact is found too. */
  externalId?: string | null
}

export interface MessageAttachment {
  filename: string | null
  contentType: string
  bytes: number
}

/** A message of any channel as it comes in, before it has found its thread and its contacts. */
export interface IncomingMessage {
  channel: 'email' | 'chat'
  /** Where it was seen: `email` for mailboxes, else the name of the messaging tool, e.g. `intercom`. */
  source: string
  /** The Message-ID without its angle brackets, or the tool's id. Stored once per tenant and source, however often seen. */
  messageId: string
  /** The tool's own thread; null for mail, which is threaded by its references, then subject and participants. */
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
  /** As received; it is sanitised before it is stored. */
  html: string | null
  attachments: readonly MessageAttachment[]
  /** The identity whose mailbox it was seen in or sent from. */
  identityId: string | null
  /** Written by a machine (an out-of-office notice, a bounce): it is no reply of a person. */
  isAutomatic?: boolean
}
