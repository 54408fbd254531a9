/**
 * Imports a file of contacts, and copies the same rows into the same table with its indexes: run in a process of its own,
 * because the embedded ClickHouse belongs to one process at a time. Writes what it found to IMPORT_FILE.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { openSession } from '../packages/server/src/cli/session.ts'
import { readConfig } from '../packages/server/src/config.ts'
import { CONTACT_COLUMNS } from '../packages/server/src/contacts/contact-row.ts'
import { importContacts } from '../packages/server/src/imports/import-contacts.ts'
import { createTenant } from '../packages/server/src/tenants/tenants.ts'

export interface ImportTimes {
  importSeconds: number
  againSeconds: number
  copySeconds: number
}

const COMPANIES = 5_000
const HEADER = 'Email,First Name,Last Name,Company,Company Domain,Job Title,Lifecycle Stage,Country,City,Industry'

const rows = Number(process.argv[2] ?? 0)
const directory = mkdtempSync(join(tmpdir(), 'cds-bench-import-'))
// PostgreSQL may run as another user, and writes here what it copies.
chmodSync(directory, 0o777)
const session = await openSession(readConfig(process.env))
try {
  const { database } = session.stores
  const tenantId = await createTenant(database, 'Import', new Date())
  const file = join(directory, 'contacts.csv')
  writeFileSync(file, `${HEADER}\n${Array.from({ length: rows }, (_, n) => lineOf(n)).join('')}`)
  const importFile = () =>
    timed(async () => {
      const options = { file, resultsFile: join(directory, 'results.csv'), onProgress: () => {} }
      const { created, unchanged } = await importContacts(session.tenant(tenantId), session.writing(), options)
      if (created + unchanged !== rows) throw new Error(`${rows - created - unchanged} rows were not imported`)
    })
  const importSeconds = await importFile()
  const copySeconds = await copyContacts(tenantId)
  const times: ImportTimes = { importSeconds, copySeconds, againSeconds: await importFile() }
  writeFileSync(process.env.IMPORT_FILE ?? 'import.json', JSON.stringify(times))
} finally {
  await session.close()
  rmSync(directory, { recursive: true, force: true })
}
process.exit(0)

function lineOf(n: number): string {
  const company = n % COMPANIES
  const job = ['Engineer', 'Marketing Manager', 'Head of Growth', 'Founder'][n % 4]
  const stage = ['lead', 'mql', 'sql', 'customer', 'other'][n % 5]
  const country = ['Germany', 'France', 'United States', 'Japan'][n % 4]
  return `person${n}@company${company}.example,First${n % 700},Last${n % 9000},Company ${company},company${company}.example,${job},${stage},${country},City ${n % 300},Industry ${n % 40}\n`
}

/** What the import has made of the file, for another tenant. */
async function copyContacts(tenantId: string): Promise<number> {
  const { database } = session.stores
  const other = await createTenant(database, 'Copy', new Date())
  const columns = sql.raw(CONTACT_COLUMNS.join(', '))
  const [from, to] = [sql.lit(tenantId), sql.lit(other)]
  const copied = sql.lit(join(directory, 'contacts.copy'))
  return database.connection().execute(async (connection) => {
    await sql`SET statement_timeout = 0`.execute(connection)
    await sql`INSERT INTO companies (tenant_id, company_id, domain, name, created_at, updated_at)
      SELECT ${to}, company_id, domain, name, created_at, updated_at FROM companies WHERE tenant_id = ${from}`.execute(
      connection,
    )
    await sql`COPY (SELECT ${to}, ${columns} FROM contacts WHERE tenant_id = ${from} ORDER BY created_at, contact_id)
      TO ${copied}`.execute(connection)
    return timed(() => sql`COPY contacts (tenant_id, ${columns}) FROM ${copied}`.execute(connection))
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
