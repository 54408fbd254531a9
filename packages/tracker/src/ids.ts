import { attempt } from './guard.ts'

/** A number in hexadecimal with this many digits. */
export function hex(number: number, digits: number): string {
  return `0000000${number.toString(16)}`.slice(-digits)
}

/** A UUIDv7. The service deduplicates events by it, and later ids sort later. */
export function newId(): string {
  const random = new Uint8Array(36)
  attempt(() => crypto.getRandomValues(random))
  const time = hex(Date.now(), 12).replace(/.{8}/, '$&-')
  return `${time}-7xxx-yxxx-xxxxxxxxxxxx`.replace(/[xy]/g, (mark, at: number) => {
    const digit = ((Math.random() * 16) ^ (random[at] as number)) & 15
    return hex(mark === 'x' ? digit : (digit & 3) | 8, 1)
  })
}
