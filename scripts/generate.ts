/**
 * Generates files that are checked in: the types of PostgreSQL's tables from the migrations, and openapi.json from the
 * routes. Tests compare both with the code.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startService } from '../packages/server/src/assembly/service.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { renderOpenapi } from '../packages/server/src/platform/http/openapi.ts'
import { createLog } from '../packages/server/src/platform/log.ts'

const TABLES = 'packages/server/src/platform/postgres/generated/tables.ts'

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
} finally {
  await service.close()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)
