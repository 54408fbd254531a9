import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'

/** Size budget of the tracker, compressed with brotli; `npm run check` fails unless it stays under it. */
export const BROTLI_BYTES_LIMIT = 6_400

const SOURCE = fileURLToPath(new URL('./src/', import.meta.url))

/**
 * Bundles the script that pages include. @param collect where events go, as a URL relative to the script.
 * @param name of its file, beside tracker.js: under another name, the script does not know where it came from.
 */
export function buildScript(collect: string, name = 'tracker.js'): Promise<string> {
  const names = [...new Set(['tracker.js', name])].map((text) => text.replace(/[^\w-]/g, '\\$&'))
  const SCRIPT = `/${names.map((text) => `\\/${text}([?#]|$)`).join('|')}/`
  return bundle('script.ts', 'iife', { COLLECT: JSON.stringify(collect), SCRIPT })
}

/** Bundles the ES module for sites with their own bundler. */
export function buildModule(): Promise<string> {
  return bundle('index.ts', 'esm', { COLLECT: '""' })
}

/** Cache of bundles, because the same sources and tools give the same bundle. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache/tracker/', import.meta.url))
const LOCKFILE = fileURLToPath(new URL('../../package-lock.json', import.meta.url))

async function bundle(entry: string, format: 'iife' | 'esm', define: Record<string, string>): Promise<string> {
  const path = `${CACHE}${await hashOf(JSON.stringify([entry, format, define]))}.js`
  const cached = await readFile(path, 'utf8').catch(() => null)
  if (cached !== null) return cached
  const code = await bundleForBrowser(SOURCE + entry, format, define)
  // The cache is optional: a read-only installation bundles at each start.
  await saveToCache(path, code).catch(() => {})
  return code
}

async function hashOf(request: string): Promise<string> {
  const hash = createHash('sha256').update(request)
  const sources = (await readdir(SOURCE, { recursive: true })).filter((name) => name.endsWith('.ts')).sort()
  const paths = [fileURLToPath(import.meta.url), LOCKFILE, ...sources.map((name) => SOURCE + name)]
  for (const path of paths) {
    // There is no lockfile if the package was installed on its own.
    hash.update(path).update(await readFile(path).catch(() => ''))
  }
  return hash.digest('hex')
}

async function saveToCache(path: string, code: string): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, code)
  await rename(unfinished, path)
}

/** Bundles and minifies a script with what it imports. */
export async function bundleForBrowser(
  input: string,
  format: 'iife' | 'esm',
  define: Record<string, string> = {},
): Promise<string> {
  const [{ rolldown }, { minify }] = await Promise.all([import('rolldown'), import('terser')])
  const build = await rolldown({
    input,
    platform: 'browser',
    transform: { define, target: 'es2021' },
    treeshake: true,
    logLevel: 'warn',
    plugins: [{ name: 'terser', renderChunk: squeeze }],
    checks: { pluginTimings: false },
  })
  try {
    const { output } = await build.generate({ format, minify: true })
    return await squeeze(output[0].code)
  } finally {
    await build.close()
  }
  // Around the bundler's own minifier, which chooses the names, this saves another 3%.
  async function squeeze(code: string): Promise<string> {
    const compress = {
      passes: 3,
      // "Unsafe" where a page replaces what a built-in function returns.
      unsafe: true,
      unsafe_methods: true,
      unsafe_arrows: true,
      pure_getters: true,
      hoist_funs: true,
      keep_fargs: false,
      booleans_as_integers: false,
      // Longer, but brotli compresses statements and constants on the right better.
      sequences: false,
      join_vars: false,
      lhs_constants: false,
    }
    const minified = await minify(code, {
      ecma: 2020,
      module: format === 'esm',
      toplevel: true,
      mangle: false,
      compress,
    })
    return minified.code ?? code
  }
}

/** Compresses with brotli at the highest quality: the file is built once and served often. */
export function brotli(text: string): Buffer {
  return brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  })
}
