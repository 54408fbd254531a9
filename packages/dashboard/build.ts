import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build as bundle } from 'vite'

/** Where the pages are, ready to be served. */
export const DIST = fileURLToPath(new URL('./dist/', import.meta.url))

const ROOT = fileURLToPath(new URL('.', import.meta.url))
/** Pictures and fonts are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg|json|txt)$/

/**
 * Fewer and larger files than the bundler would make by itself, which would be 57 for the first load. Styles of our own must
 * follow those that they override, so what comes first in the stylesheet is a group too.
 */
const CHUNKS = [
  { name: 'styles', test: /ui.styles\.ts|(core|notifications).styles\.css|global\.css/, priority: 1 },
  // What eight pages share, each of them needs sooner or later. With more in it, the first load would grow.
  { name: 'shared', minShareCount: 8 },
]

/**
 * Builds the pages into `target`, with a .br and a .gz beside every file that compresses, so that nobody compresses
 * while somebody waits.
 */
export async function build(target = DIST): Promise<void> {
  await mkdir(target, { recursive: true })
  await bundle({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [react()],
    build: {
      outDir: target,
      emptyOutDir: true,
      target: 'es2023',
      // These know light-dark(); for older ones it would be rewritten into something that the colours do not survive.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // A data: URL would need a hole in the content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // All of them: what the pages add to Mantine's own styles is 2 kB compressed.
      cssCodeSplit: false,
      rolldownOptions: { output: { codeSplitting: { groups: CHUNKS } } },
      reportCompressedSize: false,
      // For check-size.ts.
      manifest: true,
      chunkSizeWarningLimit: 1_000,
    },
  })
  await compressAll(target)
}

async function compressAll(directory: string): Promise<void> {
  const names = await readdir(directory, { recursive: true })
  await Promise.all(names.filter((name) => COMPRESSIBLE.test(name)).map((name) => compressFile(join(directory, name))))
}

async function compressFile(path: string): Promise<void> {
  const content = await readFile(path)
  const [small, fallback] = await Promise.all([
    // Ten is within one in a hundred of eleven, and takes a third of the time.
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
    promisify(gzip)(content, { level: 9 }),
  ])
  await Promise.all([writeFile(`${path}.br`, small), writeFile(`${path}.gz`, fallback)])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
