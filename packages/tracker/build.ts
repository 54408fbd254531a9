import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { rolldown } from 'rolldown'
import { minify } from 'terser'

/** The whole tracker must stay within so many bytes of brotli; `npm run check` fails beyond it. */
export const BROTLI_BYTES_MAX = 6_000

const SOURCE = fileURLToPath(new URL('./src/', import.meta.url))

/** Bundles the script that pages include. @param collect where events go, as a URL relative to the script's own. */
export function buildScript(collect: string): Promise<string> {
  return bundle('script.ts', 'iife', { COLLECT: JSON.stringify(collect) })
}

/** Bundles the ES module for sites that have a bundler of their own. */
export function buildModule(): Promise<string> {
  return bundle('index.ts', 'esm', {})
}

async function bundle(entry: string, format: 'iife' | 'esm', define: Record<string, string>): Promise<string> {
  const build = await rolldown({
    input: SOURCE + entry,
    platform: 'browser',
    transform: { define, target: 'es2021' },
    treeshake: true,
    logLevel: 'warn',
  })
  try {
    const { output } = await build.generate({ format, minify: true })
    // A second minifier still finds two bytes in a hundred.
    const { code } = await minify(output[0].code, {
      ecma: 2020,
      module: format === 'esm',
      toplevel: true,
      compress: { passes: 3, unsafe_arrows: true, keep_fargs: false, booleans_as_integers: false },
    })
    return code ?? ''
  } finally {
    await build.close()
  }
}

/** Brotli at its best, which a file that is made once and served often is worth. */
export function brotli(text: string): Buffer {
  return brotliCompressSync(text, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
  })
}
