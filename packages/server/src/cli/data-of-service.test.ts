import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createDatabase } from '../../test/databases.ts'
import { CLI, MAIN, openDirectory, RUNNING, type Started, startProcess } from '../../test/process.ts'
import { DATA_DIRECTORY } from '../config.ts'
import { refuseOtherData } from './data-of-service.ts'

const cleanup: (() => unknown)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const FREE = { DATABASE_URL: '', CLICKHOUSE_URL: '', CDS_PUBLIC_URL: '', CDS_LOG_LEVEL: 'warn', HOST: '127.0.0.1' }

/** Runs the program itself. @returns its exit code and what it printed. */
async function cds(args: string, environment: Record<string, string>): Promise<{ exit: number; said: string }> {
  const env = { ...process.env, ...FREE, PORT: '0', ...environment }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [CLI, ...args.split(' ')], { env })
    return { exit: 0, said: stdout }
  } catch (error) {
    const { code, stderr } = error as { code: number; stderr: string }
    return { exit: code, said: stderr }
  }
}

let used: string
let service: Started
let port: string
beforeAll(async () => {
  used = await openDirectory()
  service = await startProcess(MAIN, [], { ...FREE, PORT: '0', CDS_DATA_DIR: used }, RUNNING)
  port = new URL(RUNNING.exec(service.output())?.[1] ?? '').port
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await rm(used, { recursive: true, force: true })
})

async function emptyDirectory(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

test.each(['tenant create --name Lost', 'doctor', 'tenant list'])(
  'a command without data says so in a sentence and creates nothing: %s',
  async (args) => {
    const CDS_DATA_DIR = join(await emptyDirectory(), 'typo')
    const { exit, said } = await cds(args, { CDS_DATA_DIR })
    expect(exit).toBe(1)
    expect(said).toMatch(/^cdsctl: There is no data in .+, so nothing was done: .*\.\n$/)
    expect(said).toContain(CDS_DATA_DIR)
    expect(existsSync(CDS_DATA_DIR)).toBe(false)
  },
)

test('a command beside a service that runs on other data names it and creates nothing', async () => {
  const CDS_DATA_DIR = await emptyDirectory()
  const { exit, said } = await cds('tenant create --name Lost', { CDS_DATA_DIR, PORT: port })
  expect(exit).toBe(1)
  expect(said).toBe(
    `cdsctl: The service at http://127.0.0.1:${port} has its data elsewhere than in ${CDS_DATA_DIR}, so nothing was done: set CDS_DATA_DIR, DATABASE_URL and CLICKHOUSE_URL as they are set for it.\n`,
  )
  expect(await readdir(CDS_DATA_DIR)).toEqual([])
  // With the same settings, it works on the data of the service.
  expect((await cds('tenant list', { CDS_DATA_DIR: used, PORT: port })).exit).toBe(0)
})

test('a command with another PostgreSQL than the service on its directory changes neither', async () => {
  const { exit, said } = await cds('tenant create --name Lost', {
    CDS_DATA_DIR: used,
    DATABASE_URL: await createDatabase(),
  })
  expect(exit).toBe(1)
  expect(said).toMatch(/^cdsctl: A service runs on .+ with another PostgreSQL .* unset DATABASE_URL, .*\.\n$/)
})

test('an empty PostgreSQL stays empty, and cdsctl migrate creates what is missing', async () => {
  const CDS_DATA_DIR = await emptyDirectory()
  expect(await cds('tenant list', { CDS_DATA_DIR, DATABASE_URL: await createDatabase() })).toMatchObject({ exit: 1 })
  expect(await readdir(CDS_DATA_DIR)).toEqual([])
  expect(await cds('migrate', { CDS_DATA_DIR })).toMatchObject({ exit: 0 })
  expect(await cds('tenant create --name Found', { CDS_DATA_DIR })).toMatchObject({ exit: 0 })
})

test('the default directory is refused only while a service responds that does not use it', async () => {
  const config = { databaseUrl: null, clickhouseUrl: null, dataDirectory: DATA_DIRECTORY, host: '127.0.0.1' }
  await expect(refuseOtherData({ ...config, port: Number(port) })).rejects.toMatchObject({ code: 'other_data' })
  await refuseOtherData({ ...config, port: Number(port), dataDirectory: used })
  const other = createServer((_request, response) => response.end('{"status": "fine"}')).listen(0, '127.0.0.1')
  cleanup.push(() => other.close())
  await new Promise((resolve) => other.once('listening', resolve))
  await refuseOtherData({ ...config, port: (other.address() as { port: number }).port })
})
