import { escapeHtml } from './html.ts'

const COMMENTS: Record<string, string> = {
  sh: '(?<=^|\\s)#.*',
  python: '#.*',
  ini: '^[#;].*',
  nginx: '#.*',
  caddy: '(?<=^|\\s)#.*',
  dockerfile: '^#.*',
  js: '//.*|/\\*[\\s\\S]*?\\*/',
  go: '//.*',
  php: '//.*',
  sql: '--.*',
  html: '<!--[\\s\\S]*?-->',
}
const KEYWORDS: Record<string, string> = {
  js: 'async|await|catch|class|const|default|else|export|extends|for|from|function|if|import|in|interface|let|new|null|of|return|throw|true|false|try|type|undefined|while',
  python: 'and|as|def|else|except|False|for|from|if|import|in|is|None|not|or|print|raise|return|True|try|while|with',
  go: 'func|import|package|return|if|err|nil|string|bool|type|struct',
  php: 'function|return|if|string|bool|null|echo|true|false',
  sh: 'curl|node|python3|npm|npx|export|sudo|docker|systemctl|tar|cp|git|rsync',
  sql: 'SELECT|FROM|WHERE|GROUP|ORDER|BY|CREATE|DATABASE|USER|GRANT|TO|ON|ALL|EXTENSION|WITH|PASSWORD|OWNER',
  json: 'true|false|null',
  dockerfile: 'FROM|RUN|COPY|WORKDIR|ENV|USER|EXPOSE|CMD|ENTRYPOINT|VOLUME|HEALTHCHECK|AS|ARG',
}
const ALIASES: Record<string, string> = { ts: 'js', tsx: 'js', jsx: 'js', mjs: 'js', bash: 'sh', py: 'python' }
const STRINGS = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'`

/** Escaped code whose comments, strings and keywords are marked. An unknown language is only escaped. */
export function highlight(code: string, language: string): string {
  const name = ALIASES[language] ?? language
  const comment = COMMENTS[name]
  const keywords = KEYWORDS[name]
  if (comment === undefined && keywords === undefined) return escapeHtml(code)
  const strings = name === 'js' ? `${STRINGS}|\`(?:[^\`\\\\]|\\\\.)*\`` : STRINGS
  const pattern = new RegExp(
    `(?<comment>${comment ?? '(?!)'})|(?<string>${strings})|(?<keyword>(?<![\\w.$-])(?:${keywords ?? '(?!)'})(?![\\w-]))`,
    'gm',
  )
  let marked = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    marked += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`
    end = match.index + match[0].length
  }
  return marked + escapeHtml(code.slice(end))
}
