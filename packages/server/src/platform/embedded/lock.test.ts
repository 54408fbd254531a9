import { execFile, execFileSync } from 'node:child_process'
import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { MAIN, openDirectory, type Started, startProcess } from '../../../test/process.ts'
import { startTestService } from '../../../test/service.ts'
import { type DataDirectoryLock, lockDataDirectory } from './data-directory.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

async function directoryOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** Separate namespaces, like a container's, with the same file system, like a shared volume. */
const CONTAINER = ['--net', '--pid', '--ipc', '--uts', '--mount', '--fork', '--kill-child', '--mount-proc']

/** Why namespaces are not available on this machine; null if they are. */
const NO_CONTAINER = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can make namespaces'
  try {
    execFileSync('unshare', [...CONTAINER, 'true'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `no namespaces can be made here: ${(error as Error).message}`
  }
})()

const lockScript = (directory: string) => `
  import { lockDataDirectory } from '${import.meta.dirname}/data-directory.ts'
  await lockDataDirectory(${JSON.stringify(directory)}).then(() => console.log('locked'), (error) => console.log(error.code))
  process.exit()`

async function lockInContainer(directory: string): Promise<string> {
  const args = [...CONTAINER, process.execPath, '--input-type=module', '-e', lockScript(directory)]
  const { stdout } = await promisify(execFile)('unshare', args)
  return stdout.trim()
}

const refusalOf = (lock: Promise<DataDirectoryLock>) =>
  lock.then(
    () => null,
    (error: { code: string }) => error.code,
  )

const environmentOf = (directory: string) => ({ CDS_DATA_DIR: directory, PORT: '0', HOST: '127.0.0.1' })

test("the lock belongs to the directory's files, not to its path: a copy is not locked", async () => {
  const directory = await directoryOf()
  const lock = await lockDataDirectory(directory)
  cleanup.push(() => lock.release())
  expect(await refusalOf(lockDataDirectory(directory))).toBe('data_directory_in_use')
  const copy = join(await directoryOf(), 'copy')
  await cp(directory, copy, { recursive: true })
  const other = await lockDataDirectory(copy)
  await other.release()
})

describe.skipIf(NO_CONTAINER !== null)(`another container on the same volume ${NO_CONTAINER ?? ''}`, () => {
  test('cannot lock the data directory until this process releases it', async () => {
    const directory = await directoryOf()
    const lock = await lockDataDirectory(directory)
    expect(await lockInContainer(directory)).toBe('data_directory_in_use')
    await lock.release()
    expect(await lockInContainer(directory)).toBe('locked')
  })

  test('cannot start the service, and leaves the running one alone', async () => {
    const directory = await directoryOf()
    const service = await startTestService({ DATABASE_URL: '', CDS_DATA_DIR: directory })
    cleanup.push(service.close)
    const pidFile = join(directory, 'postgres/cluster/postmaster.pid')
    const before = await readFile(pidFile, 'utf8')
    const env = { ...process.env, ...environmentOf(directory) }
    const refused = await promisify(execFile)('unshare', [...CONTAINER, process.execPath, MAIN], { env }).then(
      () => 'started',
      (error: { stderr: string }) => error.stderr,
    )
    expect(refused).toContain('in use by another process')
    expect(await readFile(pidFile, 'utf8')).toBe(before)
    const ready = async () => (await fetch(`${service.url}/health/ready`)).status
    await expect.poll(ready).toBe(200)
  })

  test('can start when the process was killed', async () => {
    const directory = await directoryOf()
    const holder = await hold(directory)
    expect(await lockInContainer(directory)).toBe('data_directory_in_use')
    await holder.end('SIGKILL')
    expect(await lockInContainer(directory)).toBe('locked')
  })
})

/** A process that keeps the lock until it ends. */
function hold(directory: string): Promise<Started> {
  const script = lockScript(directory).replace('process.exit()', 'setInterval(() => {}, 1_000)')
  return startProcess('--input-type=module', ['-e', script], {}, /locked/)
}
