import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import PostalMime from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { newId } from '../platform/ids.ts'

const MAILS_MAX = 200
const MAIL_BYTES_MAX = 2 * 1024 * 1024
const HOST = '127.0.0.1'

export interface SandboxMail {
  id: string
  /** Its Message-ID without the angle brackets; empty if it has none. */
  messageId: string
  from: string
  to: string[]
  subject: string
  receivedAt: Date
  text: string
  html: string | null
}

/** Receives every mail of the demo and delivers none, so that nobody real gets one. */
export interface SandboxMailbox {
  /** An SMTP server on this machine, without TLS. */
  smtp: { host: string; port: number; user: string; password: string }
  /** The latest mails, newest first. They are kept until the demo stops. */
  mails: readonly SandboxMail[]
  close(): Promise<void>
}

export async function openSandboxMailbox(): Promise<SandboxMailbox> {
  const mails: SandboxMail[] = []
  const login = { user: 'demo', password: newId() }
  const server = new SMTPServer({
    authMethods: ['PLAIN', 'LOGIN'],
    authOptional: true,
    // Connections do not leave this machine.
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    disableReverseLookup: true,
    size: MAIL_BYTES_MAX,
    logger: false,
    closeTimeout: 500,
    onAuth: ({ username, password }, _session, callback) => {
      const isRight = username === login.user && password === login.password
      callback(isRight ? null : new Error('The sandbox mailbox has another password.'), { user: username })
    },
    onData: (stream, { envelope }, callback) => {
      const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
      const to = envelope.rcptTo.map(({ address }) => address)
      readMail(stream, from, to).then((mail) => {
        mails.unshift(mail)
        mails.length = Math.min(mails.length, MAILS_MAX)
        callback(null)
      }, callback)
    },
  })
  // A broken connection is its sender's matter.
  server.on('error', () => {})
  server.listen(0, HOST)
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  return {
    smtp: { host: HOST, port, ...login },
    mails,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

async function readMail(stream: AsyncIterable<Buffer>, from: string, to: string[]): Promise<SandboxMail> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  const { messageId = '', subject = '', text = '', html = null } = await PostalMime.parse(Buffer.concat(chunks))
  const id = messageId.replace(/^<|>$/g, '')
  return { id: newId(), messageId: id, from, to, subject, receivedAt: new Date(), text, html }
}
