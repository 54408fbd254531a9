import { existsSync, readdirSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createDatabase } from '../../test/databases.ts'
import { MAIN, openDirectory, RUNNING, startCommand, startProcess } from '../../test/process.ts'
import { call, createTestTenant, sharedService } from '../../test/service.ts'
import { createLog } from '../platform/log.ts'
import { connectPostgres, type Postgres } from '../platform/postgres/connect.ts'
import type { DB } from '../platform/postgres/generated/tables.ts'
import { importDirectory } from './files.ts'

let directory: string
let tenantId: string
let apiKey: string
let databaseUrl: string
let commandLine: CommandLine

beforeAll(async () => {
  directory = await openDirectory()
  databaseUrl = await createDatabase()
  commandLine = new CommandLine(environment())
  await cds('migrate')
  tenantId = (await cds('tenant', 'create', '--name', 'Import')).body.tenant_id
  apiKey = (await cds('key', 'create', '--tenant', tenantId, '--name', 'x', '--scopes', 'all')).body.api_key
})
afterAll(async () => {
  await commandLine?.close()
  await rm(directory, { recursive: true, force: true })
})

const environment = () => ({
  CDS_DATA_DIR: join(directory, 'data'),
  DATABASE_URL: databaseUrl,
  PORT: '0',
  HOST: '127.0.0.1',
  CDS_LOG_LEVEL: 'warn',
})

/** Runs the command line with --json. @returns its exit status and what it printed. */
async function cds(...args: string[]) {
  const { exit, stdout, stderr } = await commandLine.run(args)
  return { exit, body: stdout === '' ? null : JSON.parse(stdout), stderr }
}

async function csv(name: string, rows: number, from = 0): Promise<string> {
  const file = join(directory, name)
  const lines = Array.from({ length: rows }, (_, n) => `p${from + n}@example.com,First ${n}\n`)
  await writeFile(file, `Email,First Name\n${lines.join('')}`)
  return file
}

/** What the service's API returns. */
async function api(url: string, method: string, path: string) {
  return (await call({ url }, method, path, { headers: { authorization: `Bearer ${apiKey}` } })).body
}

async function whileServing(work: (url: string) => Promise<void>): Promise<void> {
  const service = await startProcess(MAIN, [], environment(), RUNNING)
  try {
    await work(RUNNING.exec(service.output())?.[1] ?? '')
  } finally {
    await service.end('SIGTERM')
  }
}

const importFile = (file: string, ...options: string[]) =>
  cds('import', 'contacts', file, '--tenant', tenantId, ...options)

test('a file is imported with and without a running service, as an import that is listed and can be undone', async () => {
  const alone = await importFile(await csv('contacts.csv', 3))
  const summary = {
    ...{ state: 'completed', rows: 3, created: 3, updated: 0, unchanged: 0, failed: 0, errors: null, failed_rows: [] },
    ...{ encoding: 'utf-8', delimiter: ',', header_line: 1 },
    ...{ silenced: 0, silenced_by: [], released: 0, warnings: [] },
  }
  expect([alone.exit, alone.body]).toEqual([0, { import_id: expect.any(String), ...summary }])

  await whileServing(async (url) => {
    const beside = await importFile(await csv('more.csv', 4))
    const other = { rows: 4, created: 1, unchanged: 3 }
    expect(beside.body).toEqual({ import_id: expect.any(String), ...summary, ...other })
    const { contacts } = await api(url, 'GET', '/v1/contacts?sort_by=email&sort_dir=asc')
    const emails = contacts.map((contact: { properties: { email: string } }) => contact.properties.email)
    expect(emails).toEqual([0, 1, 2, 3].map((n) => `p${n}@example.com`))
    // The running service projects the journal rows of the command line.
    const path = '/v1/events?event_type=contact_created&count_only=true'
    await expect.poll(async () => (await api(url, 'GET', path)).count).toBe(4)

    const { imports } = await api(url, 'GET', '/v1/imports')
    expect(imports).toMatchObject([
      { import_id: beside.body.import_id, file_name: 'more.csv', state: 'completed', can_undo: true },
      { import_id: alone.body.import_id, file_name: 'contacts.csv', state: 'completed', can_undo: true },
    ])
    const { entries } = await api(url, 'GET', `/v1/audit-log?subject_id=${alone.body.import_id}`)
    expect(entries).toMatchObject([
      { action: 'import.started', actor: { kind: 'command_line' } },
      { action: 'import.uploaded', actor: { kind: 'command_line' } },
    ])
    await api(url, 'POST', `/v1/imports/${beside.body.import_id}/undo`)
    const undone = await cds('import', 'follow', '--tenant', tenantId, '--import-id', beside.body.import_id)
    expect([undone.exit, undone.body.state]).toEqual([0, 'undone'])
    expect((await api(url, 'GET', '/v1/contacts?count_only=true')).count).toBe(3)
  })
  // Without a service, the command undoes it itself.
  const importId = ['--tenant', tenantId, '--import-id', alone.body.import_id]
  expect((await cds('import', 'undo', ...importId)).body.import.state).toBe('undoing')
  expect((await cds('import', 'follow', ...importId)).body.state).toBe('undone')
})

