import { type Dovecot, type Mailbox, startDovecot } from './dovecot.ts'
import { type Certificate, makeCertificate } from './receiver.ts'
import { type SmtpFixture, startSmtp } from './smtp.ts'

/** A mail provider: dovecot has the mailboxes, the SMTP server receives outgoing mail. */
export interface MailServers {
  imap: Dovecot
  smtp: SmtpFixture
  /** The certificate of both, for localhost, mail.example and 127.0.0.1; it is its own authority. */
  certificate: Certificate
  /** A mailbox whose owner can log in to both. */
  addMailbox(address: string): Promise<Mailbox>
  close(): Promise<void>
}

/** Starts both on loopback; `describe.skipIf(!hasDovecot)` where dovecot may be missing. */
export async function startMailServers(): Promise<MailServers> {
  const certificate = makeCertificate(['localhost', 'mail.example'])
  const [imap, smtp] = await Promise.all([startDovecot(certificate), startSmtp(certificate)])
  return {
    imap,
    smtp,
    certificate,
    addMailbox: async (address) => {
      const mailbox = await imap.addMailbox(address)
      smtp.logins.set(mailbox.user, mailbox)
      return mailbox
    },
    close: async () => {
      await Promise.all([imap.close(), smtp.close()])
    },
  }
}
