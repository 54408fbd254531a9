import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KindName } from '../packages/dashboard/src/connect/kinds.ts'
import { NO_KEY, SNIPPETS } from '../packages/dashboard/src/connect/snippets.ts'

const FOLDERS = ['docs', 'docs/quickstart']
/** What a reader replaces, and the tests too. */
const PLACEHOLDERS = {
  origin: 'https://cds.example.com',
  scriptUrl: 'https://cds.example.com/tracker.js',
  tenantId: 'TENANT_ID',
  apiKey: NO_KEY,
}

/**
 * The pages of the docs, with the code of the blocks that name it: what the dashboard shows (```` ```js from=node/identify ````) or a
 * file (```` ```ts from=examples/connector/helpdesk.ts ````).
 */
export function pagesWithShownCode(): { path: string; text: string; expected: string }[] {
  const pages = FOLDERS.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  return pages.flatMap((path) => {
    if (!path.endsWith('.md')) return []
    const text = readFileSync(path, 'utf8')
    const expected = text.replaceAll(/^(```.*\bfrom=(\S+)\/(\S+).*\n)(?:.*\n)*?```$/gm, (_, start, kind, id) => {
      return `${start}${codeOf(path, kind, id)}\n\`\`\``
    })
    return text.includes(' from=') ? [{ path, text, expected }] : []
  })
}

function codeOf(path: string, kind: string, id: string): string {
  if (kind.startsWith('examples/')) return readFileSync(join(kind, id), 'utf8').trimEnd()
  const snippets = Object.hasOwn(SNIPPETS, kind) ? SNIPPETS[kind as KindName](PLACEHOLDERS) : []
  const snippet = snippets.find((each) => each.id === id)
  if (!snippet) throw new Error(`${path}: the dashboard shows no code ${kind}/${id}`)
  return snippet.code
}