describe('an import that is interrupted', () => {
  const ROWS = 12_000
  let postgres: Postgres<DB>
  beforeAll(() => {
    postgres = connectPostgres<DB>({ connectionString: databaseUrl }, 2, createLog('silent'))
  })
  afterAll(() => postgres.close())

  /** Starts an import, and sends it a signal when it has written rows. */
  async function interrupt(file: string, signal: 'SIGINT' | 'SIGKILL') {
    const command = startCommand(['import', 'contacts', file, '--tenant', tenantId], environment())
    const written = async () => {
      const row = postgres.db
        .selectFrom('import_chunks')
        .innerJoin('imports', 'imports.import_id', 'import_chunks.import_id')
      const found = await row.select('imports.import_id').where('imports.state', '=', 'running').executeTakeFirst()
      return found?.import_id
    }
    await expect.poll(written, { timeout: 90_000, interval: 20 }).toBeDefined()
    const importId = (await written()) ?? ''
    command.process.kill(signal)
    return { importId, ...(await command.ended) }
  }

  const all = { state: 'completed', rows: ROWS, created: ROWS, updated: 0, unchanged: 0, failed: 0 }
  const follow = (importId: string) => cds('import', 'follow', '--tenant', tenantId, '--import-id', importId)

  test('by a kill, is continued by a command, and writes every row once', async () => {
    const { importId } = await interrupt(await csv('killed.csv', ROWS, 10_000), 'SIGKILL')
    const again = await importFile(join(directory, 'killed.csv'))
    expect(again.body.error).toMatchObject({
      code: 'another_import_running',
      message: expect.stringContaining(`cdsctl import follow --import-id ${importId} --tenant ${tenantId}`),
    })
    expect((await cds('import', 'list', '--tenant', tenantId, '--state', 'uploaded')).body.imports).toEqual([])
    // As if its lease had ended.
    const imports = postgres.db.updateTable('imports').where('import_id', '=', importId)
    await imports.set({ claimed_until: new Date(0) }).execute()
    expect((await follow(importId)).body).toMatchObject(all)
  })

  test('by Ctrl+C, without a service, is continued by the next one', async () => {
    const { importId, exit, stdout } = await interrupt(await csv('stopped.csv', ROWS, 30_000), 'SIGINT')
    const { code, message } = JSON.parse(stdout).error
    expect([exit, code]).toEqual([1, 'interrupted'])
    expect(message).toContain(`cdsctl import follow --import-id ${importId} --tenant ${tenantId}`)
    await whileServing(async () => {
      expect((await follow(importId)).body).toMatchObject(all)
    })
  })

  test('by Ctrl+C, beside a service, is completed by it', async () => {
    await whileServing(async (url) => {
      const { importId, exit, stdout } = await interrupt(await csv('left.csv', ROWS, 50_000), 'SIGINT')
      expect([exit, JSON.parse(stdout).error]).toEqual([
        1,
        { code: 'interrupted', message: expect.stringContaining('The service continues it') },
      ])
      const read = async () => (await api(url, 'GET', `/v1/imports/${importId}`)).import
      await expect.poll(async () => (await read()).state, { timeout: 60_000 }).toBe('completed')
      expect((await read()).counts).toEqual({ created: ROWS, updated: 0, unchanged: 0, failed: 0 })
    })
  })
})

test('an import with failed rows exits with 3 and writes them to a file, which can be corrected and imported', async () => {
  const file = join(directory, 'some wrong.csv')
  await writeFile(
    file,
    `Email,City\nok@example.com,Rome\nnobody,Oslo\nalso-ok@example.com,Bern\n${'wrong,x\n'.repeat(30)}`,
  )
  const { exit, body, stderr } = await importFile(file)
  const errors = `${file}.errors.csv`
  expect([exit, body]).toMatchObject([3, { rows: 33, created: 2, failed: 31, errors }])
  expect(body.failed_rows).toHaveLength(20)
  const problem = (cell: string) => `“${cell}” in Email is not an email address. Write it like ada@example.com.`
  expect(body.failed_rows.slice(0, 2)).toEqual([
    { row: 2, message: problem('nobody') },
    { row: 4, message: problem('wrong') },
  ])
  expect(stderr).toContain(`31 of 33 rows failed. ${errors} lists them with the reasons.`)
  const content = await readFile(errors, 'utf8')
  expect(content.split('\r\n').slice(0, 2)).toEqual([
    '\ufeffimport_row,import_error,Email,City',
    `2,${problem('nobody')},nobody,Oslo`,
  ])
  expect(content.trimEnd().split('\r\n')).toHaveLength(32)

  const importId = ['--tenant', tenantId, '--import-id', body.import_id]
  const saved = join(directory, 'saved.csv')
  expect(await cds('import', 'follow', ...importId, '--errors', saved)).toMatchObject({
    exit: 3,
    body: { errors: saved },
  })
  expect(await readFile(saved, 'utf8')).toBe(content)

  await writeFile(saved, content.replaceAll('nobody', 'body@example.com').replaceAll(/^.*,wrong,x\r\n/gm, ''))
  const corrected = await importFile(saved, '--errors', errors)
  expect(corrected).toMatchObject({ exit: 0, body: { rows: 1, created: 1, errors: null } })
  // The earlier failed rows are gone.
  expect(existsSync(errors)).toBe(false)
})

