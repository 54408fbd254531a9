import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from '../../../test/process.ts'
import { startTestService, type TestService } from '../../../test/service.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function directoryOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function run(directory: string): Promise<Started & { url: string }> {
  const environment = { CDS_DATA_DIR: directory, PORT: '0', HOST: '127.0.0.1', CDS_LOG_LEVEL: 'warn' }
  const service = await startProcess(MAIN, [], environment, RUNNING)
  cleanup.push(() => service.end('SIGTERM'))
  return { ...service, url: RUNNING.exec(service.output())?.[1] ?? '' }
}

/** Starts the service in this process, with its PostgreSQL in a directory. */
async function startIn(CDS_DATA_DIR: string): Promise<TestService> {
  const service = await startTestService({ DATABASE_URL: '', CDS_DATA_DIR })
  cleanup.push(service.close)
  return service
}

/** If run as root, the copy belongs to root. */
const copyOf = (original: string, copy: string) => execFileSync('cp', ['-r', original, copy])

const addressOf = async (directory: string) =>
  JSON.parse(await readFile(join(directory, 'postgres-address.json'), 'utf8')) as { host: string }

const readiness = async ({ url }: { url: string }) => (await fetch(`${url}/health/ready`)).status

const expectReady = (service: { url: string }) => expect.poll(() => readiness(service)).toBe(200)

async function connectsTo(directory: string): Promise<string> {
  const client = new pg.Client(await addressOf(directory))
  try {
    await client.connect()
    return 'connected'
  } catch (error) {
    return (error as { code?: string }).code ?? String(error)
  } finally {
    await client.end().catch(() => {})
  }
}

describe('a copy of a data directory in use', () => {
  test('starts beside the original without affecting it', async () => {
    const original = await directoryOf()
    const first = await run(original)
    const { host } = await addressOf(original)
    const copy = join(await directoryOf(), 'copy')
    copyOf(original, copy)
    const second = await run(copy)
    expect(existsSync(host)).toBe(true)
    expect(await connectsTo(original)).toBe('connected')
    for (const service of [first, second]) await expectReady(service)
    expect(await second.end('SIGTERM')).toBe(0)
    expect(await connectsTo(original)).toBe('connected')
    await expectReady(first)
  })

  test.skipIf(process.getuid?.() !== 0)('whose PostgreSQL data is outside the directory is rejected', async () => {
    const home = await directoryOf()
    await chmod(home, 0o700)
    const original = join(home, 'data')
    const first = await startIn(original)
    const cluster = (await readFile(join(original, 'postgres-location'), 'utf8')).trim()
    cleanup.splice(1, 0, () => rm(dirname(cluster), { recursive: true, force: true }))
    const copy = join(home, 'copy')
    copyOf(original, copy)
    const refused = await startIn(copy).then(
      () => 'started',
      (error: Error) => error.message,
    )
    expect(refused).toContain(cluster)
    expect(refused).toContain('postgres-location')
    expect(await connectsTo(original)).toBe('connected')
    await expectReady(first)
    // A renamed directory is still the original.
    // ClickHouse's data is not in the directory here: the next start would miss its events.
    await first.stores.database.deleteFrom('installation').execute()
    await first.close()
    await rm(copy, { recursive: true })
    const moved = join(home, 'moved')
    await rename(original, moved)
    await expectReady(await startIn(moved))
  })
})

test('readiness fails when PostgreSQL accepts no new connections', async () => {
  const directory = await directoryOf()
  const service = await startIn(directory)
  await expectReady(service)
  await rm((await addressOf(directory)).host, { recursive: true })
  expect(await readiness(service)).toBe(503)
})
