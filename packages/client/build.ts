/** Writes dist/, which is published: ES modules and their types. Nothing is bundled, because there is nothing to bundle. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const target = process.argv[2] ?? here('./dist')

rmSync(target, { recursive: true, force: true })
const compiler = here('../../node_modules/.bin/tsc')
// Node 20 has nothing newer than es2023.
const settings =
  '--ignoreConfig --strict --declaration --target es2022 --module nodenext --lib es2023,dom,dom.iterable --types node'
const paths = '--allowImportingTsExtensions --rewriteRelativeImportExtensions --verbatimModuleSyntax --skipLibCheck'
const { status } = spawnSync(
  compiler,
  [here('./src/index.ts'), ...settings.split(' '), ...paths.split(' '), '--rootDir', here('./src'), '--outDir', target],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)