test('an invalid file exits with 1 and an error code, and an invalid call with 2; nothing is kept', async () => {
  const files = () => readdirSync(importDirectory(environment().CDS_DATA_DIR)).length
  const list = async () => (await cds('import', 'list', '--tenant', tenantId)).body.pagination.total_items
  const before = [files(), await list()]
  const headless = join(directory, 'headless.csv')
  await writeFile(headless, 'ada@example.com,Ada\n')
  const sound = await csv('sound.csv', 1)
  for (const [file, ...options] of [
    [join(directory, 'no.csv')],
    [directory],
    [headless],
    [sound, '--header-line', '2'],
    [sound, '--errors', sound],
    [sound, '--errors', join(directory, 'no', 'errors.csv')],
    [sound, '--errors', directory],
  ] as [string, ...string[]][]) {
    const refused = await importFile(file, ...options)
    expect(refused, `${file} ${options}`).toMatchObject({ exit: 1, body: { error: { code: 'invalid_file' } } })
  }
  expect(await readFile(sound, 'utf8')).toContain('p0@example.com')
  const stranger = await cds('import', 'contacts', headless, '--tenant', '01234567-89ab-7def-8123-456789abcdef')
  expect(stranger).toMatchObject({ exit: 1, body: { error: { code: 'not_found' } } })
  for (const importId of ['x', '01234567-89ab-7def-8123-456789abcdef']) {
    const unknown = await cds('import', 'follow', '--tenant', tenantId, '--import-id', importId)
    expect(unknown).toMatchObject({ exit: 1, body: { error: { code: 'not_found' } } })
  }
  expect([files(), await list()]).toEqual(before)
  for (const call of [
    ['import', 'contacts', '--tenant', tenantId],
    ['import', 'contacts', headless, headless, '--tenant', tenantId],
    ['import', 'contacts', headless, '--tenant', tenantId, '--nonsense'],
    ['import', headless, '--tenant', tenantId],
    ['import', 'follow', '--tenant', tenantId],
    ['doctor', headless],
  ]) {
    expect(await cds(...call), call.join(' ')).toMatchObject({
      exit: 2,
      body: { error: { code: 'wrong_call', message: expect.any(String) } },
    })
  }
})

test('a file that a person wrote is read as it is meant, and what it does to consent is printed', async () => {
  const file = join(directory, 'mac.csv')
  const lines = [
    'Contacts',
    '',
    'Title;Job Title;E-Mail-Adresse;Ort;Email Opt Out',
    'Dr.;CEO;mac@acme.example;M\x9fnchen;1',
  ]
  await writeFile(file, Buffer.from(`${lines.join('\r')}\r`, 'latin1'))
  const { exit, body, stderr } = await cds('import', 'contacts', file, '--tenant', tenantId)
  expect([exit, body]).toEqual([
    0,
    expect.objectContaining({
      ...{ created: 1, encoding: 'macintosh', delimiter: ';', header_line: 3 },
      ...{ silenced: 1, silenced_by: ['Email Opt Out'], released: 0 },
      warnings: ['Title was imported as a property of its own, because Job Title is the jobtitle.'],
    }),
  ])
  expect(stderr).toContain('1 contact will get no more mail, because of Email Opt Out.')
  const chosen = ['--encoding', 'windows-1252', '--delimiter', ';', '--header-line', '3']
  expect((await cds('import', 'contacts', file, '--tenant', tenantId, ...chosen)).body).toMatchObject({
    updated: 1,
    encoding: 'windows-1252',
  })
  for (const [option, value] of [
    ['--encoding', 'ebcdic'],
    ['--delimiter', 'x'],
    ['--header-line', 'first'],
  ] as const) {
    const refused = await cds('import', 'contacts', file, '--tenant', tenantId, option, value)
    expect([refused.exit, refused.body.error.message]).toEqual([2, expect.stringContaining(option)])
  }
})

test('an uploaded file is read in another way by a command', async () => {
  const service = await sharedService()
  const tenant = await createTestTenant(service)
  const headers = { authorization: `Bearer ${tenant.key}`, 'content-type': 'text/csv' }
  const content = Buffer.from('email,Ort\nread@acme.example,M\x9fnchen\n', 'latin1')
  const response = await fetch(`${service.url}/v1/imports`, { method: 'POST', headers, body: new Uint8Array(content) })
  const { import_id } = ((await response.json()) as { import: { import_id: string } }).import
  const args = ['import', 'read', '--import-id', import_id, '--tenant', tenant.id, '--encoding', 'windows-1252']
  const { databaseUrl, dataDirectory } = service.config
  const beside = { DATABASE_URL: databaseUrl ?? '', CDS_DATA_DIR: dataDirectory }
  const read = JSON.parse((await commandLine.run(args, beside)).stdout)
  expect(read.import).toMatchObject({ encoding: 'windows-1252', columns: [{}, { samples: ['M\u0178nchen'] }] })
})
