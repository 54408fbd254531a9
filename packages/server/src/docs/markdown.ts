import { Marked, type Token, type Tokens } from 'marked'
import { resolveLink, type Source } from './contents.ts'
import { highlight } from './highlight.ts'
import { escapeHtml, textOf } from './html.ts'

/** The part of a page from one heading to the next. */
export interface Part {
  heading: string
  /** Null for what comes before the second heading. */
  anchor: string | null
  depth: number
  text: string
}

export interface Rendered {
  html: string
  parts: Part[]
}

/** Languages in which the same program is shown side by side. */
const PROGRAMS = ['js', 'ts', 'python', 'go', 'php']

/** Names of languages for people. */
const LANGUAGES: Record<string, string> = {
  js: 'Node',
  mjs: 'Node',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  python: 'Python',
  sh: 'Shell',
  html: 'HTML',
  json: 'JSON',
  go: 'Go',
  php: 'PHP',
  sql: 'SQL',
  ini: 'systemd',
  nginx: 'nginx',
  caddy: 'Caddyfile',
  dockerfile: 'Dockerfile',
  csv: 'CSV',
}

/** Renders a page. HTML in it is shown as text, and links lead to pages of the site. */
export function renderPage(source: Source, sources: readonly Source[]): Rendered {
  const anchors = new Map<string, number>()
  const parts: Part[] = []
  const marked = new Marked({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      heading({ tokens, depth, text }) {
        const content = this.parser.parseInline(tokens)
        if (depth === 1) return `<h1>${content}</h1>\n`
        const anchor = anchorOf(textOf(content), anchors)
        parts.push({ heading: textOf(content), anchor, depth, text: '' })
        const label = `Link to “${textOf(this.parser.parseInline(tokens)) || text}”`
        const link = `<a class="anchor" href="#${anchor}" aria-label="${escapeHtml(label)}">#</a>`
        return `<h${depth} id="${anchor}">${content}${link}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const target = resolveLink(source.file, href, sources)
        return target === null ? content : `<a href="${escapeHtml(target)}">${content}</a>`
      },
      image: ({ href, text }) => {
        const target = resolveLink(source.file, href, sources) ?? ''
        return `<img src="${escapeHtml(target)}" alt="${escapeHtml(text)}" loading="lazy">`
      },
      code: (token) => renderCode(token),
      table(token) {
        const cells = (row: Tokens.TableCell[], name: string) =>
          row.map(({ tokens, text }) => cellOf(text === '' ? 'td' : name, this.parser.parseInline(tokens))).join('')
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('')
        return `<div class="table" tabindex="0"><table>${head}<tbody>${rows}</tbody></table></div>\n`
      },
    },
  })
  parts.push({ heading: source.title, anchor: null, depth: 1, text: '' })
  let html = ''
  for (const group of groupsOf(marked.lexer(source.markdown))) {
    const rendered = marked.parser(group)
    html += group.length > 1 ? `<div class="tabs">${rendered}</div>\n` : rendered
    const part = parts.at(-1)
    if (part && group[0]?.type !== 'heading') part.text = `${part.text} ${textOf(rendered)}`.trim()
  }
  return { html, parts }
}

function cellOf(name: string, content: string): string {
  return `<${name}>${content}</${name}>`
}

/** Every token by itself, but the same code in several languages, block after block, as one. */
function groupsOf(tokens: readonly Token[]): Token[][] {
  const groups: Token[][] = []
  for (const token of tokens) {
    if (token.type === 'space') continue
    const last = groups.at(-1) ?? []
    const isNext = last.length > 0 && [token, ...last].every(isProgram)
    const language = (each: Token) => languageOf(each as Tokens.Code)
    if (isNext && last.every((each) => language(each) !== language(token))) last.push(token)
    else groups.push([token])
  }
  return groups
}

function isProgram(token: Token): boolean {
  return token.type === 'code' && PROGRAMS.includes(languageOf(token as Tokens.Code))
}

function languageOf({ lang, text }: Tokens.Code): string {
  if (lang === undefined) return /^(curl|npx|npm|export|cdsctl) /.test(text) ? 'sh' : ''
  return lang.split(' ')[0] ?? ''
}

/** The words after a code block's language: `title=FILE` names the file that it is. */
function renderCode(token: Tokens.Code): string {
  const language = languageOf(token)
  const title = /\btitle=(\S+)/.exec(token.lang ?? '')?.[1]
  const name = LANGUAGES[language] ?? ''
  const code = highlight(token.text, language)
  return `<div class="code" data-language="${escapeHtml(name)}"><div class="code-title">${escapeHtml(title ?? name)}</div><pre tabindex="0"><code>${code}</code></pre></div>\n`
}

/** As GitHub makes it. */
function anchorOf(text: string, taken: Map<string, number>): string {
  const name = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
  const count = taken.get(name) ?? 0
  taken.set(name, count + 1)
  return count === 0 ? name : `${name}-${count}`
}
