import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { appendFile, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { EmbeddedError } from './embedded-error.ts'
import type { PostgresBinaries } from './postgres-binaries.ts'
import { asUser, environment, type ServerUser } from './unprivileged-user.ts'

/** The superuser of the cluster, as whom the service connects. */
export const ROLE = 'cds'

/** Creates the cluster if there is none. @throws EmbeddedError if it has the data of another PostgreSQL version. */
export async function prepareCluster(
  cluster: string,
  binaries: PostgresBinaries,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<void> {
  if (existsSync(cluster)) await requireSameVersion(cluster, binaries)
  else await createCluster(cluster, binaries, user, onProgress)
}

async function requireSameVersion(cluster: string, { majorVersion }: PostgresBinaries): Promise<void> {
  const version = (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim()
  if (version === majorVersion) return
  const message = `The data in ${cluster} is from PostgreSQL ${version}, but this release has ${majorVersion}. Start the earlier release, dump the data with pg_dump, and load it into a new data directory.`
  throw new EmbeddedError('cluster_version_mismatch', message)
}

/** Created beside its path and then renamed, so that an existing cluster is complete. */
async function createCluster(
  cluster: string,
  { initdb }: PostgresBinaries,
  user: ServerUser,
  onProgress: (message: string) => void,
): Promise<void> {
  const unfinished = `${cluster}.new`
  await rm(unfinished, { recursive: true, force: true })
  const args = ['-D', unfinished, '-U', ROLE, '-E', 'UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  args.push('--locale=C', '--data-checksums', '--auth-local=peer', '--auth-host=reject', '--no-instructions')
  try {
    const created = runToEnd(initdb, args, user)
    onProgress('creating the PostgreSQL database')
    await created
  } catch (cause) {
    const message = `PostgreSQL's data could not be created: ${(cause as Error).message}`
    throw new EmbeddedError('initdb_failed', message, { cause })
  }
  // Peer authentication: only the service's own user maps to the role.
  const serviceUser = process.getuid?.() === 0 ? 'root' : user.name
  await writeFile(join(unfinished, 'pg_hba.conf'), 'local all all peer map=service\n')
  await appendFile(join(unfinished, 'pg_ident.conf'), `service "${serviceUser}" ${ROLE}\n`)
  await rename(unfinished, cluster)
}

/** @throws Error with the program's output, unless it exits with 0. */
async function runToEnd(program: string, args: string[], user: ServerUser): Promise<void> {
  // A separate process group: Ctrl-C in a terminal is for the service, which stops once it has started.
  const how = { ...asUser(user), env: environment(), detached: true }
  const child = spawn(program, args, { ...how, stdio: ['ignore', 'ignore', 'pipe'] })
  const [said, [code, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')])
  if (code !== 0) throw new Error(said.trim() || `${program} ended with ${code ?? signal}`)
}
