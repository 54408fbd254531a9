/** Exits 1 if the dashboard's first load exceeds its budget: page, scripts, styles and font, as they are sent. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DIST, FIRST_PAGE } from './build.ts'
import { ensureBuilt } from './ensure-built.ts'

const BYTES_MAX = 250_000

/** Vite's manifest: the files built from each source. */
type Manifest = Record<string, { file: string; imports?: string[] }>

const said: string[] = []
await ensureBuilt((message) => said.push(message))
if (said.length > 0 && said.at(-1) !== 'the dashboard is built') throw new Error(said.join('\n'))
const manifest = JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8')) as Manifest
const scripts = scriptsOf(manifest)
const others = Object.values(manifest).flatMap(({ file }) => (/\.(css|woff2)$/.test(file) ? [file] : []))
const sizes = {
  page: await sizeOf(['index.html']),
  script: await sizeOf(scripts),
  style: await sizeOf(others.filter((file) => file.endsWith('.css'))),
  font: await sizeOf(others.filter((file) => file.endsWith('.woff2'))),
}
const bytes = Object.values(sizes).reduce((sum, size) => sum + size, 0)
const parts = Object.entries(sizes).map(([part, size]) => `${part} ${size}`)
console.log(
  `the dashboard's first load is ${bytes} bytes (${parts.join(', ')}) in ${scripts.length} scripts; at most ${BYTES_MAX}`,
)
if (bytes > BYTES_MAX || Object.values(sizes).includes(0)) process.exitCode = 1

/** The scripts of the first page with all their imports. A source without a file of its own is within another's. */
function scriptsOf(built: Manifest): string[] {
  const sources = new Set(FIRST_PAGE)
  const found = new Set<string>()
  // Iterating over a set includes elements that are added meanwhile.
  for (const source of sources) {
    const each = built[source]
    if (!each) continue
    found.add(each.file)
    for (const imported of each.imports ?? []) sources.add(imported)
  }
  return [...found]
}

/** What is sent: the compressed form, except of a font, which is compressed already. */
async function sizeOf(files: readonly string[]): Promise<number> {
  const each = files.map((file) => stat(join(DIST, file.endsWith('.woff2') ? file : `${file}.br`)))
  return (await Promise.all(each)).reduce((sum, { size }) => sum + size, 0)
}
