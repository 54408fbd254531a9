import { execFileSync } from 'node:child_process'
import { chmod, chown, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { CANNOT_MOUNT, mountSmall } from '../../../test/mounted.ts'
import { MAIN, openDirectory, RUNNING, type Started, startProcess } from '../../../test/process.ts'
import { openDataDirectory } from './data-directory.ts'
import { startEmbeddedPostgres } from './postgres.ts'
import { serverUser } from './unprivileged-user.ts'

const cleanup: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const undo of cleanup.splice(0).reverse()) await undo()
})

const IS_ROOT = process.getuid?.() === 0

async function parentOf(): Promise<string> {
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function run(directory: string): Promise<Started> {
  const environment = { CDS_DATA_DIR: directory, PORT: '0', HOST: '127.0.0.1', CDS_LOG_LEVEL: 'warn' }
  const service = await startProcess(MAIN, [], environment, RUNNING)
  cleanup.push(() => service.end('SIGTERM'))
  return service
}

const modeOf = async (path: string) => (await stat(path)).mode & 0o7777

/** What another user of the machine can list or read in a directory. */
async function openToOthers(directory: string): Promise<string[]> {
  const mode = await modeOf(directory)
  const found = (mode & 0o004) !== 0 ? [directory] : []
  if ((mode & 0o001) === 0) return found
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) found.push(...(await openToOthers(path)))
    else if (((await modeOf(path)) & 0o006) !== 0) found.push(path)
  }
  return found
}

describe('other users of the machine', () => {
  test('cannot read a new data directory, whatever the umask', async () => {
    const directory = join(await parentOf(), 'missing', 'data')
    const service = await run(directory)
    expect(await openToOthers(directory)).toEqual([])
    expect(await modeOf(directory)).toBe(IS_ROOT ? 0o710 : 0o700)
    const { uid } = serverUser()
    for (const [name, owner] of [
      ['clickhouse', process.getuid?.()],
      ['postgres', uid],
    ] as const) {
      expect(await stat(join(directory, name)), name).toMatchObject({ uid: owner })
      expect(await modeOf(join(directory, name)), name).toBe(0o700)
    }
    for (const name of ['secret-key', 'lock', 'postgres-address.json']) {
      expect(await modeOf(join(directory, name)), name).toBe(0o600)
    }
    // Files inside are private too, in case they are copied elsewhere.
    const open = execFileSync('find', [directory, '-type', 'f', '-perm', '/077'], { encoding: 'utf8' })
    expect(open.split('\n').filter((path) => !path.startsWith(join(directory, 'postgres/')))).toEqual([''])
    expect(await service.end('SIGTERM')).toBe(0)

    // The modes of an earlier release.
    await chmod(directory, 0o755)
    await chmod(join(directory, 'clickhouse'), 0o755)
    await chmod(join(directory, 'secret-key'), 0o644)
    const lock = await openDataDirectory(directory, serverUser())
    cleanup.push(lock.release)
    expect(await openToOthers(directory)).toEqual([])
    expect(await modeOf(join(directory, 'clickhouse'))).toBe(0o700)
  })

  test.skipIf(!IS_ROOT)('cannot read data that root keeps outside a home of mode 0700', async () => {
    const home = await parentOf()
    await chmod(home, 0o700)
    const directory = join(home, 'data')
    const lock = await openDataDirectory(directory, serverUser())
    cleanup.push(lock.release)
    const server = await startEmbeddedPostgres({ dataDirectory: directory })
    cleanup.push(server.stop)
    const cluster = execFileSync('cat', [join(directory, 'postgres-location')], { encoding: 'utf8' }).trim()
    cleanup.splice(1, 0, () => rm(dirname(cluster), { recursive: true, force: true }))
    expect(await modeOf(dirname(cluster))).toBe(0o700)
    expect(await stat(dirname(cluster))).toMatchObject({ uid: serverUser().uid })
    expect(await modeOf(dirname(dirname(cluster)))).toBe(0o711)
  })

  test.skipIf(!IS_ROOT)('a start says that a backup needs both places, and what is missing without one', async () => {
    const home = await parentOf()
    await chmod(home, 0o700)
    const directory = join(home, 'data')
    const service = await run(directory)
    const cluster = (await readFile(join(directory, 'postgres-location'), 'utf8')).trim()
    cleanup.splice(1, 0, () => rm(dirname(cluster), { recursive: true, force: true }))
    const sentence = `events in ${directory}, contacts and everything else in ${cluster}. A backup needs both`
    await expect.poll(service.output).toContain(sentence)
    expect(await service.end('SIGTERM')).toBe(0)
    await rm(dirname(cluster), { recursive: true })
    await expect(run(directory)).rejects.toThrow(`names ${cluster}. It has the contacts`)
  })

  test('keep their own files in a shared directory', async () => {
    const shared = await parentOf()
    await chmod(shared, 0o1777)
    await mkdir(join(shared, 'clickhouse'), { mode: 0o755 })
    await writeFile(join(shared, 'clickhouse', 'data'), '', { mode: 0o644 })
    const lock = await openDataDirectory(shared, serverUser())
    cleanup.push(lock.release)
    expect(await modeOf(shared)).toBe(0o1777)
    expect(await openToOthers(join(shared, 'clickhouse'))).toEqual([])
  })
})

/** What the service says that cannot open a data directory. */
const refusalOf = (directory: string) =>
  openDataDirectory(directory, serverUser()).then(
    async (lock) => {
      await lock.release()
      return 'opened'
    },
    (error: Error) => error.message,
  )

/** The result of an unprivileged user opening a data directory. */
function openAsServerUser(directory: string): string {
  const { uid, gid } = serverUser()
  const script = `import { openDataDirectory } from '${import.meta.dirname}/data-directory.ts'
    process.setgroups([]); process.setgid(${gid}); process.setuid(${uid})
    await openDataDirectory(${JSON.stringify(directory)}, null)
      .then(() => console.log('opened'), (error) => console.log(error.code, error.message))
    process.exit()`
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
}

describe('a data directory that cannot be written', () => {
  test.skipIf(CANNOT_MOUNT !== null)(`is named when its file system is read-only ${CANNOT_MOUNT ?? ''}`, async () => {
    const disk = await mountSmall(300)
    cleanup.push(() => disk.unmount())
    const directory = join(disk.directory, 'data')
    await mkdir(directory)
    disk.makeReadOnly()
    for (const path of [directory, join(disk.directory, 'missing')]) {
      const refused = await refusalOf(path)
      expect(refused).toContain(`The data directory ${path} is on a read-only file system`)
      expect(refused).toContain('set CDS_DATA_DIR')
    }
  })

  test.skipIf(!IS_ROOT)('is named with its owner when it belongs to another user', async () => {
    const directory = await parentOf()
    await chown(directory, 0, 0)
    const refused = openAsServerUser(directory)
    expect(refused).toContain('data_directory_unusable')
    expect(refused).toContain(`The user ${serverUser().name} may not write to ${directory}`)
    expect(refused).toContain('belongs to the user with the id 0')
  })

  test.skipIf(!IS_ROOT)("may belong to root if the service's group can write to it", async () => {
    const volume = await parentOf()
    await chown(volume, 0, serverUser().gid)
    await chmod(volume, 0o2775)
    expect(openAsServerUser(volume)).toBe('opened\n')
    expect(await modeOf(volume)).toBe(0o2775)
  })

  test('is named when it is a file', async () => {
    const file = join(await parentOf(), 'data')
    await writeFile(file, '')
    expect(await refusalOf(file)).toContain(`The data directory ${file} is not a directory`)
  })
})
