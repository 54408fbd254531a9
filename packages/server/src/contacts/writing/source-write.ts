import type { PropertyChanges } from '../properties.ts'
import { fieldOf, type SourceKind, type SourceRecord } from './source-records.ts'

/** What one record of a source says of a person, of whom the source may have several. See opt-outs.ts. */
export interface Statement {
  /** The source's id of the record; null if it has none (a row of a file). */
  id: string | null
  /** All that it says, including what the write leaves out because it was said before. */
  properties: PropertyChanges
  /** Whether another record of the same batch was about the person too. */
  isAgain: boolean
  /** Whether the source's last write was about another record, whose time says nothing about this one. */
  isAnother: boolean
  /** Whether the record says it now. A program may push an old version of a record late. */
  isCurrent: boolean
}

/** One source's write to a contact. */
export interface SourceWrite {
  source: string
  kind: SourceKind
  /** The source's id for the contact. */
  externalId?: string
  /** The source's record as sent. */
  raw?: unknown
  email?: string
  properties: PropertyChanges
  /** undefined: unchanged. */
  companyId?: string | null
  /** When the values changed in the source, not later than now. undefined: now, so that it is the latest write. */
  at?: Date
  /**
   * It contains only some of the source's values, such as those of one message. If the source has sent a newer write, it
   * still counts for values that the source has not sent since; otherwise it is ignored.
   */
  isPartial?: boolean
  /** When the contact was seen, which may be earlier than its first_seen_at. */
  seenAt?: Date
  /** Properties for which it does not replace values of other sources, and only fills blanks. */
  yields?: ReadonlySet<string>
  /** The record that it comes from. undefined: the source has one for each person. */
  statement?: Statement
  /** A page sent it and verified only its visitor's identity. Unverified sources are always pages. */
  isFromPage?: boolean
}

/** Whether a source has sent a newer write before this one. */
export function isLate(write: SourceWrite, own: SourceRecord | undefined): own is SourceRecord {
  return own !== undefined && write.at !== undefined && own.updated_at > write.at
}

/** A late write without what its source has sent since. */
export function withoutSentSince({ email, externalId, ...others }: SourceWrite, own: SourceRecord): SourceWrite {
  const { at, properties } = others
  const isSentSince = (key: string) => {
    const field = fieldOf(own, key)
    return field !== undefined && at !== undefined && new Date(field.updated_at) > at
  }
  return {
    ...others,
    ...(email === undefined || isSentSince('email') ? {} : { email }),
    ...(externalId === undefined || own.external_id !== null ? {} : { externalId }),
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !isSentSince(key))),
  }
}
