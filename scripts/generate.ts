/**
 * Generates files that are checked in: the types of PostgreSQL's tables from the migrations, openapi.json from the routes,
 * docs/cli.md from the commands, docs/settings.md from .env.example, the client's methods and types from openapi.json, the map
 * of countries from an atlas, and the code of quick starts that the dashboard shows too. Tests compare them with the code.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateClient, pathsOfOperations } from '../packages/client/generate.ts'
import { worldMap } from '../packages/dashboard/world-map.ts'
import { startService } from '../packages/server/src/assembly/service.ts'
import { renderCliReference } from '../packages/server/src/cli/reference.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { renderSettingsPage } from '../packages/server/src/docs/settings-page.ts'
import { renderOpenapi } from '../packages/server/src/platform/http/openapi.ts'
import { createLog } from '../packages/server/src/platform/log.ts'
import { pagesWithShownCode } from './shown-code.ts'

const TABLES = 'packages/server/src/platform/postgres/generated/tables.ts'

writeFileSync('packages/dashboard/src/insights/generated/world.ts', worldMap())
writeFileSync('docs/cli.md', renderCliReference())
writeFileSync('docs/settings.md', renderSettingsPage(readFileSync('.env.example', 'utf8')))
for (const { path, expected } of pagesWithShownCode()) writeFileSync(path, expected)

const directory = mkdtempSync(join(tmpdir(), 'cds-generate-'))
chmodSync(directory, 0o755)
const config = readConfig({ CDS_DATA_DIR: directory, PORT: '0' })
const service = await startService({ config, log: createLog('silent') })
try {
  const { host, user, database } = service.postgres.address as { host: string; user: string; database: string }
  const url = `postgres://localhost/${database}?${new URLSearchParams({ host, user })}`
  const options = [
    '--dialect',
    'postgres',
    '--url',
    url,
    '--exclude-pattern',
    '{kysely_*,pgboss.*}',
    '--out-file',
    TABLES,
  ]
  execFileSync('node_modules/.bin/kysely-codegen', options, { stdio: 'inherit' })
  writeFileSync('openapi.json', renderOpenapi(service.app.swagger()))
  await generateClient('packages/client/src/generated')
  writeFileSync('packages/dashboard/src/api/generated/paths.ts', pathsOfOperations())
} finally {
  await service.close()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)
