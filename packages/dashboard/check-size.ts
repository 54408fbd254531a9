/** Exits 1 if the script of the dashboard's first load exceeds its budget. */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DIST } from './build.ts'
import { ensureBuilt } from './ensure-built.ts'

const BROTLI_BYTES_MAX = 250_000
/** The sources of the first page: what `index.html` loads, and what that loads for this page. */
const FIRST_LOAD = ['index.html', 'src/app/shell.tsx', 'src/home/home-page.tsx']

/** Vite's manifest: the files built from each source. */
type Manifest = Record<string, { file: string; imports?: string[] }>

const said: string[] = []
await ensureBuilt((message) => said.push(message))
if (said.length > 0 && said.at(-1) !== 'the dashboard is built') throw new Error(said.join('\n'))
const files = firstLoad(JSON.parse(await readFile(join(DIST, '.vite/manifest.json'), 'utf8')))
const sizes = await Promise.all([...files].map(async (file) => (await stat(join(DIST, `${file}.br`))).size))
const bytes = sizes.reduce((sum, size) => sum + size, 0)
console.log(
  `the dashboard's first load is ${bytes} bytes of brotli script in ${files.size} files; at most ${BROTLI_BYTES_MAX}`,
)
if (bytes > BROTLI_BYTES_MAX) process.exitCode = 1

/** The scripts of the first load with all their imports. @throws if one of them is missing. */
function firstLoad(manifest: Manifest): Set<string> {
  const sources = new Set(FIRST_LOAD)
  const found = new Set<string>()
  // Iterating over a set includes elements that are added meanwhile.
  for (const source of sources) {
    const built = manifest[source]
    if (!built) throw new Error(`Nothing of the dashboard was built from ${source}: correct FIRST_LOAD.`)
    found.add(built.file)
    for (const imported of built.imports ?? []) sources.add(imported)
  }
  return found
}
