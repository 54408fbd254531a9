import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  from: string
  to: string[]
  text: string
}

/** A server for the service's own mail, which stores every mail. */
export interface TestMailbox {
  /** The settings with which a service sends its mail here. */
  settings: Record<string, string>
  received: ReceivedMail[]
  /** Whether the next mails are rejected. */
  refuses: boolean
  /** The newest mail to an address; waits for one. */
  newest(address: string): Promise<ReceivedMail>
  close(): Promise<void>
}

export async function startMailbox(): Promise<TestMailbox> {
  const arrivals = new EventEmitter()
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onData: (stream, session, done) => {
      let text = ''
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      stream.on('end', () => {
        if (mailbox.refuses) return done(new Error('no room'))
        const { mailFrom, rcptTo } = session.envelope
        mailbox.received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          text: text.replace(/=\r\n/g, '').replace(/=3D/g, '='),
        })
        done()
        arrivals.emit('mail')
      })
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  const { port } = server.server.address() as AddressInfo
  const mailbox: TestMailbox = {
    settings: { CDS_SMTP_URL: `smtp://127.0.0.1:${port}`, CDS_MAIL_FROM: 'CDS <cds@example.com>' },
    received: [],
    refuses: false,
    newest: async (address) => {
      for (;;) {
        const mail = mailbox.received.findLast(({ to }) => to.includes(address))
        if (mail) return mail
        await once(arrivals, 'mail')
      }
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return mailbox
}

/** The token of the link in an invitation or a password mail. */
export function tokenIn({ text }: ReceivedMail): string {
  const [, token] = /\/(?:invitation\/|reset-password\?token=)([\w-]+)/.exec(text) ?? []
  if (token === undefined) throw new Error(`There is no link in: ${text}`)
  return token
}
