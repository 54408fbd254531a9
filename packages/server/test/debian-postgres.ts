import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chown, mkdir, rm } from 'node:fs/promises'
import pg from 'pg'
import { vi } from 'vitest'
import { serverUser } from '../src/platform/embedded/unprivileged-user.ts'
import { freePort } from './ports.ts'
import { openDirectory } from './process.ts'

const INSTALLED = '/usr/lib/postgresql'
/** `npm test` installs Debian's PostgreSQL if possible, and reports it if not. */
export const hasDebianPostgres = existsSync(INSTALLED)

/** Starts an empty server. @param cleanup receives the function that stops it. @returns the URL of its database. */
export async function startDebianPostgres(cleanup: (() => Promise<unknown>)[]): Promise<string> {
  const binaries = `${INSTALLED}/${readdirSync(INSTALLED).at(-1)}/bin`
  const directory = await openDirectory()
  cleanup.push(() => rm(directory, { recursive: true, force: true }))
  const { uid, gid, isOther } = serverUser()
  const as = isOther ? { uid, gid, cwd: '/' } : { cwd: '/' }
  const data = `${directory}/data`
  await mkdir(data, { mode: 0o700 })
  if (isOther) await chown(data, uid, gid)
  execFileSync(`${binaries}/initdb`, ['-D', data, '-U', 'cds', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'], {
    ...as,
    stdio: 'ignore',
  })
  const port = String(await freePort())
  const server = spawn(
    `${binaries}/postgres`,
    ['-D', data, '-k', data, '-p', port, '-c', 'listen_addresses=127.0.0.1'],
    { ...as, stdio: 'ignore' },
  )
  const exited = new Promise((resolve) => server.once('exit', resolve))
  cleanup.push(async () => {
    server.kill('SIGINT')
    await exited
  })
  const url = `postgres://cds@127.0.0.1:${port}/postgres`
  await vi.waitFor(
    async () => {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.end()
    },
    { timeout: 60_000 },
  )
  return url
}
