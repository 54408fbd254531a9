import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { EmbeddedError } from './embedded-error.ts'
import { canEnter, type ServerUser } from './unprivileged-user.ts'

/**
 * Where root stores files that another user must access. It belongs to root, so no other user can have created files
 * there.
 */
export const SHARED_DIRECTORY = '/var/lib/customer-data-service'
/** File in the data directory with the path of a cluster outside it. */
const POINTER = 'postgres-location'
/** File beside an outside cluster, with the path of the data directory that owns it. */
const OWNER = 'data-directory'

/**
 * The directory of the cluster: inside the data directory, unless the server's user cannot access that. Then it is
 * under /var/lib, and a file in the data directory contains its path, so that the next start finds the same data.
 */
export async function placeCluster(
  dataDirectory: string,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<string> {
  const inside = join(dataDirectory, 'postgres')
  const pointer = join(dataDirectory, POINTER)
  if (existsSync(pointer)) {
    const cluster = (await readFile(pointer, 'utf8')).trim()
    requirePresent(cluster, pointer)
    await requireOwner(cluster, dataDirectory)
    await giveTo(user, cluster)
    return cluster
  }
  if (canEnter(user, dataDirectory)) {
    await ownedDirectory(inside, user)
    const cluster = join(inside, 'cluster')
    await giveTo(user, cluster)
    return cluster
  }
  const outside = join(SHARED_DIRECTORY, `data-${randomBytes(6).toString('hex')}`)
  onProgress(`storing PostgreSQL's data in ${outside}, because its user cannot access ${dataDirectory}`)
  await makeSharedDirectory()
  await ownedDirectory(outside, user)
  const cluster = join(outside, 'cluster')
  await requireOwner(cluster, dataDirectory)
  await writeFile(pointer, `${cluster}\n`, { mode: 0o600 })
  return cluster
}

/** A backup or a copy of the data directory alone lacks it. */
function requirePresent(cluster: string, pointer: string): void {
  const place = dirname(cluster)
  if (existsSync(place)) return
  const message = `PostgreSQL's data is missing: ${pointer} names ${cluster}. It has the contacts and everything else but events. Restore ${place} from a backup. To start without contacts, choose a new data directory with CDS_DATA_DIR.`
  throw new EmbeddedError('cluster_missing', message)
}

/** Other users can traverse it to readable files, but cannot list it. */
export async function makeSharedDirectory(): Promise<void> {
  await mkdir(SHARED_DIRECTORY, { recursive: true })
  await chmod(SHARED_DIRECTORY, 0o711)
}

/**
 * A copy of a data directory names the original's cluster. A cluster belongs to the directory named beside it as long
 * as that directory names the cluster too; otherwise, to the one that does.
 */
async function requireOwner(cluster: string, dataDirectory: string): Promise<void> {
  const file = join(dirname(cluster), OWNER)
  const self = await realpath(dataDirectory)
  const owner = (await readFile(file, 'utf8').catch(() => self)).trim()
  const claimed = await readFile(join(owner, POINTER), 'utf8').catch(() => '')
  if (owner !== self && claimed.trim() === cluster) {
    const message = `${join(dataDirectory, POINTER)} names ${cluster}, which has the data of ${owner}. To run a copy, stop the service on ${owner}, copy ${dirname(cluster)} as well (cp -a), and write the path of that copy's cluster into ${join(dataDirectory, POINTER)}.`
    throw new EmbeddedError('cluster_of_another', message)
  }
  await writeFile(file, `${self}\n`, { mode: 0o600 })
}

/** A copy or backup that root restored belongs to root, so PostgreSQL could not read it. */
async function giveTo(user: ServerUser, cluster: string): Promise<void> {
  if (!user.isOther || !existsSync(cluster) || (await stat(cluster)).uid === user.uid) return
  await promisify(execFile)('chown', ['-R', '-h', `${user.uid}:${user.gid}`, cluster])
  await chmod(cluster, 0o700)
}

async function ownedDirectory(path: string, user: ServerUser): Promise<void> {
  await mkdir(path, { recursive: true })
  await chmod(path, 0o700)
  if (user.isOther) await chown(path, user.uid, user.gid)
}
