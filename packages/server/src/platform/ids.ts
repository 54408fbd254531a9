import { v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A new identifier: a UUIDv7, so that ids made later sort later and land at the right edge of an index. */
export function newId(): string {
  return v7()
}

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
