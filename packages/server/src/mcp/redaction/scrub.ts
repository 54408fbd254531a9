import { isIP } from 'node:net'
import { parseEmail } from '../../platform/email.ts'
import { digitsOf, isHarmless, isRedacted, outsideRedacted } from './pseudonyms.ts'

/** What replaces the values in a text. */
export interface Replacements {
  email(address: string): string
  phone(number: string): string
  isKnownPhone(digits: string): boolean
  ip(address: string): string
  /** Replaces known names and other values. */
  words(text: string): string
}

const TIMES_MAX = 5

/**
 * A text that stays legible, without its personal values: email addresses, phone numbers, IP addresses and known words,
 * even if they are URL-encoded. URLs lose their credentials, their fragments and all parameters except those of campaigns.
 */
export function scrub(text: string, replace: Replacements): string {
  if (text === '' || isHarmless(text) || isRedacted(text)) return text
  let [before, scrubbed] = ['', text]
  // A replacement may end a number or extend a URL, so this repeats until nothing changes.
  for (let time = 0; time < TIMES_MAX && scrubbed !== before; time++) {
    before = scrubbed
    scrubbed = scrubPlain(scrubEncoded(stripUrls(before), replace), replace)
  }
  return scrubbed
}

function scrubPlain(text: string, replace: Replacements): string {
  let scrubbed = outsideRedacted(text, (part) => replaceEmails(part, replace))
  scrubbed = outsideRedacted(scrubbed, (part) => replacePhones(part, replace))
  scrubbed = outsideRedacted(scrubbed, (part) => replaceIps(part, replace))
  return outsideRedacted(scrubbed, (part) => replace.words(part))
}

