/** Writes dist/: the ES module with its types, and the script as a file, for sites that serve it themselves. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildModule, buildScript } from './build.ts'

const target = fileURLToPath(new URL(process.argv[2] ? `file://${process.argv[2]}/` : './dist/', import.meta.url))
const entry = fileURLToPath(new URL('./src/index.ts', import.meta.url))

mkdirSync(target, { recursive: true })
writeFileSync(`${target}index.js`, await buildModule())
writeFileSync(`${target}tracker.js`, await buildScript('track'))
const compiler = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url))
const flags =
  '--ignoreConfig --declaration --emitDeclarationOnly --strict --target esnext --module nodenext --lib esnext,dom --types node'
const settings = [
  ...flags.split(' '),
  '--allowImportingTsExtensions',
  '--rewriteRelativeImportExtensions',
  '--skipLibCheck',
]
const { status } = spawnSync(compiler, [entry, ...settings, '--outDir', target], { stdio: 'inherit' })
process.exit(status ?? 1)
