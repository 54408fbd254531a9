import type { Config } from '../config.ts'

/** Sends the service's own mail: password links and invitations. Mail to contacts goes through the identities. */
export interface Mailer {
  /** @param mail.unsubscribeUrl of mail that comes again: it accepts the POST of mail programs */
  send(mail: { to: string; subject: string; text: string; unsubscribeUrl?: string }): Promise<void>
}

/** The mailer for the operator's server (CDS_SMTP_URL); null if none is configured. */
export function createMailer({ smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>): Mailer | null {
  if (smtpUrl === null) return null
  return {
    send: async ({ unsubscribeUrl = null, ...mail }) => {
      // Loaded when the first mail is sent: most processes never send one.
      const { createTransport } = await import('nodemailer')
      const transport = createTransport(smtpUrl)
      try {
        await transport.sendMail({ from: mailFrom, ...mail, ...oneClick(unsubscribeUrl) })
      } finally {
        transport.close()
      }
    },
  }
}

/** RFC 8058: mail programs show their own unsubscribe button, which sends a POST. @param unsubscribeUrl null: none */
export function oneClick(unsubscribeUrl: string | null) {
  if (unsubscribeUrl === null) return {}
  return {
    headers: {
      'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    },
  }
}
