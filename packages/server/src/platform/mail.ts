import type { Config } from '../config.ts'

/** Sends the service's own mail: password links and invitations. Mail to contacts goes through the identities. */
export interface Mailer {
  send(mail: { to: string; subject: string; text: string }): Promise<void>
}

/** The mailer for the operator's server (CDS_SMTP_URL); null if none is configured. */
export function createMailer({ smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>): Mailer | null {
  if (smtpUrl === null) return null
  return {
    send: async (mail) => {
      // Loaded when the first mail is sent: most processes never send one.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport(smtpUrl)
      try {
        await transport.sendMail({ from: mailFrom, ...mail })
      } finally {
        transport.close()
      }
    },
  }
}
