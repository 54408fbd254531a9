import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { canEnter, type ServerUser } from './unprivileged-user.ts'

/** Where root keeps what another user must reach. It belongs to root, so nobody else can have put anything there. */
export const SHARED_DIRECTORY = '/var/lib/customer-data-service'

/**
 * The directory of the cluster: inside the data directory, except where the server's user cannot reach that. Then it
 * is under /var/lib, and a file in the data directory says where, so that the next start finds the same data.
 */
export async function placeCluster(
  dataDirectory: string,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<string> {
  const inside = join(dataDirectory, 'postgres')
  const pointer = join(dataDirectory, 'postgres-location')
  if (existsSync(pointer)) return (await readFile(pointer, 'utf8')).trim()
  if (canEnter(user, dataDirectory)) {
    await ownedDirectory(inside, user)
    return join(inside, 'cluster')
  }
  const outside = join(SHARED_DIRECTORY, `data-${randomBytes(6).toString('hex')}`)
  onProgress(`keeping PostgreSQL's data in ${outside}, because its user cannot reach ${dataDirectory}`)
  await mkdir(SHARED_DIRECTORY, { recursive: true, mode: 0o755 })
  await ownedDirectory(outside, user)
  const cluster = join(outside, 'cluster')
  await writeFile(pointer, `${cluster}\n`)
  return cluster
}

async function ownedDirectory(path: string, user: ServerUser): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (user.isOther) await chown(path, user.uid, user.gid)
}
