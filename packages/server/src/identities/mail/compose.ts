import type { EmailAccount } from '../email-account.ts'
import { toHtml, toPlainText } from './markdown.ts'
import type { OutgoingMail } from './outgoing.ts'

export interface ComposedMail {
  /** The sender's text without the footer: the unsubscribe link is for the recipient only. */
  text: string
  html: string
  /** The complete MIME message. */
  raw: Buffer
}

/** Composes a mail that `checkOutgoing` has checked. @param unsubscribeUrl for outreach, else null. */
export async function composeMail(
  { name, address }: Pick<EmailAccount, 'name' | 'address'>,
  mail: OutgoingMail,
  unsubscribeUrl: string | null,
  date: Date,
): Promise<ComposedMail> {
  const { default: MailComposer } = await import('nodemailer/lib/mail-composer')
  const [text, html] = await Promise.all([toPlainText(mail.markdown), toHtml(mail.markdown)])
  const line = unsubscribeUrl === null ? '' : `\n\nUnsubscribe: ${unsubscribeUrl}`
  const footer = unsubscribeUrl === null ? '' : `<p><small><a href="${unsubscribeUrl}">Unsubscribe</a></small></p>`
  const { references = [], inReplyTo } = mail
  const composer = new MailComposer({
    from: { name, address },
    to: { name: '', address: mail.to },
    subject: mail.subject,
    messageId: `<${mail.messageId}>`,
    ...(inReplyTo === undefined ? {} : { inReplyTo: `<${inReplyTo}>` }),
    ...(references.length === 0 ? {} : { references: references.map((id) => `<${id}>`) }),
    date,
    text: `${text}${line}\n`,
    html: `<!doctype html><html><head><meta charset="utf-8"></head><body>${html}${footer}</body></html>`,
    // RFC 8058: mail programs show their own unsubscribe button, which sends a POST.
    ...(unsubscribeUrl === null
      ? {}
      : {
          headers: {
            'List-Unsubscribe': { prepared: true, value: `<${unsubscribeUrl}>` },
            'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          },
        }),
    disableFileAccess: true,
    disableUrlAccess: true,
    newline: 'windows',
  })
  return { text, html, raw: await composer.compile().build() }
}
