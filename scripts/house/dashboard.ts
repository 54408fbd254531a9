import { matchesGlob } from 'node:path'
import { CATALOGUE, DASHBOARD, type Sources } from './sources.ts'

/** A text for people as an attribute or a field, which belongs in a catalogue; Biome finds text within tags. */
const TEXT_IN_CODE =
  /(?<![\w-])(label|placeholder|title|description|header|message|explanation|confirmLabel|alt|aria-label)(=|=\{|'?: )(["'`])(?=[^"'`]*[A-Za-z]{2}|`[^`]*[A-Za-z]{2})/
/** Code that the dashboard shows to be copied, and does not run. */
const SHOWN_CODE = `${DASHBOARD}connect/snippets.ts`

/**
 * Only api/ calls the service, no code of the server or the client is imported, React creates all markup, and texts are
 * in catalogues in the parts of the dashboard that biome.json names.
 */
export function dashboardRules(sources: Sources): string[] {
  const hasCatalogue = partsOfBiomeOverride(sources.get('biome.json') ?? '{"overrides":[]}')
  return [...sources].flatMap(([file, text]) => (file.startsWith(DASHBOARD) ? checkPage(file, text, hasCatalogue) : []))
}

function checkPage(file: string, text: string, hasCatalogue: (file: string) => boolean): string[] {
  const problems: string[] = []
  const calls = /(?<![\w.])fetch\(|new (XMLHttpRequest|EventSource|WebSocket)\b/.test(text)
  if (calls && !file.startsWith(`${DASHBOARD}api/`) && file !== SHOWN_CODE)
    problems.push(`${file}: only api/ calls the service`)
  if (/dangerouslySetInnerHTML|\.(inner|outer)HTML\s*=/.test(text)) {
    problems.push(`${file} writes markup: text from outside must stay text`)
  }
  if (hasCatalogue(file) && !CATALOGUE.test(file)) {
    for (const [index, line] of text.split('\n').entries()) {
      if (TEXT_IN_CODE.test(line)) problems.push(`${file}:${index + 1}: put the text into text.ts: ${line.trim()}`)
    }
  }
  for (const [statement] of text.matchAll(/\b(?:import|export)\b[^']*'[^']*\/(?:server|client)\/[^']*'/g)) {
    if (!/^(import|export) type\b/.test(statement))
      problems.push(`${file}: may import only types from the server and the client: ${statement}`)
  }
  return problems
}

/** Whether a file is in the includes of the rule `noJsxLiterals` in biome.json. */
function partsOfBiomeOverride(biome: string): (file: string) => boolean {
  const { overrides } = JSON.parse(biome) as { overrides: { includes: string[] }[] }
  const [{ includes } = { includes: [] }] = overrides.filter((each) => JSON.stringify(each).includes('noJsxLiterals'))
  const [not, only] = [
    includes.filter((part) => part.startsWith('!')),
    includes.filter((part) => !part.startsWith('!')),
  ]
  return (file) => only.some((part) => matchesGlob(file, part)) && !not.some((part) => matchesGlob(file, part.slice(1)))
}
