import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { EmbeddedError } from './embedded-error.ts'

/** The user that runs PostgreSQL. */
export interface ServerUser {
  name: string
  uid: number
  gid: number
  /** Whether it differs from the service's own user. */
  isOther: boolean
}

/**
 * PostgreSQL refuses to run as root. A service that is root runs it as `postgres`, or else as `nobody`; both need an
 * entry in /etc/passwd, because initdb looks its user up there.
 */
export function serverUser(): ServerUser {
  if (process.getuid?.() !== 0) {
    const { username, uid, gid } = userInfo()
    return { name: username, uid, gid, isOther: false }
  }
  const users = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const wanted of ['postgres', 'nobody']) {
    const [name, , uid, gid] = users.find(([name]) => name === wanted) ?? []
    if (name && Number(uid) > 0) return { name, uid: Number(uid), gid: Number(gid), isOther: true }
  }
  const message =
    'PostgreSQL does not run as root, and this machine has neither the user postgres nor nobody. Start the service as an ordinary user, or set DATABASE_URL.'
  throw new EmbeddedError('no_unprivileged_user', message)
}

/** Whether the user can enter a directory: every directory above it counts. */
export function canEnter(user: ServerUser, directory: string): boolean {
  if (!user.isOther) return true
  const { status } = spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', directory], {
    uid: user.uid,
    gid: user.gid,
    cwd: '/',
    stdio: 'ignore',
  })
  return status === 0
}

/** The options with which a program runs as a user. */
export function asUser(user: ServerUser) {
  return user.isOther ? { uid: user.uid, gid: user.gid, cwd: '/' } : { cwd: '/' }
}

/**
 * Memory that a process keeps instead of returning it to the system. A journal row has megabytes, is copied three times
 * when it is read, and each time glibc would fetch new memory, which the system clears: most of the cost of reading it.
 */
const KEPT_MEMORY = { MALLOC_MMAP_THRESHOLD_: '16777216', MALLOC_TRIM_THRESHOLD_: '16777216' }

/** The caller's environment (PGDATA, locale, LD_PRELOAD) must not affect the server. */
export function environment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...KEPT_MEMORY }
}
