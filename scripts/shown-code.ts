import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { KindName } from '../packages/dashboard/src/connect/kinds.ts'
import { NO_KEY, SNIPPETS } from '../packages/dashboard/src/connect/snippets.ts'

const FOLDER = 'docs/quickstart'
/** What a reader replaces, and the tests too. */
const PLACEHOLDERS = {
  origin: 'https://cds.example.com',
  scriptUrl: 'https://cds.example.com/tracker.js',
  tenantId: 'TENANT_ID',
  apiKey: NO_KEY,
}

/** The quick starts, with the code that the dashboard shows in the blocks that name it: ```` ```js from=node/identify ````. */
export function quickStarts(): { path: string; text: string; expected: string }[] {
  return readdirSync(FOLDER).map((name) => {
    const path = join(FOLDER, name)
    const text = readFileSync(path, 'utf8')
    const expected = text.replaceAll(/^(```.*\bfrom=(\S+)\/(\S+).*\n)(?:.*\n)*?```$/gm, (_, start, kind, id) => {
      return `${start}${codeOf(path, kind, id)}\n\`\`\``
    })
    return { path, text, expected }
  })
}

function codeOf(path: string, kind: string, id: string): string {
  const snippets = Object.hasOwn(SNIPPETS, kind) ? SNIPPETS[kind as KindName](PLACEHOLDERS) : []
  const snippet = snippets.find((each) => each.id === id)
  if (!snippet) throw new Error(`${path}: the dashboard shows no code ${kind}/${id}`)
  return snippet.code
}
