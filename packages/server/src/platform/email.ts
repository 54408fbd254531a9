import { domainToASCII, domainToUnicode } from 'node:url'

/** RFC 5321 allows 64 octets before the @ and 254 in all. */
export const ADDRESS_LENGTH_MAX = 254
/** The longest address in a request, in characters: more than allowed, because spaces around it are removed first. */
export const SENT_ADDRESS_LENGTH_MAX = 320
const LOCAL_PART = /^[^\s@"(),:;<>[\]\\\p{Cc}]{1,64}$/u
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const DOMAIN_LENGTH_MAX = 253
/** Node's conversion would read a longer text as a URL. */
const DOMAIN = /^(?:[a-z0-9.-]|[^\0-\x7f])+$/i
const PLAIN_DOMAIN = /^[\0-\x7f]*$/
const PUNYCODE = /(^|\.)xn--/i

const INVISIBLE = /\p{Cf}/gu
/** In a domain, a joiner may be a letter of the script: Persian has names that differ only by it. */
const INVISIBLE_IN_DOMAIN = /(?![\u200c\u200d])\p{Cf}/gu

/**
 * Normalizes an email address, so that two spellings of a mailbox are equal: trimmed, in lower case, without invisible
 * characters, the part before the @ in NFC and the domain in punycode. Checks the form, not that it exists.
 * @returns null if it is malformed.
 */
export function parseEmail(text: string): string | null {
  const at = text.lastIndexOf('@')
  if (at < 1) return null
  const local = lowerCase(text.slice(0, at).replace(INVISIBLE, '').trimStart()).normalize('NFC')
  const dotsFit = !local.startsWith('.') && !local.endsWith('.') && !local.includes('..')
  if (!LOCAL_PART.test(local) || !dotsFit) return null
  const domain = parseDomain(text.slice(at + 1))
  if (domain === null) return null
  const address = `${local}@${domain}`
  return Buffer.byteLength(address) > ADDRESS_LENGTH_MAX ? null : address
}

/**
 * The address as `parseEmail` writes it. A malformed one is only trimmed and in lower case: it can still be looked up.
 */
export function normalizeEmail(text: string): string {
  return parseEmail(text) ?? lowerCase(text.trim())
}

/** The lower case of Σ depends on its place in a word: ΝΙΚΟΣ and νικος would be two. The same as fold_text. */
function lowerCase(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ')
}

/** An address with its domain as people write it: `kim@bücher.example`. */
export function readableEmail(address: string): string {
  const at = address.lastIndexOf('@') + 1
  return PUNYCODE.test(address.slice(at)) ? address.slice(0, at) + domainToUnicode(address.slice(at)) : address
}

/** The domain in punycode and in lower case, without the dot of the root. */
function parseDomain(text: string): string | null {
  const withJoiners = text.replace(INVISIBLE_IN_DOMAIN, '').trimEnd()
  const without = withJoiners.replace(INVISIBLE, '')
  if (!DOMAIN.test(without)) return null
  const isPlain = PLAIN_DOMAIN.test(without) && !PUNYCODE.test(without)
  const ascii = isPlain ? without.toLowerCase() : domainToASCII(withJoiners) || domainToASCII(without)
  const domain = ascii.replace(/\.$/, '')
  const labels = domain.split('.')
  const fits = labels.length >= 2 && domain.length <= DOMAIN_LENGTH_MAX && labels.every((label) => LABEL.test(label))
  return fits && (isPlain || isInternational(domain)) ? domain : null
}

/** Whether each label in punycode stands for a text, in its only spelling, and the domain is no IP address. */
function isInternational(domain: string): boolean {
  const readable = domainToUnicode(domain)
  const labels = readable.split('.')
  return (
    domainToASCII(readable) === domain &&
    // What Node cannot decode, it leaves as it is.
    domain.split('.').every((label, at) => !label.startsWith('xn--') || !PLAIN_DOMAIN.test(labels[at] ?? '')) &&
    labels.every((label) => !label.startsWith('-') && !label.endsWith('-')) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? '')
  )
}
