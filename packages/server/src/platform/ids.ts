import { randomInt } from 'node:crypto'
import { v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** A new identifier: a UUIDv7, so that ids made later sort later and land at the right edge of an index. */
export function newId(): string {
  return v7()
}

/** Half of what the sequence can hold: the rest is room for counting. */
const SEQUENCE_MAX = 2 ** 31

/** Makes identifiers that sort in the order in which they are made, also where one millisecond ends meanwhile. */
export function idsInOrder(): () => string {
  const msecs = Date.now()
  let seq = randomInt(SEQUENCE_MAX)
  return () => v7({ msecs, seq: seq++ })
}

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
