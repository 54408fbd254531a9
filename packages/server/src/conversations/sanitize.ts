import type { Attributes, IOptions } from 'sanitize-html'

const HTML_BYTES_MAX = 512 * 1024
const NESTING_MAX = 100
/** Cleaning takes time per tag, especially for unclosed ones, and blocks the event loop. */
const TAGS_MAX = 25_000
const ATTEMPTS_MAX = 6
const TRUNCATED_MARK = '<p>[truncated]</p>'
const REMOTE = /^https?:\/\//i

/** Text, tables and images; nothing that runs, submits, embeds or styles the surrounding page. */
const TAGS = [
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del details dfn div',
  'dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q s samp section',
  'small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var wbr',
].flatMap((line) => line.split(' '))

const OPTIONS: IOptions = {
  allowedTags: TAGS,
  allowedAttributes: {
    a: ['href', 'title', 'rel', 'target'],
    img: ['alt', 'title', 'width', 'height', 'data-src'],
    ol: ['start'],
    td: ['colspan', 'rowspan', 'align', 'valign'],
    th: ['colspan', 'rowspan', 'align', 'valign'],
    '*': ['dir', 'lang'],
  },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesAppliedToAttributes: ['href', 'data-src'],
  allowProtocolRelative: false,
  // Their content is not text for readers.
  nonTextTags: ['script', 'style', 'textarea', 'option', 'noscript', 'title', 'head', 'svg', 'math', 'template', 'xml'],
  nestingLimit: NESTING_MAX,
  parseStyleAttributes: false,
  transformTags: {
    a: (tagName: string, { href, title }: Attributes) => ({
      tagName,
      attribs: {
        ...(href === undefined ? {} : { href }),
        ...(title === undefined ? {} : { title }),
        rel: 'noopener noreferrer nofollow',
        target: '_blank',
      },
    }),
    // Loading a remote image tells the sender who reads the mail, and when. A client may offer to load it.
    img: (tagName: string, { src, ...attributes }: Attributes) => {
      delete attributes['data-src']
      return {
        tagName,
        attribs: src !== undefined && REMOTE.test(src) ? { ...attributes, 'data-src': src } : attributes,
      }
    },
  },
}

/**
 * Makes a mail's HTML safe to show inside a page: no scripts, styles, forms, frames, SVG or handlers. Remote images are
 * not loaded (their URL is in `data-src`); links open in a new tab without a referrer.
 * Longer HTML is cut at 512 KiB and ends with a mark.
 */
export async function cleanHtml(html: string): Promise<string> {
  const { default: sanitize } = await import('sanitize-html')
  // Cut before cleaning, never after: an incomplete tag could swallow the content that follows it.
  let source = beforeTag(html.slice(0, HTML_BYTES_MAX), TAGS_MAX)
  let isCut = source.length < html.length
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const clean = sanitize(source, OPTIONS) + (isCut ? TRUNCATED_MARK : '')
    const bytes = Buffer.byteLength(clean)
    if (bytes <= HTML_BYTES_MAX) return clean
    source = source.slice(0, Math.floor((source.length * HTML_BYTES_MAX * 0.9) / bytes))
    isCut = true
  }
  return TRUNCATED_MARK
}

/** The HTML up to tag number `tags`. */
function beforeTag(html: string, tags: number): string {
  let at = -1
  for (let n = 0; n <= tags; n++) {
    at = html.indexOf('<', at + 1)
    if (at === -1) return html
  }
  return html.slice(0, at)
}

/** Converts cleaned HTML to plain text. */
export async function textOfHtml(html: string): Promise<string> {
  const { default: sanitize } = await import('sanitize-html')
  const lines = html
    .replace(/\s+/g, ' ')
    .replace(/<(?:br|hr)\b[^>]*>|<\/(?:p|div|tr|h[1-6]|blockquote|table|ul|ol|pre|section|article)>/gi, '$&\n')
    .replace(/<li\b/gi, '\n$&')
  const text = sanitize(lines, { allowedTags: [], allowedAttributes: {} })
  return text
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&amp;/g, '&')
    .replace(/[^\S\n]+/g, ' ')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim()
}
