import { createHash } from 'node:crypto'
import { realpath, unlink } from 'node:fs/promises'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EmbeddedError } from './embedded-error.ts'

export interface DataDirectoryLock {
  release(): Promise<void>
}

/**
 * Makes this process the only one that uses a data directory, until it releases it or ends, however it ends: the lock
 * is a listening socket, which the kernel closes even after `kill -9`.
 * @throws EmbeddedError `data_directory_in_use`.
 */
export async function lockDataDirectory(directory: string): Promise<DataDirectoryLock> {
  const name = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex')
    .slice(0, 40)
  const server = process.platform === 'linux' ? await listen(`\0cds-data-${name}`) : await listenOnFile(name)
  if (!server) {
    const message = `The data directory ${directory} is in use by another process of the service. Stop that one first, or set CDS_DATA_DIR to another directory.`
    throw new EmbeddedError('data_directory_in_use', message)
  }
  // The lock alone must not keep the process running.
  server.unref()
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** Elsewhere than on Linux a socket is a file, which outlives a killed process; nobody answers on it then. */
async function listenOnFile(name: string): Promise<Server | null> {
  const path = join(tmpdir(), `cds-${name}.sock`)
  const server = await listen(path)
  if (server || (await somebodyAnswers(path))) return server
  await unlink(path).catch(() => {})
  return listen(path)
}

/** @returns null when somebody else listens on the address. */
function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null)
      else reject(error)
    })
    server.listen({ path, exclusive: true }, () => resolve(server))
  })
}

function somebodyAnswers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
