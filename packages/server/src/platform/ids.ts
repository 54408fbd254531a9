import { randomFillSync } from 'node:crypto'
import { v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The millisecond of the last id, and its number within it. The number starts in the lower half of its range. */
const last = { msecs: 0, seq: 0 }

/** A new identifier: a UUIDv7 that sorts after all earlier ones of this process, and so lands at the right edge of an index. */
export function newId(): string {
  const random = randomBytes()
  const msecs = Date.now()
  if (msecs > last.msecs) Object.assign(last, { msecs, seq: random.readUInt32BE() >>> 1 })
  else last.seq++
  return asOwnId(v7({ ...last, random }))
}

/** Five hexadecimal digits: one in a million other ids looks like one of the service's. */
const CHECK_DIGITS = 5

/** The UUID with check digits at its end, by which the service recognizes its own ids without storing them. */
export function asOwnId(uuid: string): string {
  const rest = uuid.slice(0, -CHECK_DIGITS)
  return rest + checkOf(rest)
}

/** Whether a lower-case id may be one of the service's. Anyone can forge one. */
export function isOwnId(id: string): boolean {
  return id.endsWith(checkOf(id.slice(0, -CHECK_DIGITS)))
}

/** The UUID, changed in its last digit if it looks like one of the service's. */
export function asForeignId(uuid: string): string {
  if (!isOwnId(uuid)) return uuid
  const changed = Number.parseInt(uuid.slice(-1), 16) ^ 1
  return uuid.slice(0, -1) + changed.toString(16)
}

/** FNV-1a, folded to the available digits. */
function checkOf(text: string): string {
  let sum = 0x811c9dc5
  for (let at = 0; at < text.length; at++) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193)
  const folded = (sum ^ (sum >>> (4 * CHECK_DIGITS))) & (16 ** CHECK_DIGITS - 1)
  return folded.toString(16).padStart(CHECK_DIGITS, '0')
}

/** The time of a UUIDv7, in milliseconds since 1970; null for a UUID of another version. */
export function timeOfId(id: string): number | null {
  const { groups } = MOMENT.exec(id) ?? {}
  return groups ? Number.parseInt(`${groups.high}${groups.low}`, 16) : null
}

const MOMENT = /^(?<high>[0-9a-f]{8})-(?<low>[0-9a-f]{4})-7/

const BYTES_AN_ID = 16
const pool = Buffer.alloc(256 * BYTES_AN_ID)
let used = pool.length

/** Random bytes are requested in blocks, because requesting those of one id takes longer than the rest of it. */
function randomBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += BYTES_AN_ID
  return pool.subarray(used - BYTES_AN_ID, used)
}

/** No record's id, and smaller than every id. */
export const ZERO_ID = '00000000-0000-0000-0000-000000000000'

/** The longest id in a request, in characters. The service's own are UUIDs; those of other systems may be longer. */
export const ID_LENGTH_MAX = 200

/** Whether a text is a UUID of any version. */
export function isUuid(text: string): boolean {
  return UUID.test(text)
}
