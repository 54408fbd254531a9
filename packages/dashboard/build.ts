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
 * Fewer and larger files than the bundler's default of 57 for the first load. Our own styles must follow the ones that
 * they override, so the start of the stylesheet is a group too.
 */
const CHUNKS = [
  { name: 'styles', test: /ui.styles\.ts|(core|notifications).styles\.css|global\.css/, priority: 1 },
  // Chunks that eight pages share: every page needs them sooner or later. A lower number would grow the first load.
  { name: 'shared', minShareCount: 8 },
]

/**
 * Builds the pages into `target`, with a .br and a .gz beside every compressible file, so that no request waits for
 * compression.
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
      // These browsers know light-dark(); for older ones the build would rewrite it in a way that breaks the colours.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // The content security policy does not allow data: URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      // One stylesheet: the pages add only 2 kB (compressed) to Mantine's own styles.
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
    // Quality 10 is within one percent of 11, and takes a third of the time.
    promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
    promisify(gzip)(content, { level: 9 }),
  ])
  await Promise.all([writeFile(`${path}.br`, small), writeFile(`${path}.gz`, fallback)])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await build()
