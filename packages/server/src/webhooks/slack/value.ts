import { firstCharacters } from '../../platform/characters.ts'

/** The maximum length of one value in a message, in code points. */
const VALUE_LENGTH_MAX = 200
const ZERO_WIDTH_SPACE = '\u200b'
/** Line breaks would let a value start its own lines. */
const WHITE_SPACE = /\s+/g
/** Control characters, and characters that reverse or hide the text after them. */
const INVISIBLE = /[\p{Cc}\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu
const GROUP_MENTION = /@(?=(?:channel|here|all|everyone|group)(?![\p{L}\p{N}]))/giu
const MENTION = /(?<![\p{L}\p{N}._%+-])@(?=[\p{L}\p{N}_])/gu
const SCHEME = /([a-z][a-z0-9+.-]*:)(?=\/\/)/gi
/** Text that looks like a domain, outside an email address. */
const DOMAIN = /(?<![\p{L}\p{N}@._-])((?:[\p{L}\p{N}_-]+\.)+)(?=\p{L}{2,63}(?![\p{L}\p{N}@._-]*@))/gu
const MARKDOWN_LINK = /\](?=[([:])/g

/**
 * Converts a value to message text. Slack's documentation requires escaping &, < and >, which prevents links and mentions
 * there. Mattermost, Rocket.Chat and Discord have more syntax for these, and all services turn bare URLs into links.
 * Zero-width spaces prevent that.
 */
export function asText(value: unknown): string {
  return shortened(value)
    .replace(MARKDOWN_LINK, `]${ZERO_WIDTH_SPACE}`)
    .replace(SCHEME, `$1${ZERO_WIDTH_SPACE}`)
    .replace(DOMAIN, (name) => `${name.slice(0, -1)}${ZERO_WIDTH_SPACE}.`)
    .replace(GROUP_MENTION, `@${ZERO_WIDTH_SPACE}`)
    .replace(MENTION, `@${ZERO_WIDTH_SPACE}`)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

/** A value inside a URL that the template's author wrote. */
export function inUrl(value: unknown): string {
  return encodeURIComponent(shortened(value)).replace(
    /['()*!]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  )
}

function shortened(value: unknown): string {
  const text = plain(value).toWellFormed().replace(WHITE_SPACE, ' ').replace(INVISIBLE, '').trim()
  const short = firstCharacters(text, VALUE_LENGTH_MAX)
  return short.length < text.length ? `${short}…` : short
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (Array.isArray(value))
    return value.map((each) => (isScalar(each) ? String(each) : JSON.stringify(each))).join(', ')
  return isScalar(value) ? String(value) : JSON.stringify(value)
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null
}