const URL_IN_TEXT = /\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s<>"'`]+/gi
const PARAMETERS = /\?[^\s?#"'<>]*=[^\s"'<>]*/g

function stripUrls(text: string): string {
  const stripped = text.replace(URL_IN_TEXT, stripUrl)
  const isPath = stripped.startsWith('/') && !/\s/.test(stripped)
  const rest = isPath ? stripUrl(stripped) : stripped
  return rest.replace(PARAMETERS, (query) => campaignOf(query))
}

function stripUrl(url: string): string {
  const end = url.search(/[?#]/)
  const [base, rest] = end < 0 ? [url, ''] : [url.slice(0, end), url.slice(end)]
  const query = rest.startsWith('?') ? campaignOf(rest) : ''
  return base.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1') + query
}

/** The parameters of a query that name a campaign. */
function campaignOf(query: string): string {
  const kept = query
    .slice(1)
    .replace(/#.*$/s, '')
    .split('&')
    .filter((parameter) => /^utm_[a-z_]+=/i.test(parameter))
  return kept.length === 0 ? '' : `?${kept.join('&')}`
}

/** Scrubs percent-encoded words, even if they are encoded twice. A word without personal values stays as it is. */
function scrubEncoded(text: string, replace: Replacements): string {
  if (!/%[0-9a-f]{2}/i.test(text)) return text
  return text
    .split(/([\s<>"']+)/)
    .map((word) => {
      if (!/%[0-9a-f]{2}/i.test(word)) return word
      const decoded = decode(word)
      const scrubbed = scrubPlain(decoded, replace)
      return scrubbed === decoded ? word : encodeURI(scrubbed.toWellFormed())
    })
    .join('')
}

function decode(text: string): string {
  let decoded = text
  for (let time = 0; time < 3; time++) {
    const next = decoded.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
      Buffer.from(bytes.replaceAll('%', ''), 'hex').toString('utf8'),
    )
    if (next === decoded) break
    decoded = next
  }
  return decoded
}

const LOCAL_CHARACTER = /[^\s@"(),:;<>[\]\\/=&?%{}|`]/u
/** What `parseEmail` ignores in a domain or reads as a dot is part of it. */
const DOMAIN_CHARACTER = /[\p{L}\p{N}\p{M}\p{Cf}.\u3002\uff0e\uff61-]/u
const LOCAL_LENGTH_MAX = 64
const DOMAIN_LENGTH_MAX = 253

/** Searches only around each @, so that long words without one cost no time. */
function replaceEmails(text: string, { email }: Replacements): string {
  let [result, copied] = ['', 0]
  for (let at = text.indexOf('@'); at >= 0; at = text.indexOf('@', at + 1)) {
    let start = at
    while (start > copied && at - start < LOCAL_LENGTH_MAX && LOCAL_CHARACTER.test(text[start - 1] ?? '')) start--
    let end = at + 1
    while (end < text.length && end - at <= DOMAIN_LENGTH_MAX && DOMAIN_CHARACTER.test(text[end] ?? '')) end++
    const local = text.slice(start, at).replace(/^['.]+/, '')
    // The next sentence may follow without a space.
    const domain = text
      .slice(at + 1, end)
      .replace(/(?<=\p{Ll})\.\p{Lu}.*$|(?<=\.[^\u3002\uff0e\uff61]+)[\u3002\uff0e\uff61].*$/u, '')
      .replace(/[\p{Cf}.\u3002\uff0e\uff61-]+$/u, '')
    const address = parseEmail(`${local}@${domain}`)
    if (address === null || !/\p{L}{2,}$/u.test(domain)) continue
    result += text.slice(copied, at - local.length) + email(address)
    copied = at + 1 + domain.length
  }
  return result + text.slice(copied)
}

const PHONE_CANDIDATE = /(?<![\p{L}\p{N}_])\+?\(?\d[\d\s().\u00a0/-]{4,25}\d(?![\p{L}\p{N}_])/gu
const DATE = /^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b/
const NORTH_AMERICAN = /^(?:1[-. ])?\(?\d{3}\)?[-. ]\d{3}[-. ]\d{4}$/

function replacePhones(text: string, replace: Replacements): string {
  return text.replace(PHONE_CANDIDATE, (candidate) => {
    if (replace.isKnownPhone(digitsOf(candidate)) || looksLikePhone(candidate)) return replace.phone(candidate)
    return replaceKnownWithin(candidate, replace)
  })
}

/** Numbers that are dialled: with + or 00, with a leading zero, in parentheses, or in North American groups. */
function looksLikePhone(text: string): boolean {
  const digits = text.replace(/\D/g, '')
  if (digits.length < 8 || digits.length > 16 || DATE.test(text) || /^0\.\d+$/.test(text)) return false
  if (text.startsWith('+') || NORTH_AMERICAN.test(text)) return true
  return digits.length >= 9 && (text.startsWith('0') || text.startsWith('('))
}

/** Replaces known phone numbers among other numbers. */
function replaceKnownWithin(text: string, replace: Replacements): string {
  const parts = text.split(/(\D+)/)
  for (let from = 0; from < parts.length; from += 2) {
    for (let to = parts.length; to > from; to -= 2) {
      const number = parts.slice(from, to).join('')
      if (!replace.isKnownPhone(digitsOf(number))) continue
      return parts.slice(0, from).join('') + replace.phone(number) + parts.slice(to).join('')
    }
  }
  return text
}

/** Not after a slash, where a version is: `Chrome/147.0.0.0`. */
const IPV4 = /(?<![\p{L}\p{N}_.]|[\p{L}\p{N}_]\/)(?:\d{1,3}\.){3}\d{1,3}(?![\p{L}\p{N}_]|\.\d)/gu
const IPV6 = /(?<![\p{L}\p{N}_:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\p{L}\p{N}_:])/giu

function replaceIps(text: string, { ip }: Replacements): string {
  if (!/[.:]/.test(text)) return text
  const replaced = text.replace(IPV4, (address) => (isIP(address) ? ip(address) : address))
  return replaced.replace(IPV6, (address) => (isIP(address) && address !== '::' ? ip(address) : address))
}
