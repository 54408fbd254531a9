import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CommandLine } from '../../test/command-line.ts'
import { createDatabase } from '../../test/databases.ts'
import { CLI, MAIN, openDirectory, RUNNING, startProcess } from '../../test/process.ts'
import { call, createTestTenant, sharedService } from '../../test/service.ts'

let directory: string
let tenantId: string
let apiKey: string
let databaseUrl: string
let commandLine: CommandLine

beforeAll(async () => {
  directory = await openDirectory()
  databaseUrl = await createDatabase()
  commandLine = new CommandLine(environment())
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

test('a file is imported with and without a running service', async () => {
  const file = await csv('contacts.csv', 3)
  const alone = await cds('import', 'contacts', file, '--tenant', tenantId)
  expect(alone).toMatchObject({
    exit: 0,
    body: { rows: 3, created: 3, updated: 0, unchanged: 0, failed: 0, results: `${file}.results.csv` },
  })
  expect((await readFile(`${file}.results.csv`, 'utf8')).split('\n')[3]).toMatch(/^3,created,[0-9a-f-]{36},$/)

  const service = await startProcess(MAIN, [], environment(), RUNNING)
  try {
    const results = join(directory, 'other results.csv')
    const more = await csv('more.csv', 4)
    const beside = await cds('import', 'contacts', '--tenant', tenantId, '--results', results, more)
    expect(beside.body).toEqual({
      ...{ rows: 4, created: 1, updated: 0, unchanged: 3, failed: 0, failed_rows: [], results },
      ...{ encoding: 'utf-8', delimiter: ',', header_line: 1 },
      ...{ silenced: 0, silenced_by: [], released: 0, warnings: [] },
    })
    const url = RUNNING.exec(service.output())?.[1] ?? ''
    const headers = { authorization: `Bearer ${apiKey}` }
    const { body } = await call({ url }, 'GET', '/v1/contacts?sort_by=email&sort_dir=asc', { headers })
    expect(body.contacts.map((contact: { properties: { email: string } }) => contact.properties.email)).toEqual(
      [0, 1, 2, 3].map((n) => `p${n}@example.com`),
    )
    // The running service projects the journal rows of the command line.
    const path = '/v1/events?event_type=contact_created&count_only=true'
    await expect.poll(async () => (await call({ url }, 'GET', path, { headers })).body.count).toBe(4)
  } finally {
    await service.end('SIGTERM')
  }
})

test('a killed import can be run again', async () => {
  const file = await csv('long.csv', 12_000, 1_000)
  const child = spawn(process.execPath, [CLI, 'import', 'contacts', file, '--tenant', tenantId, '--json'], {
    env: { ...process.env, ...environment() },
    stdio: 'ignore',
  })
  const exited = once(child, 'exit')
  const results = `${file}.results.csv`
  // A chunk's results are on disk: the import is in progress.
  const written = () => (existsSync(results) ? statSync(results).size : 0)
  try {
    await expect.poll(written, { timeout: 90_000, interval: 20 }).toBeGreaterThan(10_000)
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  const done = (await readFile(results, 'utf8')).split('\n').length
  expect(done).toBeLessThan(12_000)
  const { body } = await cds('import', 'contacts', file, '--tenant', tenantId)
  expect(body).toMatchObject({ rows: 12_000, updated: 0, failed: 0 })
  expect(body.unchanged).toBeGreaterThanOrEqual(2_000)
  expect(body.created).toBe(12_000 - body.unchanged)
  expect((await readFile(results, 'utf8')).trimEnd().split('\n')).toHaveLength(12_001)
})

test('an import with failed rows exits with 3 and names their lines in the results file', async () => {
  const file = join(directory, 'some wrong.csv')
  await writeFile(file, `Email\nok@example.com\nnobody\nalso-ok@example.com\n${'wrong\n'.repeat(30)}`)
  const { exit, body, stderr } = await cds('import', 'contacts', file, '--tenant', tenantId)
  expect([exit, body]).toMatchObject([3, { rows: 33, created: 2, failed: 31 }])
  expect(body.failed_rows).toHaveLength(20)
  expect(body.failed_rows.slice(0, 2)).toEqual([2, 4])
  expect(stderr).toMatch(
    /31 of 33 rows failed\. \S.*some wrong\.csv\.results\.csv says why: see line 3, 5, .* and 11 more\./,
  )
  const lines = (await readFile(`${file}.results.csv`, 'utf8')).split('\n')
  expect([lines[2], lines[4]]).toEqual([expect.stringMatching(/^2,failed,/), expect.stringMatching(/^4,failed,/)])
})

test('an invalid file exits with 1 and an error code, an invalid call with 2', async () => {
  const missing = await cds('import', 'contacts', join(directory, 'no.csv'), '--tenant', tenantId)
  expect(missing).toMatchObject({ exit: 1, body: { error: { code: 'invalid_file' } } })
  const headless = join(directory, 'headless.csv')
  await writeFile(headless, 'ada@example.com,Ada\n')
  const refused = await cds('import', 'contacts', headless, '--tenant', tenantId)
  expect(refused).toMatchObject({ exit: 1, body: { error: { code: 'invalid_file' } } })
  expect(existsSync(`${headless}.results.csv`)).toBe(false)
  const stranger = await cds('import', 'contacts', headless, '--tenant', '01234567-89ab-7def-8123-456789abcdef')
  expect(stranger).toMatchObject({ exit: 1, body: { error: { code: 'not_found' } } })
  for (const call of [
    ['import', 'contacts', '--tenant', tenantId],
    ['import', 'contacts', headless, headless, '--tenant', tenantId],
    ['import', 'contacts', headless, '--tenant', tenantId, '--nonsense'],
    ['import', headless, '--tenant', tenantId],
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
