import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CommandLine } from '../../../test/command-line.ts'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from '../../../test/process.ts'
import { call, startTestService } from '../../../test/service.ts'
import { explain } from '../../assembly/process.ts'
import { readConfig } from '../../config.ts'
import { lockDataDirectory } from './data-directory.ts'
import { startEmbeddedPostgres } from './postgres.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function directoryOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Starts the service as a program. */
async function run(directory: string): Promise<Started> {
  const service = await startProcess(MAIN, [], environmentOf(directory), RUNNING)
  cleanup.push(() => service.end('SIGKILL'))
  return service
}

const environmentOf = (directory: string) => ({
  CDS_DATA_DIR: directory,
  PORT: '0',
  HOST: '127.0.0.1',
  CDS_LOG_LEVEL: 'warn',
})

/** Starts the service in this process, with its PostgreSQL in a directory. */
const startIn = (CDS_DATA_DIR: string, more: Record<string, string> = {}) =>
  startTestService({ DATABASE_URL: '', CDS_DATA_DIR, ...more })

/** Starts the service, which must refuse. @returns what the program prints then. */
const refusalOf = (directory: string, more: Record<string, string> = {}) =>
  startIn(directory, more).then(async (service) => {
    await service.close()
    return 'It started.'
  }, explain)

async function query(connection: pg.ClientConfig, sql: string): Promise<unknown[]> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Whether a process is running; one that has ended may be listed until its parent reaps it. */
async function runs(pid: number): Promise<boolean> {
  return (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')) !== ''
}

/** Created once: each test ends its service, and the next start uses the existing cluster. */
let used: string
beforeAll(async () => {
  used = await openDirectory()
})
afterAll(() => rm(used, { recursive: true, force: true }))

describe('the data directory', () => {
  test('is used by one process at a time, and released however that process ends', async () => {
    const directory = await directoryOf()
    const first = await lockDataDirectory(directory)
    await expect(lockDataDirectory(directory)).rejects.toMatchObject({ code: 'data_directory_in_use' })
    await first.release()
    const second = await lockDataDirectory(directory)
    await second.release()
  })

  test('a second start fails with a clear message; after kill -9 a start succeeds and stops the orphan', async () => {
    const directory = used
    const service = await run(directory)
    const refused = await refusalOf(directory)
    expect(refused).toContain('in use by another process')
    expect(refused).toContain('CDS_DATA_DIR')
    const orphan = Number((await readFile(join(directory, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0])
    const socketDirectory = JSON.parse(await readFile(join(directory, 'postgres-address.json'), 'utf8')).host as string
    await service.end('SIGKILL')
    expect(await runs(orphan)).toBe(true)
    const again = await startIn(directory)
    cleanup.push(again.close)
    expect(await runs(orphan)).toBe(false)
    expect(existsSync(socketDirectory)).toBe(false)
  })

  test('a PostgreSQL that is killed is restarted; meanwhile requests get 503 with Retry-After', async () => {
    const directory = used
    const service = await startIn(directory)
    cleanup.push(service.close)
    const cluster = join(directory, 'postgres/cluster')
    const server = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[0])
    // Without its data, it cannot restart before its absence is detected.
    await rename(cluster, `${cluster}.away`)
    process.kill(server, 'SIGKILL')
    const ask = async () => {
      const response = await call(service, 'GET', '/v1/contacts', { headers: { authorization: 'Bearer cds_unknown' } })
      return { status: response.status, retryAfter: response.headers.get('retry-after') }
    }
    await expect.poll(ask, { interval: 10 }).toEqual({ status: 503, retryAfter: '2' })
    await rename(`${cluster}.away`, cluster)
    await expect.poll(ask).toEqual({ status: 401, retryAfter: null })
  })
})

describe('the embedded PostgreSQL', () => {
  test('keeps its data, uses UTF-8, listens on no network, and has no password', async () => {
    const dataDirectory = await directoryOf()
    const first = await startEmbeddedPostgres({ dataDirectory })
    await query(first.connection, 'CREATE TABLE kept AS SELECT 1 AS one')
    const [settings] = await query(
      first.connection,
      `SELECT current_setting('listen_addresses') AS network, current_setting('data_checksums') AS checksums,
        lower('ÄÉÎ') AS lower, current_setting('server_encoding') AS encoding`,
    )
    expect(settings).toEqual({ network: '', checksums: 'on', lower: 'äéî', encoding: 'UTF8' })
    const hba = await readFile(join(dataDirectory, 'postgres/cluster/pg_hba.conf'), 'utf8')
    expect(hba).toBe('local all all peer map=service\n')
    await first.stop()
    const second = await startEmbeddedPostgres({ dataDirectory })
    cleanup.push(() => second.stop())
    expect(await query(second.connection, 'SELECT * FROM kept')).toEqual([{ one: 1 }])
  })

  test('a cluster whose creation was interrupted is created again', async () => {
    const dataDirectory = await directoryOf()
    const half = join(dataDirectory, 'postgres/cluster.new')
    await mkdir(half, { recursive: true })
    await writeFile(join(half, 'PG_VERSION'), '18\n')
    const server = await startEmbeddedPostgres({ dataDirectory })
    cleanup.push(() => server.stop())
    expect(await query(server.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })

  test('a cluster of another major version is rejected and left unchanged', async () => {
    const dataDirectory = await directoryOf()
    const cluster = join(dataDirectory, 'postgres/cluster')
    await mkdir(cluster, { recursive: true })
    await writeFile(join(cluster, 'PG_VERSION'), '16\n')
    await expect(startEmbeddedPostgres({ dataDirectory })).rejects.toMatchObject({ code: 'cluster_version_mismatch' })
    expect(await readFile(join(cluster, 'PG_VERSION'), 'utf8')).toBe('16\n')
  })

  test('a pid file whose process id belongs to another program is ignored, and that program keeps running', async () => {
    const dataDirectory = used
    const first = await startEmbeddedPostgres({ dataDirectory })
    const pidFile = join(dataDirectory, 'postgres/cluster/postmaster.pid')
    const lines = (await readFile(pidFile, 'utf8')).split('\n')
    await first.stop()
    const other = spawn('sleep', ['60'])
    cleanup.push(async () => other.kill())
    await writeFile(pidFile, [String(other.pid), ...lines.slice(1)].join('\n'))
    const second = await startEmbeddedPostgres({ dataDirectory })
    cleanup.push(() => second.stop())
    expect(other.exitCode).toBeNull()
    expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }])
  })
})

describe('startup errors', () => {
  test('a port in use names PORT', async () => {
    const { createServer } = await import('node:net')
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    cleanup.push(async () => taken.close())
    const port = String((taken.address() as { port: number }).port)
    const output = await refusalOf(used, { PORT: port })
    expect(output).toContain(`Port ${port} is in use`)
    expect(output).toContain('PORT=')
    await expect(readFile(join(used, 'postgres/cluster/postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('all invalid settings are named at once, without passwords in their values', () => {
    const wrong = { PORT: 'x', CDS_RATE_LIMITS: 'maybe', DATABASE_URL: 'mysql://u:secret@h/d', CDS_LOG_LEVEL: 'loud' }
    let output = ''
    try {
      readConfig(wrong)
    } catch (error) {
      output = explain(error)
    }
    for (const name of Object.keys(wrong)) expect(output).toContain(name)
    expect(output).not.toContain('secret')
  })
})

test('the command line works with and without a running service, whose SIGTERM leaves no PostgreSQL and no socket', async () => {
  const directory = await directoryOf()
  const cds = (...args: string[]) =>
    JSON.parse(
      execFileSync(process.execPath, [CLI, ...args, '--json'], {
        env: { ...process.env, ...environmentOf(directory) },
        encoding: 'utf8',
        stdio: 'pipe',
      }),
    )
  // The program itself is started once without the service, and once beside it with an invalid call.
  const commandLine = new CommandLine(environmentOf(directory))
  cleanup.push(() => commandLine.close())
  expect(cds('migrate')).toEqual({ migrated: true })
  const { tenant_id } = cds('tenant', 'create', '--name', 'Alone')
  expect(await commandLine.json('domain', 'add', '--tenant', tenant_id, '--domain', 'Example.COM')).toMatchObject({
    domain: {
      domain: 'example.com',
      txt_name: '_cds-verification.example.com',
      txt_value: expect.stringMatching(/^cds-verify=/),
      verified_at: null,
    },
  })
  expect(
    await commandLine.json(
      'seed',
      '--tenant',
      tenant_id,
      '--contacts',
      '20',
      '--companies',
      '3',
      '--events',
      '200',
      '--days',
      '7',
      '--seed',
      '5',
    ),
  ).toEqual({
    companies: 3,
    contacts: 20,
    events: 200,
  })

  const service = await run(directory)
  const url = RUNNING.exec(service.output())?.[1] ?? ''
  const scopes = ['--scopes', 'events:read,contacts:read']
  const { api_key, key_id } = await commandLine.json('key', 'create', '--tenant', tenant_id, '--name', 'k', ...scopes)
  expect(api_key).toMatch(/^cds_.{32,}$/)
  const get = async (path: string) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${api_key}` } })).json() as Promise<
      Record<string, never>
    >
  expect(await get('/v1/events?count_only=true')).toEqual({ status: 'success', count: 200 })
  expect(await get('/v1/contacts?count_only=true')).toEqual({ status: 'success', count: 20 })
  const person = ['--tenant', tenant_id, '--email', 'o@example.com', '--password', 'long enough 1']
  expect(await commandLine.json('user', 'create', ...person)).toEqual({ user_id: expect.any(String) })

  expect(await commandLine.json('key', 'revoke', '--tenant', tenant_id, '--key-id', key_id)).toEqual({
    key_id,
    revoked: true,
  })
  await expect.poll(async () => (await get('/v1/events')).error).toMatchObject({ code: 'invalid_api_key' })

  const refused = {
    invalid_scope: ['key', 'create', '--tenant', tenant_id, '--name', 'k', '--scopes', 'nope'],
    user_email_taken: ['user', 'create', ...person],
    not_found: ['domain', 'add', '--tenant', 'nope', '--domain', 'x.example'],
  }
  for (const [code, args] of Object.entries(refused)) {
    expect(await commandLine.json(...args)).toMatchObject({ exit: 1, error: { code } })
  }
  expect(() => cds('tenant', 'create')).toThrow(expect.objectContaining({ status: 2 }))
  expect(await commandLine.run(['tenant', 'destroy'])).toMatchObject({ exit: 2 })
  expect(await commandLine.run(['doctor'])).toMatchObject({ exit: 0 })
  const server = Number((await readFile(join(directory, 'postgres/cluster/postmaster.pid'), 'utf8')).split('\n')[0])
  const { host } = JSON.parse(await readFile(join(directory, 'postgres-address.json'), 'utf8'))
  expect(existsSync(host)).toBe(true)
  expect(await service.end('SIGTERM')).toBe(0)
  expect(await runs(server)).toBe(false)
  expect(existsSync(host)).toBe(false)
})
