/**
 * The rules of this repository that a compiler does not check. Each rule in house/ gets all files and returns the
 * violations. Exits 1 and names every violation. Long files are only noted: whether one holds two rules is for people
 * to judge.
 */
import { globSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { unscopedModules } from './house/all-tenants.ts'
import { circlesOfFiles, circlesOfFolders } from './house/circles.ts'
import { clickHouseUsers } from './house/clickhouse.ts'
import { dashboardRules } from './house/dashboard.ts'
import { fakeTimers, importRules, trackerImports } from './house/imports.ts'
import { longFiles, tooLong, tooShort } from './house/sizes.ts'
import type { Sources } from './house/sources.ts'
import { foreignTables, tablesInVariables } from './house/tables.ts'

const RULES: readonly ((sources: Sources) => string[])[] = [
  tooLong,
  tooShort,
  fakeTimers,
  trackerImports,
  dashboardRules,
  importRules,
  unscopedModules,
  foreignTables,
  tablesInVariables,
  clickHouseUsers,
  circlesOfFolders,
  circlesOfFiles,
]

/** What is installed, built or written by the service. */
const NOT_SOURCES = new Set(['node_modules', 'dist', 'data', 'data-demo', 'coverage', '.next', 'next-env.d.ts'])

const sources = readSources()
for (const note of longFiles(sources)) console.log(`note: ${note}`)
const problems = RULES.flatMap((rule) => rule(sources))
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
}

/** The project's files; a copy without Git's folder is checked too. */
function readSources(): Sources {
  const files = ['**/*.{ts,tsx}', 'packages/server/src/**/*.sql', 'biome.json'].flatMap((pattern) =>
    globSync(pattern, { exclude: (path) => NOT_SOURCES.has(basename(path)) }).sort(),
  )
  const written = files.filter((file) => !file.includes('/generated/'))
  return new Map(written.map((file) => [file, readFileSync(file, 'utf8')]))
}
