import { attempt } from './guard.ts'

/** A number in hexadecimal with this many digits. */
export function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0')
}

/** A UUIDv7. The service deduplicates events by it, and later ids sort later. */
export function newId(): string {
  const random = new Uint8Array(36)
  attempt(() => crypto.getRandomValues(random))
  const time = hex(Date.now(), 12).replace(/.{8}/, '$&-')
  // The other variants of a UUID, 9 to b, would add two random bits to 72.
  return `${time}-7xxx-8xxx-xxxxxxxxxxxx`.replace(/x/g, (_mark, at: number) =>
    hex(((Math.random() * 16) ^ (random[at] as number)) & 15, 1),
  )
}
