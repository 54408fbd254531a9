import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { build as bundle, type InlineConfig, type Rolldown } from 'vite'
import { usedStyles } from './used-styles.ts'

/** Where the pages are, ready to be served. */
export const DIST = fileURLToPath(new URL('./dist/', import.meta.url))

const ROOT = fileURLToPath(new URL('.', import.meta.url))
/** Pictures and fonts are compressed already. */
const COMPRESSIBLE = /\.(html|js|css|svg|json|txt)$/

/** The sources of the first page: what the browser loads at once, and what that loads for this page. */
export const FIRST_PAGE = ['index.html', 'src/app/shell.tsx', 'src/home/home-page.tsx']

/**
 * Builds the pages into `target`, with a .br and a .gz beside every compressible file, so that no request waits for
 * compression.
 */
export async function build(target = DIST): Promise<void> {
  await mkdir(target, { recursive: true })
  await bundle({
    ...COMMON,
    plugins: [react(), usedStyles(ROOT)],
    build: {
      ...COMMON.build,
      outDir: target,
      emptyOutDir: true,
      // These browsers know light-dark(); for older ones the build would rewrite it in a way that breaks the colors.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      // The content security policy does not allow data: URLs.
      assetsInlineLimit: 0,
      rolldownOptions: { output: { codeSplitting: { groups: chunks(await modulesOfFirstPage()) } } },
      reportCompressedSize: false,
      // For check-size.ts.
      manifest: true,
      chunkSizeWarningLimit: 1_000,
    },
  })
  await compressAll(target)
}

const COMMON = {
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  build: {
    target: 'es2023',
    modulePreload: { polyfill: false },
    // One stylesheet: the pages add only 3 kB (compressed) to the library's.
    cssCodeSplit: false,
  },
} satisfies InlineConfig

/**
 * Fewer and larger files than the bundler's default of 60 for the first page: one with exactly what it needs, and some
 * for what several other pages share. Our own styles must follow the ones that they override, so the start of the
 * stylesheet is a group too.
 */
function chunks(first: ReadonlySet<string>) {
  return [
    { name: 'styles', test: /ui.styles\.ts|(core|notifications).styles\.css|(global|inter)\.css/, priority: 2 },
    { name: 'first', test: (id: string) => first.has(id), priority: 1 },
    { name: 'shared', minShareCount: 8 },
  ]
}

/** The modules of the first page, without those that the bundler drops. Only a bundle shows them, so this makes one. */
async function modulesOfFirstPage(): Promise<Set<string>> {
  const built = await bundle({ ...COMMON, plugins: [react()], build: { ...COMMON.build, write: false, minify: false } })
  const { output } = built as Rolldown.RolldownOutput
  const files = new Map(output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each] as const] : [])))
  const sources = new Set(FIRST_PAGE.map((source) => join(ROOT, source)))
  const first = new Set([...files.values()].filter(({ facadeModuleId: id }) => id !== null && sources.has(id)))
  if (first.size !== sources.size) throw new Error('A source of the first page was not found: correct FIRST_PAGE.')
  // Iterating over a set includes elements that are added meanwhile.
  for (const { imports } of first) {
    for (const name of imports) {
      const file = files.get(name)
      if (file) first.add(file)
    }
  }
  return new Set([...first].flatMap(({ modules }) => Object.keys(modules)))
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
