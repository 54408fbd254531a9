import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import type { Certificate } from './receiver.ts'

/** A mail as the server got it. */
export interface AcceptedMail {
  from: string
  to: string[]
  raw: string
  /** The user who had logged in. */
  user: string
  secure: boolean
}

/** A rejection: a reply with a code, or no reply at all. */
export type Refusal = { code: number; text: string } | 'drop'

export interface SmtpFixture {
  /** STARTTLS or unencrypted. */
  port: number
  /** TLS from the first byte. */
  tlsPort: number
  accepted: AcceptedMail[]
  /** The users who may log in, with their passwords or access tokens. */
  logins: Map<string, { password: string; accessToken: string }>
  /** Called for each recipient; null accepts it. */
  onRecipient: (address: string) => Refusal | null
  /** Called for each complete mail: `drop` disconnects after the mail was accepted and before the reply. */
  onMail: (mail: AcceptedMail) => Refusal | null | Promise<Refusal | null>
  /** The number of connections so far. */
  connections: number
  close(): Promise<void>
}

/** An SMTP server that stores accepted mails, and rejects mails as a test requires. */
export async function startSmtp({ key, certificate }: Certificate): Promise<SmtpFixture> {
  const servers: SMTPServer[] = []
  const fixture: SmtpFixture = {
    port: 0,
    tlsPort: 0,
    accepted: [],
    logins: new Map(),
    onRecipient: () => null,
    onMail: () => null,
    connections: 0,
    close: async () => {
      await Promise.all(servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))))
    },
  }
  const options: SMTPServerOptions = {
    key,
    cert: certificate,
    authMethods: ['PLAIN', 'LOGIN', 'XOAUTH2'],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    closeTimeout: 1,
    onConnect: (_session, callback) => {
      fixture.connections++
      callback()
    },
    onAuth: (auth, _session, callback) => {
      const login = fixture.logins.get(auth.username ?? '')
      const isRight =
        auth.method === 'XOAUTH2' ? login?.accessToken === auth.accessToken : login?.password === auth.password
      if (login && isRight) callback(null, { user: auth.username })
      else callback(refusal({ code: 535, text: '5.7.8 Username and password not accepted' }))
    },
    onRcptTo: ({ address }, session, callback) => {
      const refused = fixture.onRecipient(address)
      if (refused === 'drop') drop(session)
      else callback(refused ? refusal(refused) : null)
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const { mailFrom, rcptTo } = session.envelope
        const mail: AcceptedMail = {
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          user: String(session.user),
          secure: session.secure,
        }
        const refused = await fixture.onMail(mail)
        if (refused === null || refused === 'drop') fixture.accepted.push(mail)
        if (refused === 'drop') drop(session)
        else callback(refused ? refusal(refused) : null, '2.0.0 queued as 4711')
      })
    },
  }
  const drop = ({ id }: SMTPServerSession) => {
    for (const server of servers) {
      for (const connection of server.connections) if (connection.id === id) connection._socket.destroy()
    }
  }
  const listen = async (server: SMTPServer) => {
    servers.push(server)
    // A client that disconnects, or does not trust the certificate, is part of some tests.
    server.on('error', () => {})
    const listening = server.listen(0, '127.0.0.1')
    await once(listening, 'listening')
    return (listening.address() as AddressInfo).port
  }
  fixture.port = await listen(new SMTPServer(options))
  fixture.tlsPort = await listen(new SMTPServer({ ...options, secure: true }))
  return fixture
}

function refusal({ code, text }: { code: number; text: string }): Error {
  return Object.assign(new Error(text), { responseCode: code })
}
