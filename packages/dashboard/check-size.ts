/** Exits 1 when the first load of the dashboard holds more script than its budget: people wait for it. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Rolldown } from 'vite'
import { build } from './build.ts'

const BROTLI_BYTES_MAX = 250_000
/** What the first page that people see is made of. */
const FIRST_LOAD = ['src/main.tsx', 'src/app/shell.tsx', 'src/home/home-page.tsx']

const directory = await mkdtemp(join(tmpdir(), 'dashboard-size-'))
try {
  const { output } = await build(directory)
  const chunks = output.filter((file) => file.type === 'chunk')
  const files = firstLoad(chunks)
  const sizes = await Promise.all([...files].map(async (file) => (await stat(join(directory, `${file}.br`))).size))
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const line = `the dashboard's first load is ${bytes} bytes of brotli script in ${files.size} files; at most ${BROTLI_BYTES_MAX}`
  console.log(line)
  if (bytes > BROTLI_BYTES_MAX) process.exitCode = 1
} finally {
  await rm(directory, { recursive: true, force: true })
}

/** The chunks of the first load with everything that they import. @throws when one of them is not to be found. */
function firstLoad(chunks: Rolldown.OutputChunk[]): Set<string> {
  const names = FIRST_LOAD.map((path) => {
    const chunk = chunks.find(({ moduleIds }) => moduleIds.some((id) => id.endsWith(path)))
    if (!chunk) throw new Error(`${path} is in no file of the dashboard: correct FIRST_LOAD.`)
    return chunk.fileName
  })
  const found = new Set(names)
  // A set that grows while it is walked over is walked over to its end.
  for (const name of found) {
    const chunk = chunks.find(({ fileName }) => fileName === name)
    for (const imported of chunk?.imports ?? []) found.add(imported)
  }
  return found
}
