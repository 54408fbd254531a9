/** RFC 5321 allows 64 octets before the @ and 254 in all. */
export const ADDRESS_LENGTH_MAX = 254
/** The longest address in a request, in characters: more than allowed, because spaces around it are removed first. */
export const SENT_ADDRESS_LENGTH_MAX = 320
const LOCAL_PART = /^[^\s@"(),:;<>[\]\\\p{Cc}]{1,64}$/u
const LABEL = /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?$/u

/**
 * Normalizes an email address: trimmed and in lower case. Checks the form, not that it exists.
 * @returns null if it is malformed.
 */
export function parseEmail(text: string): string | null {
  const address = text.trim().toLowerCase()
  const at = address.lastIndexOf('@')
  if (at < 1 || Buffer.byteLength(address) > ADDRESS_LENGTH_MAX) return null
  const local = address.slice(0, at)
  const labels = address.slice(at + 1).split('.')
  const dotsFit = !local.startsWith('.') && !local.endsWith('.') && !local.includes('..')
  const domainFits = labels.length >= 2 && labels.every((label) => LABEL.test(label))
  return LOCAL_PART.test(local) && dotsFit && domainFits ? address : null
}
