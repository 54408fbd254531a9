import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ImapFlow } from 'imapflow'
import { type ServerUser, serverUser } from '../src/platform/embedded/unprivileged-user.ts'
import { configuration, tokenSettings } from './dovecot-configuration.ts'
import { freePort } from './ports.ts'
import type { Certificate } from './receiver.ts'
import { until } from './webhooks.ts'

const DOVECOT = '/usr/sbin/dovecot'

/** Without Debian's dovecot-imapd the tests that need it are skipped; scripts/prepare-tests.ts installs it. */
export const hasDovecot = existsSync(DOVECOT) && existsSync('/usr/lib/dovecot/imap')

export interface Mailbox {
  user: string
  password: string
  /** Accepted instead of the user's password (XOAUTH2). */
  accessToken: string
}

export interface Dovecot {
  /** STARTTLS or unencrypted. */
  port: number
  /** TLS from the first byte. */
  tlsPort: number
  /** Adds a mailbox with INBOX and Sent, for any user name. */
  addMailbox(user: string): Promise<Mailbox>
  /** Stores a message as an IMAP client would. @returns its UID. */
  append(mailbox: Mailbox, message: string | Buffer, options?: AppendOptions): Promise<number>
  /** Delivers a message into INBOX byte by byte as given, however malformed, as a mail server would. */
  deliver(mailbox: Mailbox, message: string | Buffer): Promise<void>
  /** Runs work on a separate connection, to create, move or expunge messages as the owner. */
  asOwner<T>(mailbox: Mailbox, work: (client: ImapFlow) => Promise<T>): Promise<T>
  /** Ends every connection, and restarts on the same ports. */
  restart(pauseMs?: number): Promise<void>
  /** What it logged. */
  log(): Promise<string>
  close(): Promise<void>
}

export interface AppendOptions {
  /** Default: INBOX. */
  folder?: string
  flags?: string[]
  /** When the server received it. */
  receivedAt?: Date
}

/** Debian's dovecot on ports of its own, with its own configuration; as root it runs as an unprivileged user. */
export async function startDovecot({ key, certificate }: Certificate): Promise<Dovecot> {
  const owner = serverUser()
  const directory = await mkdtemp(join(tmpdir(), 'cds-dovecot-'))
  await chmod(directory, 0o755)
  const at = (name: string) => join(directory, name)
  for (const name of ['state', 'mail']) {
    await mkdir(at(name))
    await chown(at(name), owner.uid, owner.gid)
  }
  const mailboxes: Mailbox[] = []
  const tokens = await startTokenServer(mailboxes)
  const [port, tlsPort] = [await freePort(), await freePort()]
  await writeFile(at('certificate.pem'), certificate)
  await writeFile(at('key.pem'), key)
  await writeFile(at('oauth2'), tokenSettings(tokens.port))
  await writeFile(
    at('configuration'),
    configuration(DOVECOT, directory, owner, { port, tlsPort, tokenPort: tokens.port }),
  )
  let child = await run(directory, owner, port)

  const asOwner = async <T>({ user, password }: Mailbox, work: (client: ImapFlow) => Promise<T>) => {
    const client = new ImapFlow({
      host: '127.0.0.1',
      port,
      secure: false,
      auth: { user, pass: password },
      logger: false,
      tls: { rejectUnauthorized: false },
    })
    await client.connect()
    try {
      return await work(client)
    } finally {
      await client.logout()
    }
  }
  const stop = async () => {
    child.kill('SIGTERM')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  let delivered = 0
  return {
    port,
    tlsPort,
    addMailbox: async (user) => {
      const mailbox = { user, password: `password-of-${user}`, accessToken: `token-of-${user}` }
      mailboxes.push(mailbox)
      await asOwner(mailbox, (client) => client.status('INBOX', { messages: true }))
      return mailbox
    },
    append: (mailbox, message, { folder = 'INBOX', flags, receivedAt } = {}) =>
      asOwner(mailbox, async (client) => {
        const stored = await client.append(folder, message, flags, receivedAt)
        if (!stored || stored.uid === undefined) throw new Error(`nothing was appended to ${folder}`)
        return stored.uid
      }),
    deliver: async ({ user }, message) => {
      const name = `${Date.now()}.${process.pid}_${++delivered}.test`
      const maildir = join(at('mail'), user)
      await writeFile(join(maildir, 'tmp', name), message)
      await chown(join(maildir, 'tmp', name), owner.uid, owner.gid)
      await rename(join(maildir, 'tmp', name), join(maildir, 'new', name))
    },
    asOwner,
    restart: async (pauseMs = 0) => {
      await stop()
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
      child = await run(directory, owner, port)
    },
    log: () => readFile(at('state/log'), 'utf8'),
    close: async () => {
      await stop()
      await tokens.close()
      // Its processes may still write while the directory is deleted.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}

async function run(directory: string, owner: ServerUser, port: number) {
  const child = spawn(DOVECOT, ['-F', '-c', join(directory, 'configuration')], {
    ...(owner.isOther ? { uid: owner.uid, gid: owner.gid } : {}),
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const gone = once(child, 'exit').then(() => {
    throw new Error(`dovecot ended: ${output}`)
  })
  gone.catch(() => {})
  await Promise.race([gone, until(() => greeted(port))])
  return child
}

/** The greeting starts with `* OK` when the server is ready. */
async function greeted(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  try {
    // A server that is about to end closes the connection without a greeting.
    const silent = once(socket, 'close').then(() => ['nothing'])
    const [greeting] = await Promise.race([once(socket, 'data'), silent])
    if (!String(greeting).includes('ready')) throw new Error(String(greeting))
  } finally {
    socket.destroy()
  }
}

/** Returns the mailbox of an access token, as an identity provider would. */
async function startTokenServer(mailboxes: readonly Mailbox[]) {
  const server = createServer((request, response) => {
    const token = new URL(request.url ?? '', 'http://localhost').searchParams.get('token')
    const mailbox = mailboxes.find(({ accessToken }) => accessToken === token)
    response.writeHead(mailbox ? 200 : 401, { 'content-type': 'application/json' })
    response.end(JSON.stringify(mailbox ? { user: mailbox.user, active: 'true' } : { error: 'invalid_token' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
