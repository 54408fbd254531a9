/** A phone number as digits. */
export interface Phone {
  digits: string
  /** Whether it begins with the code of its country. */
  isInternational: boolean
}

const NUMBER = /^\s*\+?[\d\s().\-/]{7,30}$/
/** Numbers that people type to fill a field. */
const FILLER = /^(\d)\1+$|1234567|9876543/
/** How many last digits two spellings of a number share: the code of the country and the zeros before it are left out. */
const SHARED_DIGITS = 8

/** @returns null if the text is no phone number. */
export function parsePhone(text: string): Phone | null {
  if (!NUMBER.test(text)) return null
  const written = text.trim().replace(/\(0\)/, '')
  const all = written.replace(/\D/g, '')
  const isInternational = written.startsWith('+') || all.startsWith('00')
  const digits = all.replace(/^0+/, '')
  if (digits.length < SHARED_DIGITS - 1 || digits.length > 15 || FILLER.test(digits)) return null
  return { digits, isInternational }
}

/** What two spellings of a number have in common. */
export function endOf({ digits }: Phone): string {
  return digits.slice(-SHARED_DIGITS)
}

/** Whether two texts are the same number: a national one has no code of its country. */
export function isSamePhone(a: Phone, b: Phone): boolean {
  if (a.digits === b.digits) return true
  if (a.isInternational === b.isInternational) return false
  const [international, national] = a.isInternational ? [a, b] : [b, a]
  const code = international.digits.length - national.digits.length
  return (
    national.digits.length >= SHARED_DIGITS && code > 0 && code <= 3 && international.digits.endsWith(national.digits)
  )
}
