import type { SourceWrite } from './apply-write.ts'
import type { SourceRecord } from './record-source.ts'

/** Whether a source has sent a newer write before this one. */
export function isLate(write: SourceWrite, own: SourceRecord | undefined): own is SourceRecord {
  return own !== undefined && write.at !== undefined && own.updated_at > write.at
}

/** A late write without what its source has sent since. */
export function withoutSentSince({ email, externalId, ...others }: SourceWrite, own: SourceRecord): SourceWrite {
  const { at, properties } = others
  const isSentSince = (key: string) => {
    const field = Object.hasOwn(own.fields, key) ? own.fields[key] : undefined
    return field !== undefined && at !== undefined && new Date(field.updated_at) > at
  }
  return {
    ...others,
    ...(email === undefined || isSentSince('email') ? {} : { email }),
    ...(externalId === undefined || own.external_id !== null ? {} : { externalId }),
    properties: Object.fromEntries(Object.entries(properties).filter(([key]) => !isSentSince(key))),
  }
}
