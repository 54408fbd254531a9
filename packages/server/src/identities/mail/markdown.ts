import type { Token, Tokens } from 'marked'

const ALLOWED_TAGS = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code', 'strong', 'em', 'del', 'a'],
  ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
]

/**
 * Renders a mail's Markdown as HTML. Embedded HTML and images are removed: nothing in a mail that we send is loaded
 * from elsewhere.
 */
export async function toHtml(markdown: string): Promise<string> {
  const [{ marked }, { default: sanitize }] = await Promise.all([import('marked'), import('sanitize-html')])
  return sanitize(await marked.parse(markdown, { async: true, gfm: true, breaks: true }), {
    allowedTags: ALLOWED_TAGS,
    allowedAttributes: { a: ['href', 'title'], ol: ['start'], th: ['align'], td: ['align'] },
    allowedSchemes: ['http', 'https', 'mailto', 'tel'],
    allowProtocolRelative: false,
  }).trim()
}

/** Renders it as plain text: links are written out, lists have dashes and numbers. */
export async function toPlainText(markdown: string): Promise<string> {
  const { marked } = await import('marked')
  return blocks(marked.lexer(markdown, { gfm: true }), '\n\n').trim()
}

function blocks(tokens: readonly Token[], between: string): string {
  return tokens
    .map((token) => block(token))
    .filter((text) => text !== '')
    .join(between)
}

function block(token: Token): string {
  switch (token.type) {
    case 'list': {
      const { ordered, start, items } = token as Tokens.List
      const first = typeof start === 'number' ? start : 1
      return items
        .map((item, index) => indented(ordered ? `${first + index}. ` : '- ', blocks(item.tokens, '\n')))
        .join('\n')
    }
    case 'blockquote':
      return blocks((token as Tokens.Blockquote).tokens, '\n\n').replace(/^/gm, '> ')
    case 'code':
      return (token as Tokens.Code).text.replace(/^/gm, '    ')
    case 'table': {
      const { header, rows } = token as Tokens.Table
      return [header, ...rows].map((row) => row.map((cell) => words(cell.tokens)).join(' | ')).join('\n')
    }
    case 'hr':
      return '-- --'
    case 'space':
    case 'html':
    case 'def':
      return ''
    default:
      return words('tokens' in token && token.tokens ? token.tokens : [token])
  }
}

function words(tokens: readonly Token[]): string {
  return tokens.map(word).join('')
}

function word(token: Token): string {
  switch (token.type) {
    case 'br':
      return '\n'
    case 'html':
    case 'image':
      return ''
    case 'link': {
      const { href, tokens } = token as Tokens.Link
      const label = words(tokens)
      return label === href || `mailto:${label}` === href ? label : `${label} (${href})`
    }
    case 'codespan':
      return unescaped((token as Tokens.Codespan).text)
    default: {
      if ('tokens' in token && token.tokens) return words(token.tokens)
      return 'text' in token ? unescaped(String(token.text)) : ''
    }
  }
}

function indented(mark: string, text: string): string {
  return mark + text.replaceAll('\n', `\n${' '.repeat(mark.length)}`)
}

/** Some texts of the lexer are already HTML-escaped. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
